/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/meeting.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/fingerprint.h"
#include "collectives/comm/inbox.h"
#include "collectives/comm/remote.h"
#include "collectives/exec/meetings.h"
#include "collectives/exec/participant.h"
#include "collectives/exec/stall.h"
#include "runtime/base/cache.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"

/* How a meeting goes. A participant enters it in its endpoint's turn. The last one to enter has the
 * data moved (meeting_move.c), once what other localities bring is there, too (meeting_far.c). Then
 * every participant is told, each in its own endpoint's turn. The last one to leave puts the
 * meeting away.
 *
 * A participant that fails before all are there fails the meeting for those inside. One of these
 * tells the sites that have not come yet, and other localities if they wait for this one
 * (failure.c). */

/* All meetings of a group ------------------------------------------------------------------- */

static void meeting_free(struct cohort__meeting *meeting)
{
    cohort__error_fini(&meeting->error);
    free(meeting->copies);
    free(meeting->bunches);
    free(meeting);
}

static void meetings_destroy(struct cohort__meetings *base)
{
    struct meetings *meetings = (struct meetings *)base;
    struct cohort__list *link;
    if (meetings->team) { /* after that no other thread looks at the lists */
        cohort__watches_remove(cohort__inbox_watches(meetings->group->inbox),
                               &meetings->base.watch);
        cohort__arenas_remove(cohort__inbox_arenas(meetings->group->inbox), &meetings->arena);
        cohort__team_free_arena(meetings->team, COHORT__BOARD_ARENA);
    }
    while ((link = cohort__list_pop_front(&meetings->current)))
        meeting_free(cohort__meeting_of(link));
    while ((link = cohort__list_pop_front(&meetings->moving)))
        meeting_free(cohort__meeting_of(link));
    while ((link = cohort__list_pop_front(&meetings->spare)))
        meeting_free(cohort__meeting_of(link));
    cohort__team_destroy(meetings->team);
    pthread_mutex_destroy(&meetings->lock);
    free(meetings);
}

static void on_left(struct cohort__meetings *base, const struct cohort_comm *comm);
static bool on_look(struct cohort__watch *watch);

/* Not while a call is under way, which may be about to post. */
static bool free_arena(struct cohort__arena *arena)
{
    struct meetings *meetings = COHORT_CONTAINER_OF(arena, struct meetings, arena);
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

static struct meetings *meetings_create(struct cohort__group *group)
{
    struct meetings *meetings = calloc(1, sizeof(*meetings));
    if (!meetings) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for meetings");
        return NULL;
    }
    meetings->base = (struct cohort__meetings){meetings_destroy, on_left, {.look = on_look}};
    meetings->arena.give_back = free_arena;
    meetings->group = group;
    meetings->num_local = group->local.num;
    lock_init(&meetings->lock);
    cohort__list_init(&meetings->current);
    cohort__list_init(&meetings->moving);
    cohort__list_init(&meetings->spare);
    if (group->has_board && cohort__team_create(&meetings->team, group)) {
        meetings_destroy(&meetings->base);
        return NULL;
    }
    return meetings;
}

/* The meetings of GROUP, made by the first call. NULL: they can't be made; the error is set. */
struct meetings *cohort__meetings_get(struct cohort__group *group)
{
    struct cohort__meetings *base = atomic_load_explicit(&group->meetings, memory_order_acquire);
    if (base)
        return (struct meetings *)base;
    pthread_mutex_lock(&group->lock);
    base = atomic_load(&group->meetings);
    struct meetings *fresh = base ? NULL : meetings_create(group);
    if (fresh) {
        base = &fresh->base;
        atomic_store(&group->meetings, base);
    }
    pthread_mutex_unlock(&group->lock);
    return (struct meetings *)base;
}

void cohort__meetings_arena(struct cohort__group *group, size_t *ret_bytes, size_t *ret_all_bytes)
{
    const struct cohort__arena none = {0};
    const struct meetings *meetings = (const struct meetings *)atomic_load(&group->meetings);
    cohort__arenas_look(cohort__inbox_arenas(group->inbox), meetings ? &meetings->arena : &none,
                        ret_bytes, ret_all_bytes);
}

/* The following are called with the lock held. */

