/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/meeting_life.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/exec/meeting_shares.h"
#include "collectives/exec/meeting_tell.h"
#include "runtime/base/cache.h"

/* How a meeting goes. A participant enters it in its endpoint's turn, and is ready then, or later.
 * The last one to be ready has the data moved (meeting_move.c), once what other localities bring is
 * there, too (meeting_far.c). Then every participant is told, each in its own endpoint's turn. The
 * last one to leave puts the meeting away.
 *
 * A participant that fails before all are ready fails the meeting for those inside. One of these
 * tells the sites that have not come yet, and other localities if they wait for this one
 * (operation.c). */

static struct cohort__meeting *meeting_create(struct cohort__meetings *meetings)
{
    uint32_t num_sites = meetings->sites.num;
    struct cohort__list *link = cohort__list_pop_front(&meetings->spare);
    if (link)
        return cohort__meeting_of(link);
    size_t a_site = 3 * sizeof(void *) + sizeof(bool);
    struct cohort__meeting *meeting = calloc(1, sizeof(*meeting) + num_sites * a_site);
    if (!meeting || !cohort__meeting_bunches_create(meeting, meetings->num_local)) {
        free(meeting);
        return NULL;
    }
    meeting->meetings = meetings;
    meeting->movement.num_sites = num_sites;
    meeting->movement.in = (unsigned char **)(meeting->participants + num_sites);
    meeting->movement.out = meeting->movement.in + num_sites;
    meeting->movement.is_posted = (bool *)(meeting->movement.out + num_sites);
    return meeting;
}

/* Keeps the list in its order. */
static void meeting_insert(struct cohort__meetings *meetings, struct cohort__meeting *meeting)
{
    struct cohort__list *place = meetings->current.prev;
    while (place != &meetings->current &&
           cohort__meeting_precedes(meeting, cohort__meeting_of(place)->generation,
                                    cohort__meeting_of(place)->index))
        place = place->prev;
    cohort__list_insert_after(place, &meeting->link);
}

/* The data of all sites is in their inputs, on the board and in the outputs, at least once in each.
 * If that is more than the caches hold, a line that is kept there only drives out another one. Not
 * for reductions, since they read again what they write. */
static bool is_past_caches(const struct cohort__meeting *meeting)
{
    const struct cohort__movement *movement = &meeting->movement;
    size_t num = meeting->kind->has_source ? 1 : movement->num_sites;
    size_t num_blocks = meeting->kind->in_blocks ? meeting->kind->in_blocks : movement->num_sites;
    return meeting->meetings->team && !movement->op &&
           3 * num * num_blocks * movement->stride > cohort__cache_bytes();
}

static void begin(struct cohort__meeting *meeting, const struct cohort__participant *participant)
{
    meeting->state = COHORT__MEETING_OPEN;
    meeting->generation = participant->operation->generation;
    meeting->index = participant->index;
    meeting->fingerprint = participant->operation->fingerprint;
    meeting->kind = participant->kind;
    meeting->num_inside = 0;
    meeting->num_come = 0;
    meeting->num_ready = 0;
    meeting->are_shares_made = false;
    meeting->inquiry = (struct cohort__inquiry){0};
    struct cohort__movement *movement = &meeting->movement;
    movement->has_far = false;
    movement->root = participant->root;
    movement->shift = participant->shift;
    movement->count = participant->count;
    movement->datatype = participant->datatype;
    movement->element = cohort__meeting_element(participant->datatype);
    movement->stride = participant->stride;
    movement->op = participant->op;
    movement->is_past_caches = is_past_caches(meeting);
    movement->of_objects = participant->of_objects;
    bool has_source =
        participant->kind->has_source && participant->root < meeting->movement.num_sites;
    meeting->far = (struct cohort__round){
        .number = cohort__board_number(meeting->generation, meeting->index),
        .fingerprint = meeting->fingerprint,
        .bytes = cohort__meeting_in_bytes(meeting),
        .has_source = has_source,
        .source = has_source ? meeting->meetings->sites.sites[participant->root] : 0,
        .least_passed = UINT64_MAX,
    };
}

struct cohort__meeting *cohort__meeting_open(struct cohort__meetings *meetings,
                                             const struct cohort__participant *participant)
{
    struct cohort__meeting *meeting = meeting_create(meetings);
    if (!meeting)
        return NULL;
    begin(meeting, participant);
    meeting_insert(meetings, meeting);
    return meeting;
}

/* The meeting is over, and no participant is in it any more: keeps its memory for another one. */
static void meeting_put_away(struct cohort__meetings *meetings, struct cohort__meeting *meeting)
{
    memset(meeting->participants, 0,
           meeting->movement.num_sites * sizeof(meeting->participants[0]));
    memset(meeting->movement.is_posted, false, meeting->movement.num_sites);
    cohort__error_fini(&meeting->error);
    meeting->error = (struct cohort__error){0};
    cohort__list_push_front(&meetings->spare, &meeting->link);
}

void cohort__meetings_pass(struct cohort__meetings *meetings)
{
    /* All segments of a generation are entered before the first one can end. So those that are not
     * in the lists have ended, or the call had none, or has failed before. */
    uint64_t ended = cohort__board_generation(meetings->last_ended);
    uint64_t least = cohort__board_number(ended + 1, 0);
    if (least < meetings->last_gathered)
        least = meetings->last_gathered;
    struct cohort__list *const lists[] = {&meetings->current, &meetings->moving};
    for (int i = 0; i < 2; i++)
        for (struct cohort__list *link = lists[i]->next; link != lists[i]; link = link->next) {
            const struct cohort__meeting *meeting = cohort__meeting_of(link);
            if (meeting->state != COHORT__MEETING_FAILED && meeting->far.number < least)
                least = meeting->far.number;
        }
    cohort__team_pass(meetings->team, least - 1);
}

void cohort__meeting_end(struct cohort__meetings *meetings, struct cohort__meeting *meeting)
{
    if (meeting->far.number > meetings->last_ended)
        meetings->last_ended = meeting->far.number;
    cohort__list_remove(&meeting->link);
    meeting_put_away(meetings, meeting);
    if (meetings->team)
        cohort__meetings_pass(meetings);
}

/* Whether other localities wait for something that this one has not posted yet. */
static bool is_awaited(const struct cohort__meetings *meetings,
                       const struct cohort__meeting *meeting)
{
    if (!meetings->team || !cohort__team_posts(meetings->team, &meeting->far))
        return false;
    return !meeting->far.is_posted || (meeting->state == COHORT__MEETING_GATHERED &&
                                       cohort__meeting_has_shares(meetings, meeting));
}

void cohort__meeting_fail(struct cohort__meetings *meetings, struct cohort__meeting *meeting,
                          const struct cohort__error *error,
                          const struct cohort__participant *except,
                          struct cohort__participant **told)
{
    bool is_open = meeting->state == COHORT__MEETING_OPEN;
    meeting->is_awaited = is_awaited(meetings, meeting);
    bool is_untold = meeting->is_awaited || (is_open && meeting->num_come < meetings->num_local);
    atomic_store_explicit(&meeting->is_untold, is_untold, memory_order_relaxed);
    if (!is_open)
        cohort__watch_end(&meetings->watch);
    meeting->state = COHORT__MEETING_FAILED;
    cohort__error_copy(&meeting->error, error);
    cohort__meeting_bunches_empty(meeting);
    for (uint32_t rank = 0; rank < meeting->movement.num_sites; rank++) {
        struct cohort__participant *participant = meeting->participants[rank];
        if (!participant || participant == except)
            continue;
        participant->next = *told;
        *told = participant;
    }
}
