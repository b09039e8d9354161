/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/meeting_far.h"

#include "collectives/comm/remote.h"
#include "collectives/exec/meeting_bring.h"
#include "collectives/exec/meeting_life.h"
#include "collectives/exec/meeting_move.h"
#include "collectives/exec/meeting_shares.h"
#include "collectives/exec/meeting_tell.h"

/* The latest meeting before MEETING that is gathered, and has posted or is going to post. NULL:
 * there is none. */
static const struct cohort__meeting *poster_before(const struct cohort__meetings *meetings,
                                                   const struct cohort__meeting *meeting)
{
    for (const struct cohort__list *link = meeting->link.prev; link != &meetings->current;
         link = link->prev) {
        const struct cohort__meeting *earlier =
            COHORT_CONTAINER_OF(link, const struct cohort__meeting, link);
        bool is_there = earlier->state == COHORT__MEETING_GATHERED ||
                        earlier->state == COHORT__MEETING_BRINGING;
        if (is_there && cohort__team_posts(meetings->team, &earlier->far))
            return earlier;
    }
    return NULL;
}

/* Meetings post in the order of their generations and segments. If a later one took the place of
 * one that has not posted yet, that one would wait for its place for ever. */
static bool is_next(const struct cohort__meetings *meetings, const struct cohort__meeting *meeting)
{
    const struct cohort__meeting *earlier = poster_before(meetings, meeting);
    return !earlier || earlier->far.is_posted;
}

const struct cohort__meeting *cohort__meeting_first_to_post(const struct cohort__meetings *meetings,
                                                            const struct cohort__meeting *meeting)
{
    const struct cohort__meeting *first = meeting, *earlier = NULL;
    bool is_to_post = meetings->team && cohort__team_posts(meetings->team, &meeting->far) &&
                      !meeting->far.is_posted;
    while (is_to_post && (earlier = poster_before(meetings, first)) && !earlier->far.is_posted)
        first = earlier;
    return first;
}

/* Whether an input in place is still read after its site's output has been written. If sites of
 * other localities are in between, that is so for all reductions. */
static bool is_overwritten(const struct cohort__meeting *meeting)
{
    return meeting->kind->reads_late || meeting->kind == &cohort__movement_scan ||
           meeting->kind == &cohort__movement_all_reduce;
}

/* All have posted. From now on the inputs of other localities are read on the board, and so are
 * those that will be overwritten. */
static cohort_status find_inputs(const struct cohort__meetings *meetings,
                                 struct cohort__meeting *meeting, struct cohort__error *ret_error)
{
    struct cohort__movement *movement = &meeting->movement;
    bool has_shares = cohort__meeting_has_shares(meetings, meeting);
    movement->has_far = true;
    for (uint32_t rank = 0; rank < movement->num_sites; rank++) {
        bool is_far = !meeting->participants[rank];
        bool is_in_place = movement->in[rank] && movement->in[rank] == movement->out[rank];
        if (is_far)
            movement->out[rank] = movement->in[rank] = NULL;
        if ((!is_far && !(is_in_place && is_overwritten(meeting) && !has_shares)) ||
            !cohort__meeting_brings(meeting, rank))
            continue;
        movement->in[rank] = (unsigned char *)cohort__team_input(
            meetings->team, &meeting->far, meetings->sites.sites[rank], ret_error);
        movement->is_posted[rank] = true;
        if (!movement->in[rank])
            return ret_error->status;
    }
    return COHORT_OK;
}

/* SITE's locality has posted for another call. Asks it which one, and tells it what this call is,
 * so that both calls fail. */
static void ask(struct cohort__meeting *meeting, uint32_t site, struct cohort__looked *looked)
{
    const struct cohort__operation *operation = cohort__meeting_first(meeting)->operation;
    struct cohort__group *group = operation->comm->group;
    if (meeting->far.has_asked || looked->question.message)
        return;
    struct cohort__message *message =
        cohort__operation_question(operation, cohort__message_tag(1, 0));
    if (!message)
        return;
    meeting->far.has_asked = true;
    cohort__group_ref(group); /* until the question is sent */
    looked->question.message = message;
    looked->question.group = group;
    looked->question.site = site;
}

/* By the last work that copies what this locality brings: posts it. If a participant has failed
 * meanwhile, fails the meeting now, which that participant could not do. */
static void brought(struct cohort__crew *crew)
{
    struct cohort__meeting *meeting = COHORT_CONTAINER_OF(crew, struct cohort__meeting, crew);
    struct cohort__meetings *meetings = meeting->meetings;
    struct cohort__looked looked = {0};
    pthread_mutex_lock(&meetings->lock);
    struct cohort__error error = meeting->error;
    meeting->error = (struct cohort__error){0};
    meeting->state = COHORT__MEETING_GATHERED;
    if (error.status)
        cohort__meeting_fail(meetings, meeting, &error, NULL, &looked.told);
    else
        cohort__team_post(meetings->team, &meeting->far);
    cohort__meetings_look(meetings, &looked); /* later meetings had to wait for this one */
    pthread_mutex_unlock(&meetings->lock);
    cohort__error_fini(&error);
    cohort__looked_go_on(&looked);
}