static struct cohort__meeting *meeting_create(struct meetings *meetings, uint32_t num_sites)
{
    struct cohort__list *link = cohort__list_pop_front(&meetings->spare);
    if (link)
        return cohort__meeting_of(link);
    size_t pointers = 3 * num_sites;
    struct cohort__meeting *meeting = calloc(1, sizeof(*meeting) + pointers * sizeof(void *));
    if (!meeting || !cohort__meeting_bunches_create(meeting, meetings->num_local)) {
        free(meeting);
        return NULL;
    }
    meeting->movement.num_sites = num_sites;
    meeting->movement.in = (unsigned char **)(meeting->participants + num_sites);
    meeting->movement.out = meeting->movement.in + num_sites;
    return meeting;
}

static struct cohort__meeting *meeting_find(struct meetings *meetings, uint64_t generation)
{
    for (struct cohort__list *link = meetings->current.next; link != &meetings->current;
         link = link->next) {
        struct cohort__meeting *meeting = cohort__meeting_of(link);
        if (meeting->generation >= generation)
            return meeting->generation == generation ? meeting : NULL;
    }
    return NULL;
}

/* Keeps the list in the order of generations. */
static void meeting_insert(struct meetings *meetings, struct cohort__meeting *meeting)
{
    struct cohort__list *place = meetings->current.prev;
    while (place != &meetings->current &&
           cohort__meeting_of(place)->generation > meeting->generation)
        place = place->prev;
    cohort__list_insert_after(place, &meeting->link);
}

/* The meeting is over, and no participant is in it any more: keeps its memory for another one. */
static void meeting_put_away(struct meetings *meetings, struct cohort__meeting *meeting)
{
    memset(meeting->participants, 0,
           meeting->movement.num_sites * sizeof(meeting->participants[0]));
    cohort__error_fini(&meeting->error);
    meeting->error = (struct cohort__error){0};
    cohort__list_push_front(&meetings->spare, &meeting->link);
}

/* With the lock held: tells the other localities up to which generation this one reads no posts any
 * more: the last one that has ended, or all below one to which all sites here have come. But a
 * meeting that is still under way needs its posts. */
static void pass(struct meetings *meetings)
{
    uint64_t least = meetings->last_ended + 1;
    if (least < meetings->last_gathered)
        least = meetings->last_gathered;
    struct cohort__list *const lists[] = {&meetings->current, &meetings->moving};
    for (int i = 0; i < 2; i++)
        for (struct cohort__list *link = lists[i]->next; link != lists[i]; link = link->next) {
            const struct cohort__meeting *meeting = cohort__meeting_of(link);
            if (meeting->state != COHORT__MEETING_FAILED && meeting->generation < least)
                least = meeting->generation;
        }
    cohort__team_pass(meetings->team, least - 1);
}

/* The last participant has left. */
static void meeting_end(struct meetings *meetings, struct cohort__meeting *meeting)
{
    if (meeting->generation > meetings->last_ended)
        meetings->last_ended = meeting->generation;
    cohort__list_remove(&meeting->link);
    meeting_put_away(meetings, meeting);
    if (meetings->team)
        pass(meetings);
}

/* Whether other localities wait for something that this one has not posted yet. */
static bool is_awaited(const struct meetings *meetings, const struct cohort__meeting *meeting)
{
    if (!meetings->team || !cohort__team_posts(meetings->team, &meeting->far))
        return false;
    return !meeting->far.is_posted || (meeting->state == COHORT__MEETING_GATHERED &&
                                       cohort__meeting_has_shares(meetings, meeting));
}

/* Fails MEETING, which is open, gathered or reduced, with ERROR. Adds the participants that are
 * inside, except EXCEPT, to *TOLD. */
void cohort__meeting_fail(struct meetings *meetings, struct cohort__meeting *meeting,
                          const struct cohort__error *error,
                          const struct cohort__participant *except,
                          struct cohort__participant **told)
{
    bool is_open = meeting->state == COHORT__MEETING_OPEN;
    meeting->is_awaited = is_awaited(meetings, meeting);
    bool is_untold = meeting->is_awaited || (is_open && meeting->num_come < meetings->num_local);
    atomic_store_explicit(&meeting->is_untold, is_untold, memory_order_relaxed);
    if (!is_open)
        cohort__watch_end(&meetings->base.watch);
    meeting->state = COHORT__MEETING_FAILED;
    cohort__error_copy(&meeting->error, error);
    cohort__meeting_bunches_empty(meeting);
    for (uint32_t site = 0; site < meeting->movement.num_sites; site++) {
        struct cohort__participant *participant = meeting->participants[site];
        if (!participant || participant == except)
            continue;
        participant->next = *told;
        *told = participant;
    }
}

