/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/note_steps.h"

#include <string.h>

#include "collectives/comm/remote.h"
#include "collectives/exec/activity.h"
#include "collectives/exec/stall.h"
#include "runtime/base/container.h"

_Static_assert((int)COHORT__NOTES_GENERATIONS == (int)COHORT__WINDOW,
               "a place for each generation that may be in flight at a site");
_Static_assert((int)COHORT__PLAN_NOTES <= (int)COHORT__NOTES_OF_CALL,
               "each note of a plan has a place");

static const struct cohort__step *step_at(const struct cohort__execution *execution, uint32_t step)
{
    return &execution->plan->steps[step];
}

/* Whom the note of a POST is for. */
static struct cohort__notice_readers readers_of(const struct cohort__execution *execution,
                                                const struct cohort__step *post)
{
    const struct cohort__plan *plan = execution->plan;
    const struct cohort__sharers *sharers = &plan->notes[post->tag];
    return (struct cohort__notice_readers){
        .sites = plan->sharers + sharers->first,
        .num = sharers->num,
        .reader = post->peer == COHORT__EVERYBODY ? COHORT__NO_SITE : post->peer,
    };
}

static bool is_for(const struct cohort__execution *execution,
                   const struct cohort__notice_readers *readers, uint32_t site)
{
    return site != execution->plan->this_site &&
           (readers->reader == COHORT__NO_SITE || readers->reader == site);
}

/* POST ------------------------------------------------------------------------------------- */

/* False: there is no place yet. */
static bool leave_note(struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *post = step_at(execution, step);
    struct cohort__notice_readers readers = readers_of(execution, post);
    struct cohort__pieces pieces = cohort__pieces_of_step(execution->plan, post, execution->bases);
    unsigned char *to = cohort__noticeboard_place(execution->noticeboard, &execution->notice_call,
                                                  post->tag, post->bytes, &readers);
    if (!to)
        return false;
    cohort__pieces_pack(to, &pieces);
    cohort__noticeboard_publish(execution->noticeboard, &execution->notice_call, post->tag,
                                &readers);
    cohort__execution_step_over(execution, step);
    return true;
}

/* READ ------------------------------------------------------------------------------------- */

static void *operand(const struct cohort__execution *execution, uint32_t step, uint32_t index)
{
    const struct cohort__plan *plan = execution->plan;
    const struct cohort__block *block =
        &plan->blocks[plan->block_refs[step_at(execution, step)->first_block + index]];
    return execution->bases[block->space] + block->offset;
}

/* DATA is what the step reads. Only the user's operations can fail. */
static cohort_status take(const struct cohort__execution *execution, uint32_t step,
                          const unsigned char *data)
{
    const struct cohort__step *read = step_at(execution, step);
    if (read->num_blocks == 2) {
        memcpy(operand(execution, step, 0), data, read->bytes);
        return COHORT_OK;
    }
    return cohort__execution_reduce(execution, step, operand(execution, step, 0),
                                    operand(execution, step, 2), data);
}

static void have_read(struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *read = step_at(execution, step);
    cohort__noticeboard_read(execution->noticeboard, &execution->notice_call, read->tag,
                             read->peer);
}

static cohort_status perform(struct cohort__activity *activity)
{
    return take(activity->execution, activity->step, activity->source);
}

static void performed(struct cohort__activity *activity)
{
    have_read(activity->execution, activity->step);
    cohort__activity_finish(activity);
}

/* Few bytes, and what the library reduces itself, on the spot. The note stays until it is read. */
static void start_taking(struct cohort__execution *execution, uint32_t step,
                         const unsigned char *data)
{
    const struct cohort__step *read = step_at(execution, step);
    if (read->bytes > 0 && read->num_blocks == 3 && cohort__execution_is_users(execution, step)) {
        struct cohort__activity *activity = cohort__activity_create(execution, step);
        if (!activity)
            return;
        activity->source = data;
        cohort__activity_work(activity, perform, performed);
        return;
    }
    if (read->bytes > 0)
        take(execution, step, data);
    have_read(execution, step);
    cohort__execution_step_over(execution, step);
}

/* The note is there. If it is of another call, its site is asked, and this step goes on waiting:
 * the answer fails both calls. */
