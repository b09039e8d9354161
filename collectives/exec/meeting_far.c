/* SPDX-License-Identifier: Apache-2.0 */
/* The part in a meeting that the other localities of the host take. */
#include <string.h>

#include "collectives/comm/endpoint.h"
#include "collectives/exec/meetings.h"

/* One of this locality's endpoints. */
const struct cohort_comm *cohort__meeting_local_comm(const struct cohort__meeting *meeting)
{
    uint32_t site = 0;
    while (!meeting->visits[site])
        site++;
    return meeting->visits[site]->operation.comm;
}

size_t cohort__meeting_in_bytes(const struct cohort__meeting *meeting)
{
    const struct cohort__movement *movement = &meeting->movement;
    size_t num_blocks = meeting->kind->in_blocks ? meeting->kind->in_blocks : movement->num_sites;
    return num_blocks * movement->count * movement->element;
}

/* Posts go up in the order of their generations: a later one in the place of one that is still to
 * come would wait for that for ever. */
bool cohort__meeting_is_next(const struct meetings *meetings, const struct cohort__meeting *meeting)
{
    for (const struct cohort__list *link = meeting->link.prev; link != &meetings->current;
         link = link->prev) {
        const struct cohort__meeting *earlier =
            COHORT_CONTAINER_OF(link, const struct cohort__meeting, link);
        if (earlier->state == COHORT__MEETING_GATHERED)
            return earlier->far.is_posted;
    }
    return true;
}

/* What SITE brings, of cohort__meeting_in_bytes(). */
static const unsigned char *contribution(const struct cohort__meeting *meeting, uint32_t site)
{
    const struct cohort__movement *movement = &meeting->movement;
    const unsigned char *in = movement->in[site];
    bool is_root_only =
        meeting->kind == &cohort__movement_scatter || meeting->kind == &cohort__movement_broadcast;
    bool is_in_place = in == movement->out[site];
    if (is_root_only && site != movement->root)
        return NULL;
    if (in && is_in_place &&
        (meeting->kind == &cohort__movement_all_gather ||
         meeting->kind == &cohort__movement_gather))
        return in + site * cohort__meeting_in_bytes(meeting);
    return in;
}

/* Copies what SITE brings. Of blocks for each site, those that stay in this locality are left out:
 * they are read where they are. */
static void bring(const struct meetings *meetings, const struct cohort__meeting *meeting,
                  uint32_t site, unsigned char *to)
{
    const struct cohort__movement *movement = &meeting->movement;
    const unsigned char *from = contribution(meeting, site);
    bool is_in_place = from && from == movement->out[site];
    if (!from)
        return;
    if (meeting->kind->in_blocks || is_in_place) {
        memcpy(to, from, meeting->far.bytes);
        return;
    }
    size_t block = movement->count * movement->element;
    for (uint32_t target = 0; target < movement->num_sites; target++)
        if (!cohort__group_is_local(meetings->group, target))
            memcpy(to + target * block, from + target * block, block);
}

static bool post(struct meetings *meetings, struct cohort__meeting *meeting)
{
    unsigned char *to = cohort__assembly_place(meetings->assembly, &meeting->far);
    size_t bytes = meeting->far.bytes;
    if (!to)
        return false;
    for (uint32_t site = 0; bytes > 0 && site < meeting->movement.num_sites; site++) {
        if (!meeting->visits[site])
            continue;
        bring(meetings, meeting, site, to);
        to += bytes;
    }
    cohort__assembly_post(meetings->assembly, &meeting->far);
    return true;
}

/* A gathered meeting: posts what this locality's sites bring, and sees who else is there. Where
 * that fails it, those to be told are added to *TOLD. With the lock held. */
enum cohort__attendance_state cohort__meeting_await_others(struct meetings *meetings,
                                                           struct cohort__meeting *meeting,
                                                           struct cohort__visit **told)
{
    uint32_t site = 0;
    uint64_t fingerprint = 0;
    struct cohort__error error = {0};
    if (!meeting->far.is_posted &&
        !(cohort__meeting_is_next(meetings, meeting) && post(meetings, meeting)))
        return COHORT__ATTENDANCE_PARTIAL;
    enum cohort__attendance_state state =
        cohort__assembly_look(meetings->assembly, &meeting->far, &site, &fingerprint, &error);
    if (state != COHORT__ATTENDANCE_BROKEN)
        return state;
    uint32_t own = cohort__meeting_local_comm(meeting)->this_site;
    if (!error.status)
        cohort__operation_mismatch(&meeting->visits[own]->operation, site, fingerprint, &error);
    cohort__meeting_fail(meetings, meeting, &error, NULL, told);
    cohort__error_fini(&error);
    return state;
}

/* Whether an input in place is still read after its site's output has been written; with other
 * localities' sites in between, that is so for all reductions. */
static bool is_overwritten(const struct cohort__meeting *meeting)
{
    return meeting->kind->reads_late || meeting->kind == &cohort__movement_scan ||
           meeting->kind == &cohort__movement_all_reduce;
}

/* With the lock held: everybody is there. */
void cohort__meeting_begin_moving(struct meetings *meetings, struct cohort__meeting *meeting)
{
    cohort__list_remove(&meeting->link);
    cohort__list_push_back(&meetings->moving, &meeting->link);
    if (meeting->state == COHORT__MEETING_GATHERED)
        atomic_fetch_sub(&meetings->num_gathered, 1);
    meeting->state = COHORT__MEETING_MOVING;
    for (uint32_t site = 0; meetings->assembly && site < meeting->movement.num_sites; site++) {
        struct cohort__movement *movement = &meeting->movement;
        bool is_far = !meeting->visits[site];
        bool is_in_place = movement->in[site] && movement->in[site] == movement->out[site];
        if (is_far)
            movement->out[site] = NULL;
        if (is_far || (is_in_place && is_overwritten(meeting)))
            movement->in[site] =
                (unsigned char *)cohort__assembly_input(meetings->assembly, &meeting->far, site);
    }
}