/* Coming ----------------------------------------------------------------------------------- */

/* An open meeting that SITE, which comes to GENERATION, has left out. It will never be complete.
 * NULL: there is none. */
static struct cohort__meeting *left_out_by(struct meetings *meetings, uint32_t site,
                                           uint64_t generation)
{
    for (struct cohort__list *link = meetings->current.next; link != &meetings->current;
         link = link->next) {
        struct cohort__meeting *meeting = cohort__meeting_of(link);
        if (meeting->generation >= generation)
            return NULL;
        if (meeting->state == COHORT__MEETING_OPEN && !meeting->participants[site])
            return meeting;
    }
    return NULL;
}

/* A site that has come to a later generation, so that it will never come to GENERATION. UINT32_MAX:
 * there is none. */
static uint32_t site_beyond(const struct meetings *meetings, uint64_t generation)
{
    const struct cohort__list *last = meetings->current.prev;
    if (last == &meetings->current)
        return UINT32_MAX;
    const struct cohort__meeting *later =
        COHORT_CONTAINER_OF(last, const struct cohort__meeting, link);
    if (later->generation <= generation || later->state != COHORT__MEETING_OPEN)
        return UINT32_MAX;
    uint32_t site = 0;
    while (!later->participants[site])
        site++;
    return site;
}

/* A site of this locality that has left, so that it comes to no meeting that is opened from now on.
 * UINT32_MAX: there is none. One that leaves later fails the meetings that are open (on_left). */
static uint32_t site_left(const struct cohort__group *group)
{
    for (uint32_t site = 0; site < group->membership->num_sites; site++) {
        const struct cohort_comm *comm = atomic_load(&group->endpoints[site]);
        if (comm && atomic_load(&comm->refs) == 0)
            return site;
    }
    return UINT32_MAX;
}

/* Sets *ERROR to the reason why COMM's site, which comes to LATER, is not in PAST, an open meeting.
 * Its call there was another one, or failed outside of a meeting, perhaps too long ago to be
 * remembered, or there was no such call. */
static void set_missed(struct cohort__error *error, struct cohort_comm *comm,
                       const struct cohort__meeting *past, uint64_t later)
{
    uint64_t generation = past->generation;
    const struct cohort__operation *operation = cohort__endpoint_find(comm, generation);
    const struct cohort__ended *ended = &comm->slots[generation % COHORT__WINDOW].ended;
    const struct cohort__error *failure = cohort__endpoint_failure(comm, generation);
    bool has_called = operation || ended->generation == generation;
    const struct cohort__signature *called = operation ? &operation->signature : &ended->signature;
    if (failure) {
        cohort__error_copy(error, failure);
        return;
    }
    if (has_called && cohort__fingerprint(called) != past->fingerprint) {
        char words[COHORT__SIGNATURE_TEXT];
        uint32_t other = 0;
        while (!past->participants[other])
            other++;
        cohort__signature_describe(called, words, sizeof(words));
        cohort__operation_mismatch(&past->participants[other]->operation, comm->this_site, words,
                                   error);
        return;
    }
    if (!cohort__history_skipped(&comm->history, generation)) {
        cohort__error_set(error, COHORT_ERR_MISMATCH,
                          "communicator \"%.60s\", generation %" PRIu64 ": " COHORT__FORGOTTEN,
                          comm->group->name, generation, comm->this_site, comm->group->rank);
        return;
    }
    cohort__error_set(error, COHORT_ERR_MOVED_PAST,
                      "communicator \"%.60s\", generation %" PRIu64
                      ": site %u (locality %u) has left out this generation; its last is %" PRIu64,
                      comm->group->name, generation, comm->this_site, comm->group->rank, later);
}

static size_t element_of(cohort_datatype datatype)
{
    return datatype ? cohort_datatype_size(datatype) : 1;
}

/* Two calls may differ though their fingerprints are equal. */
static bool same_terms(const struct cohort__meeting *meeting,
                       const struct cohort__participant *participant)
{
    const struct cohort__movement *movement = &meeting->movement;
    return meeting->kind == participant->kind && movement->root == participant->root &&
           movement->shift == participant->shift &&
           movement->count == participant->operation.signature.count &&
           movement->element == element_of(participant->operation.signature.datatype);
}

/* The data of all sites is in their inputs, on the board and in the outputs, at least once in each.
 * If that is more than the caches hold, a line that is kept there only drives out another one. Not
 * for reductions, since they read again what they write. */