static void read_note(struct cohort__execution *execution, uint32_t step,
                      const struct cohort__note *note)
{
    const struct cohort__step *read = step_at(execution, step);
    struct cohort__operation *operation = &execution->operation;
    const struct cohort__block *part =
        &execution->plan->blocks[execution->plan->block_refs[read->first_block + 1]];
    if (!cohort__noticeboard_is_of(&execution->notice_call, note, read->phase)) {
        cohort__operation_ask_anyway(operation, read->peer, cohort__message_tag(read->phase, 0));
        return;
    }
    uint32_t bytes;
    const unsigned char *data =
        cohort__noticeboard_data(execution->noticeboard, read->peer, note, &bytes);
    if (!data || part->offset > bytes || read->bytes > bytes - part->offset)
        cohort__operation_fail_with(
            operation, COHORT_ERR_PROTOCOL,
            "site %u (locality %u) has left a note of %u bytes, which "
            "can't be",
            read->peer, operation->comm->group->membership->locality_of[read->peer], bytes);
    else
        start_taking(execution, step, data + part->offset);
}

/* False: the note is not there yet. */
static bool find_note(struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *read = step_at(execution, step);
    const struct cohort__note *note = cohort__noticeboard_look(
        execution->noticeboard, &execution->notice_call, read->tag, read->peer);
    if (note)
        read_note(execution, step, note);
    return note != NULL;
}

/* Waiting ---------------------------------------------------------------------------------- */

static struct cohort__note_step *note_step_of(const struct cohort__execution *execution,
                                              uint32_t step)
{
    struct cohort__note_step *note_step = execution->note_steps;
    while (note_step->step != step)
        note_step++;
    return note_step;
}

static void wait(struct cohort__execution *execution, uint32_t step)
{
    execution->states[step] = COHORT__STEP_POSTED;
    execution->num_busy++;
    cohort__noticeboard_wait(execution->noticeboard, &note_step_of(execution, step)->notice);
}

/* Back in the endpoint's turn. */
static void run(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort__note_step *note_step = COHORT_CONTAINER_OF(item, struct cohort__note_step, item);
    struct cohort__execution *execution = note_step->execution;
    uint32_t step = note_step->step;
    (void)actor;
    cohort__execution_enter(execution);
    execution->num_busy--;
    bool is_post = step_at(execution, step)->kind == COHORT__STEP_POST;
    if (!execution->operation.failure.status &&
        !(is_post ? leave_note(execution, step) : find_note(execution, step)))
        wait(execution, step);
    cohort__execution_leave(execution);
}

static void on_ready(struct cohort__notice *notice)
{
    struct cohort__note_step *note_step =
        COHORT_CONTAINER_OF(notice, struct cohort__note_step, notice);
    note_step->item.run = run;
    cohort__endpoint_post(note_step->execution->operation.comm, &note_step->item);
}

void cohort__note_post(struct cohort__execution *execution, uint32_t step)
{
    if (!leave_note(execution, step))
        wait(execution, step);
}

void cohort__note_read(struct cohort__execution *execution, uint32_t step)
{
    execution->states[step] = COHORT__STEP_POSTED;
    if (!find_note(execution, step))
        wait(execution, step);
}

/* The whole of a call ---------------------------------------------------------------------- */

void cohort__note_steps_init(struct cohort__execution *execution)
{
    const struct cohort__plan *plan = execution->plan;
    struct cohort__note_step *note_step = execution->note_steps;
    struct cohort__notice_call *call = &execution->notice_call;
    execution->noticeboard = NULL;
    if (plan->num_posts + plan->num_reads == 0)
        return;
    *call = (struct cohort__notice_call){.generation = execution->operation.generation,
                                         .fingerprint = execution->operation.fingerprint,
                                         .site = plan->this_site};
    for (uint32_t step = 0; step < plan->num_steps; step++) {
        const struct cohort__step *what = &plan->steps[step];
        bool is_post = what->kind == COHORT__STEP_POST;
        if (!is_post && what->kind != COHORT__STEP_READ)
            continue;
        *note_step++ = (struct cohort__note_step){
            .notice = {.call = call,
                       .ready = on_ready,
                       .number = what->tag,
                       .source = is_post ? COHORT__NO_SITE : what->peer},
            .execution = execution,
            .step = step,
        };
        call->is_unposted[what->tag] |= is_post;
        call->num_reads[what->tag] += !is_post;
        call->unread[what->tag] += !is_post;
    }
}

void cohort__note_steps_begin(struct cohort__execution *execution)
{
    struct cohort__operation *operation = &execution->operation;
    struct cohort__group *group = operation->comm->group;
    bool has_notes = execution->plan->num_posts + execution->plan->num_reads > 0;
    bool may_have_left_out = operation->generation > COHORT__NOTES_GENERATIONS;
    if (!group->has_notes || (!has_notes && !may_have_left_out) || operation->failure.status)
        return;
    struct cohort__noticeboard *board = cohort__noticeboard_get(group);
    if (!board) {
        cohort__operation_fail_with(operation, cohort__error_slot()->status, "%s",
                                    cohort_error_message());
        return;
    }
    if (has_notes)
        cohort__noticeboard_begin(board, &execution->notice_call);
    else
        cohort__noticeboard_come(board, operation->generation, execution->plan->this_site);
    execution->noticeboard = has_notes ? board : NULL;
}

