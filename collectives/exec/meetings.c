/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/meetings.h"

#include <stdlib.h>

#include "collectives/comm/commons.h"
#include "collectives/exec/meeting.h"

static void meeting_free(struct cohort__meeting *meeting)
{
    cohort__error_fini(&meeting->error);
    free(meeting->copies);
    free(meeting->bunches);
    free(meeting);
}

static void free_all(struct cohort__list *list)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(list)))
        meeting_free(cohort__meeting_of(link));
}

static void meetings_destroy(struct cohort__annex *base)
{
    struct cohort__meetings *meetings = (struct cohort__meetings *)base;
    if (meetings->team) { /* after that no other thread looks at the lists */
        cohort__watches_remove(&meetings->group->commons->watches, &meetings->watch);
        cohort__arenas_remove(&meetings->group->commons->arenas, &meetings->arena);
        cohort__team_free_arena(meetings->team, COHORT__BOARD_ARENA);
    }
    free_all(&meetings->current);
    free_all(&meetings->moving);
    free_all(&meetings->spare);
    cohort__team_destroy(meetings->team);
    pthread_mutex_destroy(&meetings->lock);
    free(meetings->own_sites);
    free(meetings);
}

/* Not while a call is under way, which may be about to post. */
static bool free_arena(struct cohort__arena *arena)
{
    struct cohort__meetings *meetings = COHORT_CONTAINER_OF(arena, struct cohort__meetings, arena);
    if (pthread_mutex_trylock(&meetings->lock) != 0)
        return false;
    bool is_free = cohort__list_is_empty(&meetings->current) &&
                   cohort__list_is_empty(&meetings->moving) &&
                   cohort__team_free_arena(meetings->team, arena->bytes);
    if (is_free)
        arena->bytes = 0;
    pthread_mutex_unlock(&meetings->lock);
    return is_free;
}

/* It is held for so short a time that a thread spins for a moment before it sleeps. */
static void lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

/* The group's machine has the sites locality by locality, so a list of all is made where there are
 * several. */
static cohort_status find_sites(struct cohort__meetings *meetings, enum cohort__subgroup subgroup)
{
    const struct cohort__group *group = meetings->group;
    uint32_t num_sites = group->membership->num_sites;
    meetings->sites = group->local;
    if (subgroup == COHORT__SUBGROUP_LOCALITY || group->is_whole)
        return COHORT_OK;
    meetings->own_sites = malloc(num_sites * sizeof(*meetings->own_sites));
    if (!meetings->own_sites)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for meetings");
    for (uint32_t site = 0; site < num_sites; site++)
        meetings->own_sites[site] = site;
    meetings->sites = (struct cohort__members){meetings->own_sites, num_sites};
    return COHORT_OK;
}

static struct cohort__meetings *meetings_create(struct cohort__group *group,
                                                enum cohort__subgroup subgroup,
                                                const struct cohort__meetings_hooks *hooks)
{
    struct cohort__meetings *meetings = calloc(1, sizeof(*meetings));
    if (!meetings) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for meetings");
        return NULL;
    }
    meetings->base = (struct cohort__annex){.destroy = meetings_destroy, .left = hooks->left};
    meetings->watch.look = hooks->look;
    meetings->arena.give_back = free_arena;
    meetings->group = group;
    meetings->num_local = group->local.num;
    lock_init(&meetings->lock);
    cohort__list_init(&meetings->current);
    cohort__list_init(&meetings->moving);
    cohort__list_init(&meetings->spare);
    bool has_team = subgroup == COHORT__SUBGROUP_ALL && group->has_board;
    if (find_sites(meetings, subgroup) ||
        (has_team && cohort__team_create(&meetings->team, group))) {
        meetings_destroy(&meetings->base);
        return NULL;
    }
    return meetings;
}

struct cohort__meetings *cohort__meetings_make(struct cohort__group *group,
                                               enum cohort__subgroup subgroup,
                                               const struct cohort__meetings_hooks *hooks)
{
    struct cohort__annex *_Atomic *place = &group->meetings[subgroup];
    pthread_mutex_lock(&group->lock);
    struct cohort__annex *base = atomic_load(place);
    struct cohort__meetings *fresh = base ? NULL : meetings_create(group, subgroup, hooks);
    if (fresh) {
        base = &fresh->base;
        atomic_store(place, base);
    }
    pthread_mutex_unlock(&group->lock);
    return (struct cohort__meetings *)base;
}

void cohort__meetings_arena(struct cohort__group *group, size_t *ret_bytes, size_t *ret_all_bytes)
{
    const struct cohort__arena none = {0};
    const struct cohort__meetings *meetings =
        (const struct cohort__meetings *)atomic_load(&group->meetings[COHORT__SUBGROUP_ALL]);
    cohort__arenas_look(&group->commons->arenas, meetings ? &meetings->arena : &none, ret_bytes,
                        ret_all_bytes);
}