static bool is_past_caches(const struct cohort__meeting *meeting, const struct cohort__group *group)
{
    const struct cohort__movement *movement = &meeting->movement;
    size_t num = meeting->kind->has_source ? 1 : movement->num_sites;
    return group->has_board && !movement->op &&
           3 * num * cohort__meeting_in_bytes(meeting) > cohort__cache_bytes();
}

static void begin(struct cohort__meeting *meeting, const struct cohort__participant *participant)
{
    meeting->state = COHORT__MEETING_OPEN;
    meeting->generation = participant->operation.generation;
    meeting->fingerprint = participant->operation.fingerprint;
    meeting->kind = participant->kind;
    meeting->num_inside = 0;
    meeting->num_come = 0;
    meeting->are_shares_made = false;
    meeting->inquiry = (struct cohort__inquiry){0};
    struct cohort__movement *movement = &meeting->movement;
    movement->has_far = false;
    movement->root = participant->root;
    movement->shift = participant->shift;
    movement->count = participant->operation.signature.count;
    movement->datatype = participant->operation.signature.datatype;
    movement->element = element_of(participant->operation.signature.datatype);
    movement->op = participant->op;
    movement->is_past_caches = is_past_caches(meeting, participant->operation.comm->group);
    meeting->far =
        (struct cohort__round){.generation = meeting->generation,
                               .fingerprint = meeting->fingerprint,
                               .bytes = cohort__meeting_in_bytes(meeting),
                               .has_source = participant->kind->has_source &&
                                             participant->root < meeting->movement.num_sites,
                               .source = participant->root,
                               .least_passed = UINT64_MAX};
}

static void enter(struct cohort__meeting *meeting, struct cohort__participant *participant)
{
    uint32_t site = participant->operation.comm->this_site;
    meeting->participants[site] = participant;
    cohort__meeting_bunch(meeting, participant);
    meeting->movement.in[site] = participant->in;
    meeting->movement.out[site] = participant->out;
    meeting->num_inside++;
    meeting->num_come++;
    participant->meeting = meeting;
}

/* By the thread that turns the event loop: whether something has come on the board meanwhile. */
static bool on_look(struct cohort__watch *watch)
{
    struct meetings *meetings = COHORT_CONTAINER_OF(watch, struct meetings, base.watch);
    struct cohort__looked looked = {0};
    pthread_mutex_lock(&meetings->lock);
    cohort__meetings_look(meetings, &looked);
    pthread_mutex_unlock(&meetings->lock);
    bool any = looked.told || looked.full;
    cohort__looked_go_on(&looked);
    return any;
}

/* What came of an attempt to enter. */
struct entry {
    struct cohort__error error; /* why it may not enter, if so */
    bool is_told;               /* the sites that depend on it know that error */
    bool is_last;               /* all are there */
    uint32_t never_comes;       /* a site that knows why; UINT32_MAX: none */
    struct cohort__looked looked;
};

static struct cohort__meeting *open_meeting(struct meetings *meetings,
                                            struct cohort__participant *participant,
                                            struct entry *entry)
{
    const struct cohort__group *group = participant->operation.comm->group;
    entry->never_comes = site_beyond(meetings, participant->operation.generation);
    if (entry->never_comes == UINT32_MAX && atomic_load(&group->num_left) > 0)
        entry->never_comes = site_left(group);
    struct cohort__meeting *meeting = meeting_create(meetings, group->membership->num_sites);
    if (!meeting) {
        cohort__error_set(&entry->error, COHORT_ERR_NO_MEMORY,
                          "communicator \"%.60s\": no memory for a meeting of %u sites",
                          group->name, group->membership->num_sites);
        return NULL;
    }
    begin(meeting, participant);
    meeting_insert(meetings, meeting);
    return meeting;
}

/* Sets *RET_ERROR to the reason why PARTICIPANT can't be in MEETING: the sites there have called
 * something else. Leaves it empty if PARTICIPANT can. */