enum cohort__round_state cohort__meeting_await_others(struct cohort__meetings *meetings,
                                                      struct cohort__meeting *meeting,
                                                      struct cohort__looked *looked)
{
    uint32_t site = 0;
    struct cohort__error error = {0};
    bool is_to_post = cohort__team_posts(meetings->team, &meeting->far) && !meeting->far.is_posted;
    if (is_to_post &&
        !(is_next(meetings, meeting) && cohort__meeting_bring(meetings, meeting, brought)))
        return COHORT__ROUND_PARTIAL;
    if (meeting->state == COHORT__MEETING_REDUCED)
        return cohort__team_look_shares(meetings->team, &meeting->far);
    enum cohort__round_state state = cohort__team_look(meetings->team, &meeting->far, &site);
    if (state == COHORT__ROUND_DIFFERENT)
        ask(meeting, site, looked);
    if (state != COHORT__ROUND_FULL || !find_inputs(meetings, meeting, &error))
        return state;
    cohort__meeting_fail(meetings, meeting, &error, NULL, &looked->told);
    cohort__error_fini(&error);
    return COHORT__ROUND_PARTIAL;
}

void cohort__meeting_begin_moving(struct cohort__meetings *meetings,
                                  struct cohort__meeting *meeting)
{
    if (meeting->state == COHORT__MEETING_GATHERED &&
        cohort__meeting_has_shares(meetings, meeting)) {
        meeting->state = COHORT__MEETING_REDUCING;
        return;
    }
    cohort__list_remove(&meeting->link);
    cohort__list_push_back(&meetings->moving, &meeting->link);
    if (meeting->state != COHORT__MEETING_OPEN)
        cohort__watch_end(&meetings->watch);
    meeting->are_shares_made = meeting->state == COHORT__MEETING_REDUCED;
    meeting->state = COHORT__MEETING_MOVING;
}

void cohort__meetings_look(struct cohort__meetings *meetings, struct cohort__looked *looked)
{
    struct cohort__meeting **last = &looked->full;
    struct cohort__list *next, *link;
    while (*last)
        last = &(*last)->next_full;
    for (link = meetings->current.next; link != &meetings->current; link = next) {
        struct cohort__meeting *meeting = cohort__meeting_of(link);
        next = link->next;
        bool waits =
            meeting->state == COHORT__MEETING_GATHERED || meeting->state == COHORT__MEETING_REDUCED;
        if (!waits || cohort__meeting_await_others(meetings, meeting, looked) != COHORT__ROUND_FULL)
            continue;
        cohort__meeting_begin_moving(meetings, meeting);
        meeting->next_full = NULL;
        *last = meeting;
        last = &meeting->next_full;
    }
}

static void put_question(struct cohort__looked *looked)
{
    struct cohort__group *group = looked->question.group;
    cohort__mail_send(group, looked->question.site, looked->question.message, 0);
    looked->question.message = NULL;
    cohort__group_unref(group);
}

/* This locality's share is made. Tells the others. If the meeting has failed meanwhile, fails
 * it. */
static void reduced(struct cohort__meeting *meeting, struct cohort__looked *looked)
{
    struct cohort__meetings *meetings = meeting->meetings;
    pthread_mutex_lock(&meetings->lock);
    struct cohort__error error = meeting->error;
    meeting->error = (struct cohort__error){0};
    meeting->state = COHORT__MEETING_REDUCED;
    cohort__team_post_share(meetings->team, &meeting->far);
    if (error.status)
        cohort__meeting_fail(meetings, meeting, &error, NULL, &looked->told);
    cohort__meetings_look(meetings, looked);
    pthread_mutex_unlock(&meetings->lock);
    cohort__error_fini(&error);
}

static void reduce_over(struct cohort__crew *crew)
{
    struct cohort__looked looked = {0};
    reduced(COHORT_CONTAINER_OF(crew, struct cohort__meeting, crew), &looked);
    cohort__looked_go_on(&looked);
}

static void reduce(struct cohort__meeting *meeting, struct cohort__looked *looked)
{
    if (cohort__meeting_reduce(meeting, reduce_over))
        reduced(meeting, looked);
}

void cohort__looked_go_on(struct cohort__looked *looked)
{
    for (;;) {
        cohort__participants_tell(looked->told);
        looked->told = NULL;
        if (looked->question.message)
            put_question(looked);
        struct cohort__meeting *meeting = looked->full;
        if (!meeting)
            break;
        looked->full = meeting->next_full; /* the meeting may be gone after the move */
        if (meeting->state == COHORT__MEETING_REDUCING)
            reduce(meeting, looked);
        else
            cohort__meeting_move(meeting);
    }
}
