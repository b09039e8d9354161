/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "collectives/exec/activity.h"
#include "collectives/exec/execution.h"
#include "collectives/exec/meet.h"
#include "collectives/exec/note_steps.h"
#include "runtime/base/container.h"
#include "runtime/task/future.h"

/* What each kind of step does. So many bytes are copied or reduced on the spot. More is work for a
 * worker, so that the endpoint's turn stays short: the thread that receives from the network may be
 * the one that runs it. To copy a page takes less than to hand it to a worker. Not measured by
 * itself. */
enum { ON_THE_SPOT_BYTES = 4096 };

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

cohort_status cohort__step_reduce(const struct cohort__execution *execution, uint32_t step,
                                  void *result, const void *left, const void *right)
{
    const struct cohort__step *what = step_at(execution, step);
    if (what->op == COHORT__STEP_OP_MIN)
        return cohort__op_apply(COHORT_MIN, result, left, right, what->bytes / sizeof(int16_t),
                                COHORT_INT16);
    return cohort__op_apply(execution->op, result, left, right,
                            what->bytes / cohort_datatype_size(execution->datatype),
                            execution->datatype);
}

bool cohort__step_is_users(const struct cohort__execution *execution, uint32_t step)
{
    return step_at(execution, step)->op == COHORT__STEP_OP_CALL &&
           !cohort__op_is_builtin(execution->op);
}

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
        return cohort__step_reduce(execution, step, cohort__pieces_contiguous(&to),
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
    bool is_users = what->kind == COHORT__STEP_REDUCE && cohort__step_is_users(execution, step);
    if (what->bytes == 0) {
        cohort__execution_step_over(execution, step);
    } else if (what->bytes <= ON_THE_SPOT_BYTES && !is_users) {
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

/* GUARD -------------------------------------------------------------------------------------- */

/* Of the collective only early SENDs have begun. Unless the sites agree, nothing else will. */
static void look_at_agreement(struct cohort__execution *execution, uint32_t step)
{
    cohort_status status = cohort__check_values_judge(&execution->check);
    if (!status) {
        cohort__execution_step_over(execution, step);
        cohort__operation_agree(&execution->operation);
        return;
    }
    execution->operation.is_refused = true;
    execution->operation.are_all_told = true;
    if (execution->objection.status) {
        cohort__error_set(&execution->objection, status, "%s",
                          cohort__error_message(&execution->objection));
        cohort__operation_fail(&execution->operation, &execution->objection);
    } else {
        char text[256];
        cohort__check_values_describe(&execution->check, execution->datatype, text, sizeof(text));
        cohort__operation_fail_with(&execution->operation, status, "%s", text);
    }
}

/* SEND --------------------------------------------------------------------------------------- */

/* The payload is in one piece now. */
static void start_send(struct cohort__activity *activity)
{
    cohort__activity_send(activity,
                          activity->buffer ? activity->buffer
                                           : cohort__pieces_contiguous(&activity->pieces),
                          step_at(activity->execution, activity->step)->bytes);
}

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
    size_t bytes = step_at(execution, step)->bytes;
    if (bytes == 0 || cohort__pieces_contiguous(&activity->pieces)) {
        start_send(activity);
        return;
    }
    activity->buffer = malloc(bytes);
    if (!activity->buffer) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for packing %zu bytes", bytes);
        activity->next = cohort__activity_finish;
        cohort__activity_done(activity, COHORT_ERR_NO_MEMORY);
    } else if (bytes <= ON_THE_SPOT_BYTES) {
        pack(activity);
        start_send(activity);
    } else {
        cohort__activity_chore(activity, pack, start_send);
    }
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
    if (!announced && bytes <= ON_THE_SPOT_BYTES) {
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

/* Whatever the blocks stand for ---------------------------------------------------------------- */

/* An agreement is about bytes, even if the call is about objects. */
static const struct cohort__step_mode *mode_of(const struct cohort__execution *execution,
                                               uint32_t step)
{
    return step_at(execution, step)->phase == COHORT__PHASE_CHECK ? &cohort__byte_mode
                                                                  : execution->mode;
}

void cohort__step_message(struct cohort__execution *execution, struct cohort__message *message)
{
    uint32_t step =
        cohort__plan_find_recv(execution->plan, cohort__message_phase(message->tag),
                               message->source_site, message->tag & ((1u << COHORT__TAG_BITS) - 1));
    uint8_t state = step == UINT32_MAX ? COHORT__STEP_OVER : execution->states[step];
    if (state == COHORT__STEP_POSTED) {
        mode_of(execution, step)->receive(execution, step, message);
    } else if (state == COHORT__STEP_IDLE) {
        execution->states[step] = COHORT__STEP_ARRIVED;
        execution->held[step] = message;
    } else {
        cohort__operation_fail_with(&execution->operation, COHORT_ERR_PROTOCOL,
                                    "site %u sent a message that nobody waits for (tag %x)",
                                    message->source_site, message->tag);
        cohort__message_release(message);
    }
}

void cohort__execution_row_done(struct cohort__execution *execution, uint32_t row)
{
    if (row >= execution->num_rows || !execution->rows[row])
        return; /* the caller has none, or there was no memory for it */
    cohort__future_fulfil(execution->rows[row], NULL);
    execution->rows[row] = NULL;
}

static void done(struct cohort__execution *execution, uint32_t step)
{
    if (execution->mode->done) {
        execution->mode->done(execution, step);
        return;
    }
    cohort__execution_row_done(execution, step_at(execution, step)->peer);
    cohort__execution_step_over(execution, step);
}

void cohort__step_start(struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *what = step_at(execution, step);
    bool has_arrived = execution->states[step] == COHORT__STEP_ARRIVED;
    switch ((enum cohort__step_kind)what->kind) {
    case COHORT__STEP_JOIN:
        cohort__execution_step_over(execution, step);
        break;
    case COHORT__STEP_DONE:
        done(execution, step);
        break;
    case COHORT__STEP_SEND:
        mode_of(execution, step)->send(execution, step);
        break;
    case COHORT__STEP_RECV:
        execution->states[step] = COHORT__STEP_POSTED;
        if (has_arrived) /* receive takes the message, also if it fails */
            mode_of(execution, step)->receive(execution, step, execution->held[step]);
        break;
    case COHORT__STEP_COPY:
    case COHORT__STEP_ZERO:
    case COHORT__STEP_REDUCE:
        mode_of(execution, step)->compute(execution, step);
        break;
    case COHORT__STEP_MEET:
        cohort__meet_start(execution, step);
        break;
    case COHORT__STEP_POST:
        cohort__note_post(execution, step);
        break;
    case COHORT__STEP_READ:
        cohort__note_read(execution, step);
        break;
    case COHORT__STEP_GUARD:
        look_at_agreement(execution, step);
        break;
    }
}
