/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/meeting_call.h"

#include <inttypes.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/group.h"
#include "collectives/comm/operation.h"
#include "collectives/exec/attendance.h"
#include "collectives/exec/execution.h"
#include "collectives/exec/meeting.h"
#include "collectives/exec/rejection.h"
#include "collectives/exec/stall.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/base/trace.h"
#include "runtime/task/future.h"

struct call {
    struct cohort__operation operation; /* first */
    cohort_future **rows; /* the references that complete them, one for each site; or NULL */
    uint32_t num_segments;
    uint32_t num_entered;
    uint32_t num_inside;                       /* that have entered, and are not over */
    struct cohort__participant participants[]; /* in each segment */
};

/* The one in the earliest segment that is not over. NULL: there is none, or it has not entered. */
static struct cohort__participant *current(struct call *call)
{
    for (uint32_t i = 0; i < call->num_segments && call->num_inside > 0; i++)
        if (call->participants[i].meeting)
            return &call->participants[i];
    return NULL;
}

/* No site sends data in a meeting. */
static void on_message(struct cohort__operation *operation, struct cohort__message *message)
{
    cohort__operation_fail_with(operation, COHORT_ERR_PROTOCOL,
                                "site %u sent a message that nobody waits for (tag %x)",
                                message->source_site, message->tag);
    cohort__message_release(message);
}

static void on_peer_died(struct cohort__operation *operation)
{
    (void)cohort__operation_fail_if_broken(operation);
}

/* False: the call has failed, and may be gone. */
static bool enter(struct call *call, struct cohort__participant *participant)
{
    struct cohort__operation *operation = &call->operation;
    struct cohort__refusal refusal = {0};
    cohort__participant_enter(participant, &refusal);
    if (participant->meeting) {
        call->num_entered++;
        call->num_inside++;
    }
    if (!refusal.error.status)
        return participant->meeting; /* mostly; else it has been told that the call fails */
    operation->are_all_told |= refusal.is_told;
    cohort__operation_fail(operation, &refusal.error);
    cohort__error_fini(&refusal.error);
    return false;
}

/* It is one phase, with one step. */
__attribute__((noinline, cold)) static void trace(const struct cohort__operation *operation,
                                                  enum cohort__trace_kind kind)
{
    cohort__step_trace_write(operation, kind,
                             &(struct cohort__step_trace){
                                 .what = COHORT__TRACE_STEP_MEET,
                                 .phase = 1,
                                 .peer = operation->comm->this_site,
                                 .level = cohort__step_trace_level_of_all(operation),
                             });
}

/* Enters all segments at once: who has come decides who has left a call out. */
static void on_start(struct cohort__operation *operation)
{
    struct call *call = (struct call *)operation;
    if (cohort__operation_fail_if_broken(operation))
        return;
    if (__builtin_expect(cohort__trace_is_on, 0))
        trace(operation, COHORT__TRACE_STEP);
    for (uint32_t i = 0; i < call->num_segments; i++)
        if (!enter(call, &call->participants[i]))
            return;
}

/* A segment is over for PARTICIPANT. That of the last one stays inside until the call is released,
 * which is later. */
static void leave(struct call *call, struct cohort__participant *participant)
{
    call->num_inside--;
    if (call->num_inside > 0)
        cohort__participant_leave(participant);
}

/* The call has failed, so its other segments fail, now or later. The last one first: an earlier one
 * that failed would make room for the next, which would begin to copy. */
static void fail_segments(struct call *call)
{
    for (uint32_t i = call->num_segments; i > 0 && call->num_inside > 0; i--) {
        struct cohort__participant *participant = &call->participants[i - 1];
        if (participant->meeting && cohort__participant_fail(participant))
            leave(call, participant);
    }
}

static void on_told(struct cohort__participant *participant, const struct cohort__error *error)
{
    struct call *call = (struct call *)participant->operation;
    bool fails = error && !call->operation.failure.status;
    if (fails)
        cohort__error_copy(&call->operation.failure, error);
    if (call->operation.failure.status) /* mostly not */
        cohort__participant_tell_outside(participant);
    leave(call, participant);
    if (fails)
        fail_segments(call);
    if (call->num_inside > 0)
        return;
    if (__builtin_expect(cohort__trace_is_on, 0))
        trace(&call->operation, COHORT__TRACE_OVER);
    cohort__operation_ended(&call->operation);
}

static void on_fail(struct cohort__operation *operation)
{
    struct call *call = (struct call *)operation;
    if (call->num_entered < call->num_segments)
        cohort__failure_tell(operation, true);
    fail_segments(call);
    if (call->num_inside == 0) /* else some will be told */
        cohort__operation_ended(operation);
}

static bool on_stalled(struct cohort__operation *operation)
{
    const struct cohort__participant *participant = current((struct call *)operation);
    bool asks = false;
    if (participant)
        cohort__participant_ask(participant, &asks);
    return asks;
}

static void on_answer(struct cohort__operation *operation, uint32_t site,
                      enum cohort__answer answer)
{
    const struct cohort__participant *participant = current((struct call *)operation);
    if (participant)
        cohort__participant_answered(participant, site, answer);
}

