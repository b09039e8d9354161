/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/execution.h"

#include "collectives/exec/activity.h"
#include "runtime/base/container.h"

static const struct cohort__step *step_at(const struct cohort__execution *execution, uint32_t step)
{
    return &execution->plan->steps[step];
}

static struct cohort__pieces pieces_of(const struct cohort__execution *execution, uint32_t step)
{
    return cohort__pieces_of_step(execution->plan, step_at(execution, step), execution->bases);
}

/* One of the blocks of a COPY, REDUCE or ZERO. */
static struct cohort__pieces operand(const struct cohort__execution *execution, uint32_t step,
                                     uint32_t index)
{
    struct cohort__pieces pieces = pieces_of(execution, step);
    pieces.block_refs += index;
    pieces.num_blocks = 1;
    return pieces;
}

/* COPY, ZERO, REDUCE ------------------------------------------------------------------------ */

static cohort_status compute(struct cohort__execution *execution, uint32_t step)
{
    struct cohort__pieces to = operand(execution, step, 0);
    struct cohort__pieces from;
    switch ((enum cohort__step_kind)step_at(execution, step)->kind) {
    case COHORT__STEP_COPY:
        from = operand(execution, step, 1);
        cohort__pieces_copy(&to, &from);
        return COHORT_OK;
    case COHORT__STEP_ZERO:
        cohort__pieces_zero(&to);
        return COHORT_OK;
    default: {
        struct cohort__pieces left = operand(execution, step, 1);
        struct cohort__pieces right = operand(execution, step, 2);
        return cohort__execution_reduce(execution, step, cohort__pieces_contiguous(&to),
                                        cohort__pieces_contiguous(&left),
                                        cohort__pieces_contiguous(&right));
    }
    }
}

static cohort_status perform_compute(struct cohort__activity *activity)
{
    return compute(activity->execution, activity->step);
}

static void start_compute(struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *what = step_at(execution, step);
    bool is_users =
        what->kind == COHORT__STEP_REDUCE && cohort__execution_is_users(execution, step);
    if (what->bytes == 0) {
        cohort__execution_step_over(execution, step);
    } else if (what->bytes <= COHORT__ON_THE_SPOT_BYTES && !is_users) {
        compute(execution, step); /* only the user's operations can fail */
        cohort__execution_step_over(execution, step);
    } else {
        struct cohort__activity *activity = cohort__activity_create(execution, step);
        if (activity && is_users)
            cohort__activity_work(activity, perform_compute, cohort__activity_finish);
        else if (activity)
            cohort__activity_chore(activity, perform_compute, cohort__activity_finish);
    }
}

/* SEND --------------------------------------------------------------------------------------- */

static cohort_status pack(struct cohort__activity *activity)
{
    cohort__pieces_pack(activity->buffer, &activity->pieces);
    return COHORT_OK;
}

static void send_away(struct cohort__execution *execution, uint32_t step)
{
    struct cohort__activity *activity = cohort__activity_create(execution, step);
    if (!activity)
        return;
    const size_t bytes = step_at(execution, step)->bytes;
    const void *in_one = cohort__pieces_contiguous(&activity->pieces);
    if (bytes == 0 || in_one)
        cohort__activity_send(activity, in_one, bytes);
    else
        cohort__activity_send_packed(activity, bytes, pack);
}

static void loan_returned(struct cohort__actor *actor, struct cohort__item *item)
{
    (void)actor;
    struct cohort__activity *activity =
        COHORT_CONTAINER_OF(item, struct cohort__activity, loan.returned);
    struct cohort__execution *execution = activity->execution;
    cohort__execution_enter(execution);
    cohort__activity_finish(activity);
    cohort__execution_leave(execution);
}

/* To a site of this locality. Few bytes go with the message. More are lent. */
static void send_here(struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *what = step_at(execution, step);
    struct cohort__operation *operation = &execution->operation;
    struct cohort__message *message =
        cohort__message_create(COHORT__KIND_DATA, execution->plan->this_site, operation->generation,
                               operation->fingerprint, cohort__message_tag(what->phase, what->tag));
    if (!message) {
        cohort__operation_fail_with(&execution->operation, COHORT_ERR_NO_MEMORY,
                                    "no memory for a message");
        return;
    }
    message->bytes = what->bytes;
    if (what->bytes <= COHORT__MESSAGE_INLINE_BYTES) {
        struct cohort__pieces pieces = pieces_of(execution, step);
        cohort__pieces_pack(message->inline_data, &pieces);
        cohort__execution_step_over(execution, step);
    } else {
        struct cohort__activity *activity = cohort__activity_create(execution, step);
        if (!activity) {
            cohort__message_release(message);
            return;
        }
        activity->kind = COHORT__ACTIVITY_LOAN;
        activity->loan.returned.run = loan_returned;
        activity->loan.owner = &operation->comm->actor;
        activity->loan.pieces = &activity->pieces;
        message->loan = &activity->loan;
    }
    cohort__group_deliver(operation->comm->group, what->peer, message);
}

static void send(struct cohort__execution *execution, uint32_t step)
{
    if (cohort__group_is_local(execution->operation.comm->group, step_at(execution, step)->peer))
        send_here(execution, step);
    else
        send_away(execution, step);
}

/* RECV --------------------------------------------------------------------------------------- */

/* Copies the data of MESSAGE, in any of its places, to where it belongs. */
static void take_data(const struct cohort__pieces *to, const struct cohort__message *message)
{
    if (message->loan)
        cohort__pieces_copy(to, message->loan->pieces);
    else if (message->arrival)
        cohort__pieces_unpack(to, message->arrival->data);
    else
        cohort__pieces_unpack(to, message->inline_data);
}

static cohort_status perform_take(struct cohort__activity *activity)
{
    take_data(&activity->pieces, activity->message);
    return COHORT_OK;
}

static cohort_status unpack(struct cohort__activity *activity)
{
    cohort__pieces_unpack(&activity->pieces, activity->buffer);
    return COHORT_OK;
}

static void fetched(struct cohort__activity *activity)
{
    if (activity->buffer)
        cohort__activity_chore(activity, unpack, cohort__activity_finish);
    else
        cohort__activity_finish(activity);
}

/* STEP is posted, and MESSAGE is for it. Takes MESSAGE. */
static void receive(struct cohort__execution *execution, uint32_t step,
                    struct cohort__message *message)
{
    size_t bytes = step_at(execution, step)->bytes;
    if (message->bytes != bytes) {
        cohort__operation_fail_with(&execution->operation, COHORT_ERR_MISMATCH,
                                    "site %u sent %zu bytes where %zu were expected",
                                    message->source_site, message->bytes, bytes);
        cohort__message_release(message);
        return;
    }
    bool announced = message->kind == COHORT__KIND_ANNOUNCE;
    if (!announced && bytes <= COHORT__ON_THE_SPOT_BYTES) {
        struct cohort__pieces to = pieces_of(execution, step);
        take_data(&to, message);
        cohort__message_release(message);
        cohort__execution_step_over(execution, step);
        return;
    }
    struct cohort__activity *activity = cohort__activity_create(execution, step);
    if (!activity) {
        cohort__message_release(message);
    } else if (announced) {
        cohort__activity_fetch(activity, message, cohort__pieces_contiguous(&activity->pieces),
                               fetched);
    } else {
        activity->message = message;
        cohort__activity_chore(activity, perform_take, cohort__activity_finish);
    }
}

const struct cohort__step_mode cohort__byte_mode = {
    .send = send,
    .receive = receive,
    .compute = start_compute,
};