void cohort__note_steps_end(struct cohort__execution *execution)
{
    if (execution->noticeboard)
        cohort__noticeboard_end(execution->noticeboard, &execution->notice_call);
    execution->noticeboard = NULL;
}

/* Those for whom the note of STEP, a POST, is will wait for it in vain. */
static void tell_readers(const struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *post = step_at(execution, step);
    const struct cohort__operation *operation = &execution->operation;
    const struct cohort__notice_readers readers = readers_of(execution, post);
    for (uint32_t i = 0; i < readers.num; i++) {
        if (!is_for(execution, &readers, readers.sites[i]))
            continue;
        struct cohort__message *message = cohort__message_create(
            COHORT__KIND_ERROR, execution->plan->this_site, operation->generation,
            operation->fingerprint, cohort__message_tag(post->phase, post->tag));
        if (!message)
            return; /* they will ask */
        cohort__error_copy(&message->error, &operation->failure);
        cohort__mail_send(operation->comm->group, readers.sites[i], message, 0);
    }
}

void cohort__note_steps_fail(struct cohort__execution *execution)
{
    const struct cohort__plan *plan = execution->plan;
    for (uint32_t i = 0; i < plan->num_posts + plan->num_reads; i++) {
        struct cohort__note_step *note_step = &execution->note_steps[i];
        uint32_t step = note_step->step;
        if (execution->states[step] == COHORT__STEP_POSTED &&
            cohort__noticeboard_give_up(execution->noticeboard, &note_step->notice))
            execution->num_busy--;
        if (plan->steps[step].kind == COHORT__STEP_POST && !execution->operation.is_refused &&
            execution->states[step] != COHORT__STEP_OVER)
            tell_readers(execution, step);
    }
}

/* Stalls ----------------------------------------------------------------------------------- */

uint32_t cohort__note_awaited(const struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *what = step_at(execution, step);
    uint32_t site = COHORT__NO_SITE;
    if (what->kind == COHORT__STEP_READ && execution->noticeboard)
        site = cohort__noticeboard_left_out_by(execution->noticeboard, &execution->notice_call,
                                               what->tag);
    return site == COHORT__NO_SITE ? what->peer : site;
}

static bool awaits_place(const struct cohort__execution *execution, uint32_t step)
{
    return step_at(execution, step)->kind == COHORT__STEP_POST &&
           execution->states[step] == COHORT__STEP_POSTED;
}

/* The lowest site of the next locality, from *LOCALITY on, that has not passed what the POST of
 * STEP needs for its place. */
static uint32_t next_late(const struct cohort__execution *execution, uint32_t step,
                          uint32_t *locality)
{
    return cohort__noticeboard_late(execution->noticeboard, &execution->notice_call,
                                    step_at(execution, step)->tag, locality);
}

void cohort__note_steps_stalled(struct cohort__execution *execution)
{
    const struct cohort__plan *plan = execution->plan;
    for (uint32_t k = 0; k < plan->num_posts + plan->num_reads; k++) {
        uint32_t step = execution->note_steps[k].step, locality = 0, site;
        while (awaits_place(execution, step) &&
               (site = next_late(execution, step, &locality)) != COHORT__NO_SITE)
            cohort__operation_ask(&execution->operation, site,
                                  cohort__message_tag(plan->steps[step].phase, 0));
    }
}

size_t cohort__note_steps_describe(const struct cohort__execution *execution, char *text,
                                   size_t used, size_t capacity)
{
    const struct cohort__plan *plan = execution->plan;
    const uint32_t *locality_of = execution->operation.comm->group->membership->locality_of;
    for (uint32_t k = 0; k < plan->num_posts + plan->num_reads; k++) {
        uint32_t step = execution->note_steps[k].step, locality = 0;
        uint32_t site =
            awaits_place(execution, step) ? next_late(execution, step, &locality) : COHORT__NO_SITE;
        if (site == COHORT__NO_SITE)
            continue;
        used = cohort__describe_append(text, used, capacity,
                                       " waits until site %u (locality %u) has read an earlier "
                                       "note;",
                                       site, locality_of[site]);
    }
    return used;
}