static void compare(const struct cohort__meeting *meeting,
                    const struct cohort__participant *participant, struct cohort__error *ret_error)
{
    const struct cohort__operation *operation = &participant->operation;
    const struct cohort__movement *movement = &meeting->movement;
    uint32_t other = 0;
    if (meeting->fingerprint == operation->fingerprint && same_terms(meeting, participant))
        return;
    while (!meeting->participants[other])
        other++;
    if (meeting->fingerprint != operation->fingerprint) {
        char words[COHORT__SIGNATURE_TEXT];
        cohort__signature_describe(&meeting->participants[other]->operation.signature, words,
                                   sizeof(words));
        cohort__operation_mismatch(operation, other, words, ret_error);
        return;
    }
    cohort__error_set(ret_error, COHORT_ERR_MISMATCH,
                      "communicator \"%.60s\", generation %" PRIu64
                      ": site %u has blocks of %zu elements of %zu bytes where %zu of %zu bytes "
                      "were expected",
                      operation->comm->group->name, operation->generation,
                      operation->comm->this_site, participant->operation.signature.count,
                      element_of(participant->operation.signature.datatype), movement->count,
                      movement->element);
}

static void fail_left_out(struct meetings *meetings, struct cohort_comm *comm, uint64_t generation,
                          struct entry *entry)
{
    struct cohort__meeting *past;
    while ((past = left_out_by(meetings, comm->this_site, generation))) {
        struct cohort__error error = {0};
        set_missed(&error, comm, past, generation);
        cohort__meeting_fail(meetings, past, &error, NULL, &entry->looked.told);
        cohort__error_fini(&error);
    }
}

/* All sites of this locality are inside, so none of them will come to an earlier meeting. */
static void gathered(struct meetings *meetings, struct cohort__meeting *meeting,
                     struct entry *entry)
{
    entry->is_last = true;
    if (meetings->team) {
        meeting->state = COHORT__MEETING_GATHERED;
        cohort__watch_begin(cohort__inbox_watches(meetings->group->inbox), &meetings->base.watch);
        meetings->last_gathered = meeting->generation;
        if (meeting->generation > meetings->last_ended + 1)
            pass(meetings);
        entry->is_last =
            cohort__meeting_await_others(meetings, meeting, &entry->looked) == COHORT__ROUND_FULL;
    }
    if (entry->is_last)
        cohort__meeting_begin_moving(meetings, meeting);
}

/* With the lock held. A site that has been told already that the call fails stays outside. It is
 * about to fail, and the meeting of those that have come is over, mostly. If it opened another one,
 * to fail at once, n sites would look through n places each. */
static void try_enter(struct meetings *meetings, struct cohort__participant *participant,
                      struct entry *entry)
{
    struct cohort_comm *comm = participant->operation.comm;
    uint64_t generation = participant->operation.generation;
    fail_left_out(meetings, comm, generation, entry);
    if (cohort__endpoint_is_told(comm, generation))
        return;
    struct cohort__meeting *meeting = meeting_find(meetings, generation);
    if (!meeting) {
        meeting = open_meeting(meetings, participant, entry);
    } else if (meeting->state == COHORT__MEETING_FAILED) {
        cohort__error_copy(&entry->error, &meeting->error);
        entry->is_told = true;
    } else {
        compare(meeting, participant, &entry->error);
        entry->is_told = entry->error.status != COHORT_OK;
        if (entry->is_told)
            cohort__meeting_fail(meetings, meeting, &entry->error, NULL, &entry->looked.told);
    }
    if (entry->error.status)
        return;
    enter(meeting, participant);
    if (meeting->num_come == meetings->num_local)
        gathered(meetings, meeting, entry);
}

void cohort__participant_start(struct cohort__operation *operation)
{
    struct cohort__participant *participant = (struct cohort__participant *)operation;
    struct cohort__group *group = operation->comm->group;
    struct meetings *meetings = cohort__meetings_get(group);
    struct entry entry = {.never_comes = UINT32_MAX};
    if (!meetings) {
        cohort__operation_fail_with(operation, cohort__error_slot()->status, "%s",
                                    cohort_error_message());
        return;
    }
    pthread_mutex_lock(&meetings->lock);
    try_enter(meetings, participant, &entry);
    pthread_mutex_unlock(&meetings->lock);
    if (entry.is_last) {
        participant->meeting->next_full = NULL;
        entry.looked.full = participant->meeting;
    }
    if (entry.error.status) {
        operation->are_all_told |= entry.is_told;
        cohort__operation_fail(operation, &entry.error);
        cohort__error_fini(&entry.error);
    } else if (entry.never_comes != UINT32_MAX) {
        cohort__operation_ask(operation, entry.never_comes, 1);
    }
    if (entry.looked.told || entry.looked.full || entry.looked.question.message) /* mostly none */
        cohort__looked_go_on(&entry.looked); /* the operation may be gone after this */
}