static uint32_t on_find_absent(const struct cohort__operation *operation)
{
    const struct cohort__participant *participant = current((struct call *)operation);
    return participant ? cohort__participant_absent(participant) : COHORT__NO_SITE;
}

static size_t on_describe(const struct cohort__operation *operation, char *text, size_t used,
                          size_t capacity)
{
    const struct cohort__participant *participant = current((struct call *)operation);
    char what[96];
    cohort__signature_describe(&operation->signature, what, sizeof(what));
    used = cohort__describe_append(text, used, capacity,
                                   "generation %" PRIu64 ", %s:", operation->generation, what);
    if (participant)
        used = cohort__participant_describe(participant, "", text, used, capacity);
    return cohort__describe_append(text, used, capacity, "\n");
}

/* The caller's futures of the rows. All complete with the call. If there is no memory for one of
 * them, that one fails at once. */
static void rows_create(struct call *call, cohort_future **ret_rows, uint32_t num_sites)
{
    call->rows = cohort__slab_alloc(num_sites * sizeof(*call->rows));
    for (uint32_t row = 0; row < num_sites; row++) {
        cohort_future *future =
            call->rows ? cohort__future_create_about(COHORT__WAIT_COLLECTIVE) : NULL;
        if (call->rows)
            call->rows[row] = future;
        ret_rows[row] = future ? future : cohort__future_no_memory();
    }
}

/* Completes them with the outcome of the operation. */
static void rows_complete(struct cohort__operation *operation, const struct cohort__error *error)
{
    struct call *call = (struct call *)operation;
    cohort_future **rows = call->rows;
    call->rows = NULL;
    for (uint32_t row = 0; rows && row < operation->comm->group->membership->num_sites; row++)
        if (rows[row])
            cohort__future_complete(rows[row], error->status, error->status ? error : NULL);
    if (rows)
        cohort__slab_free(rows);
}

static void on_release(struct cohort__operation *operation)
{
    struct call *call = (struct call *)operation;
    for (uint32_t i = 0; i < call->num_segments; i++)
        cohort__participant_leave(&call->participants[i]);
    if (call->rows)
        rows_complete(operation, &operation->failure);
    cohort__op_unref(call->participants[0].terms.op);
    cohort__slab_free(call);
}

static const struct cohort__operation_handlers handlers = {
    .start = on_start,
    .message = on_message,
    .fail = on_fail,
    .stalled = on_stalled,
    .answer = on_answer,
    .find_absent = on_find_absent,
    .peer_died = on_peer_died,
    .describe = on_describe,
    .refused = rows_complete,
    .release = on_release,
};

static void participant_init(struct cohort__participant *participant,
                             const struct cohort__planned_call *planned, struct call *call)
{
    participant->operation = &call->operation;
    participant->told = on_told;
    participant->terms = planned->terms;
    participant->in = (unsigned char *)planned->in;
    participant->out = planned->out;
    participant->subgroup = COHORT__SUBGROUP_ALL;
    participant->rank = planned->comm->this_site;
    participant->index = 0;
    participant->phase = 1;
    participant->is_ready = true;
    participant->meeting = NULL;
}

/* The participants in all segments, of which the first one is made for the whole call. */
static void cut(struct call *call, size_t segment_bytes)
{
    const struct cohort__participant whole = call->participants[0];
    for (uint32_t i = 0; i < call->num_segments; i++) {
        struct cohort__participant *participant = &call->participants[i];
        size_t begin = i * segment_bytes, left = whole.terms.stride - begin;
        *participant = whole;
        participant->in = whole.in ? whole.in + begin : NULL;
        participant->out = whole.out ? whole.out + begin : NULL;
        participant->terms.count =
            (left < segment_bytes ? left : segment_bytes) / whole.terms.element;
        participant->index = i;
    }
}

static struct call *call_create(const struct cohort__planned_call *planned, cohort_future *future)
{
    const uint32_t num_segments = planned->segments.num;
    struct call *call =
        cohort__slab_alloc(sizeof(*call) + num_segments * sizeof(call->participants[0]));
    if (!call)
        return NULL;
    call->operation = (struct cohort__operation){
        .handlers = &handlers,
        .comm = planned->comm,
        .future = future,
        .generation = planned->generation,
        .fingerprint = planned->fingerprint,
        .sequel = planned->sequel,
    };
    call->operation.signature = planned->signature;
    call->rows = NULL;
    call->num_segments = num_segments;
    call->num_entered = 0;
    call->num_inside = 0;
    participant_init(&call->participants[0], planned, call);
    if (num_segments > 1)
        cut(call, planned->segments.bytes);
    return call;
}

cohort_future *cohort__meeting_call_start(const struct cohort__planned_call *planned)
{
    cohort_future *future = cohort__future_create_about(COHORT__WAIT_COLLECTIVE);
    struct call *call = future ? call_create(planned, future) : NULL;
    if (!call) {
        if (future)
            cohort__future_fail(future, COHORT_ERR_NO_MEMORY, "no memory"); /* nobody has it */
        cohort_future_unref(future);
        return cohort__rejection_no_memory(planned, "no memory for a call");
    }
    if (planned->ret_rows)
        rows_create(call, planned->ret_rows, planned->comm->group->membership->num_sites);
    cohort__op_ref(planned->terms.op);
    cohort__operation_call(&call->operation);
    return future;
}