/* Failing ---------------------------------------------------------------------------------- */

/* With the lock held: PARTICIPANT, which is inside, fails. Then its meeting fails, too, now or
 * later. True: it has failed now. */
static bool fail_meeting_of(struct meetings *meetings,
                            const struct cohort__participant *participant,
                            struct cohort__participant **told)
{
    const struct cohort__error *failure = &participant->operation.failure;
    struct cohort__meeting *meeting = participant->meeting;
    if (meeting->state == COHORT__MEETING_OPEN || meeting->state == COHORT__MEETING_GATHERED ||
        meeting->state == COHORT__MEETING_REDUCED) {
        cohort__meeting_fail(meetings, meeting, failure, participant, told);
        return true;
    }
    if (cohort__meeting_is_busy(meeting->state) && !meeting->error.status)
        cohort__error_copy(&meeting->error, failure);
    return false; /* it will be told, or is being told */
}

void cohort__participant_failing(struct cohort__operation *operation)
{
    const struct cohort__participant *participant = (const struct cohort__participant *)operation;
    struct meetings *meetings = cohort__meetings_get(operation->comm->group);
    struct cohort__looked looked = {0};
    bool is_over = true;
    if (participant->meeting) {
        pthread_mutex_lock(&meetings->lock);
        is_over = fail_meeting_of(meetings, participant, &looked.told);
        cohort__meetings_look(meetings, &looked); /* later meetings may have waited for this one */
        pthread_mutex_unlock(&meetings->lock);
    }
    if (!participant->meeting)
        cohort__operation_tell(operation, true);
    else if (is_over)
        cohort__meeting_tell_outside(participant->meeting, operation);
    cohort__looked_go_on(&looked);
    if (is_over)
        cohort__operation_ended(operation);
}

/* The calls that a site made before it left have been cancelled by now. So an open meeting from
 * there on, in which the site is not, will never be complete. */
static void on_left(struct cohort__meetings *base, const struct cohort_comm *comm)
{
    struct meetings *meetings = (struct meetings *)base;
    struct cohort__participant *told = NULL;
    pthread_mutex_lock(&meetings->lock);
    for (struct cohort__list *link = meetings->current.next; link != &meetings->current;
         link = link->next) {
        struct cohort__meeting *meeting = cohort__meeting_of(link);
        if (meeting->state != COHORT__MEETING_OPEN || meeting->generation < comm->gone_from)
            continue;
        struct cohort__error error = {0};
        if (cohort__remote_is_broken(comm)) /* the others here have not been told yet */
            cohort__error_set(&error, COHORT_ERR_PEER_DIED,
                              "communicator \"%.60s\", generation %" PRIu64 ": %s",
                              comm->group->name, meeting->generation, cohort_error_message());
        else
            cohort__error_set(&error, COHORT_ERR_GONE,
                              "communicator \"%.60s\", generation %" PRIu64
                              ": site %u (locality %u) has left the communicator after generation "
                              "%" PRIu64,
                              comm->group->name, meeting->generation, comm->this_site,
                              comm->group->rank, comm->gone_from - 1);
        cohort__meeting_fail(meetings, meeting, &error, NULL, &told);
        cohort__error_fini(&error);
    }
    pthread_mutex_unlock(&meetings->lock);
    cohort__participants_tell(told);
}

/* A participant of a meeting that is not open any more leaves it. */
static void leave(struct cohort__meeting *meeting, struct cohort__group *group)
{
    struct meetings *meetings = cohort__meetings_get(group);
    bool has_moved = meeting->state == COHORT__MEETING_MOVING;
    if (has_moved && atomic_fetch_sub(&meeting->num_inside, 1) > 1)
        return; /* nobody enters such a meeting any more, so it needs no lock */
    pthread_mutex_lock(&meetings->lock);
    if (has_moved || atomic_fetch_sub(&meeting->num_inside, 1) == 1)
        meeting_end(meetings, meeting);
    pthread_mutex_unlock(&meetings->lock);
}

void cohort__participant_release(struct cohort__operation *operation)
{
    struct cohort__participant *participant = (struct cohort__participant *)operation;
    if (participant->meeting)
        leave(participant->meeting, operation->comm->group);
    if (participant->rows)
        cohort__participant_rows_complete(participant);
    cohort__op_unref(participant->op);
    cohort__slab_free(participant);
}
