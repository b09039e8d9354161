/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/meeting_call.h"

#include <inttypes.h>

#include "collectives/comm/endpoint.h"
#include "collectives/exec/participant.h"
#include "collectives/exec/rejection.h"
#include "collectives/exec/stall.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/future.h"

struct call {
    struct cohort__operation operation; /* first */
    struct cohort__participant participant;
    cohort_future **rows; /* the references that complete them, one for each site; or NULL */
};

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

static void on_start(struct cohort__operation *operation)
{
    struct cohort__participant *participant = &((struct call *)operation)->participant;
    struct cohort__refusal refusal = {0};
    if (cohort__operation_fail_if_broken(operation))
        return;
    cohort__participant_enter(participant, &refusal);
    if (!refusal.error.status)
        return; /* mostly */
    operation->are_all_told |= refusal.is_told;
    cohort__operation_fail(operation, &refusal.error);
    cohort__error_fini(&refusal.error);
}

static void on_told(struct cohort__participant *participant, const struct cohort__error *error)
{
    struct call *call = COHORT_CONTAINER_OF(participant, struct call, participant);
    if (error && !call->operation.failure.status)
        cohort__error_copy(&call->operation.failure, error);
    if (call->operation.failure.status) /* mostly not */
        cohort__participant_tell_outside(participant);
    cohort__operation_ended(&call->operation);
}

static void on_fail(struct cohort__operation *operation)
{
    struct cohort__participant *participant = &((struct call *)operation)->participant;
    if (!participant->meeting)
        cohort__operation_tell(operation, true);
    else if (!cohort__participant_fail(participant))
        return; /* it will be told */
    cohort__operation_ended(operation);
}

static void on_stalled(struct cohort__operation *operation)
{
    struct cohort__inquiry inquiry;
    if (!cohort__participant_inquires(&((struct call *)operation)->participant, &inquiry))
        return;
    for (uint32_t i = 0; i < inquiry.num_sites; i++) {
        if (inquiry.answers[i] == COHORT__ANSWER_COMPLETED) {
            cohort__fail_forgotten(operation, inquiry.sites[i]);
            return;
        }
        cohort__operation_ask(operation, inquiry.sites[i], 1);
    }
}

static void on_answer(struct cohort__operation *operation, uint32_t site,
                      enum cohort__answer answer)
{
    cohort__participant_answered(&((struct call *)operation)->participant, site, answer);
}

static size_t on_describe(const struct cohort__operation *operation, char *text, size_t used,
                          size_t capacity)
{
    const uint32_t *locality_of = operation->comm->group->membership->locality_of;
    struct cohort__inquiry inquiry;
    uint32_t num =
        cohort__participant_missing(&((const struct call *)operation)->participant, &inquiry);
    char what[96];
    cohort__signature_describe(&operation->signature, what, sizeof(what));
    used = cohort__describe_append(text, used, capacity,
                                   "generation %" PRIu64 ", %s:", operation->generation, what);
    for (uint32_t i = 0; i < inquiry.num_sites; i++)
        used = cohort__describe_append(
            text, used, capacity, " waits for site %u (locality %u), %s;", inquiry.sites[i],
            locality_of[inquiry.sites[i]],
            cohort__describe_answer((enum cohort__answer)inquiry.answers[i]));
    if (num > inquiry.num_sites)
        used = cohort__describe_append(text, used, capacity, " and for %u more sites;",
                                       num - inquiry.num_sites);
    return cohort__describe_append(text, used, capacity, "\n");
}

/* The caller's futures of the rows. All complete with the call. If there is no memory for one of
 * them, that one fails at once. */
static void rows_create(struct call *call, cohort_future **ret_rows, uint32_t num_sites)
{
    call->rows = cohort__slab_alloc(num_sites * sizeof(*call->rows));
    for (uint32_t row = 0; row < num_sites; row++) {
        cohort_future *future = call->rows ? cohort__future_create() : NULL;
        if (call->rows)
            call->rows[row] = future;
        ret_rows[row] = future ? future : cohort__future_no_memory();
    }
}

/* Completes them with the outcome of the operation. */
static void rows_complete(struct call *call)
{
    const struct cohort__operation *operation = &call->operation;
    uint32_t num_sites = operation->comm->group->membership->num_sites;
    for (uint32_t row = 0; row < num_sites; row++)
        if (call->rows[row])
            cohort__future_complete(call->rows[row], operation->failure.status,
                                    operation->failure.status ? &operation->failure : NULL);
    cohort__slab_free(call->rows);
}

static void on_release(struct cohort__operation *operation)
{
    struct call *call = (struct call *)operation;
    cohort__participant_leave(&call->participant);
    if (call->rows)
        rows_complete(call);
    cohort__op_unref(call->participant.op);
    cohort__slab_free(call);
}

static const struct cohort__operation_handlers handlers = {
    .start = on_start,
    .message = on_message,
    .fail = on_fail,
    .stalled = on_stalled,
    .answer = on_answer,
    .peer_died = on_peer_died,
    .describe = on_describe,
    .release = on_release,
};

static struct call *call_create(const struct cohort__meeting_call *what, cohort_future *future)
{
    struct call *call = cohort__slab_alloc(sizeof(*call));
    if (!call)
        return NULL;
    call->operation = (struct cohort__operation){
        .handlers = &handlers,
        .comm = what->comm,
        .future = future,
        .generation = what->generation,
        .fingerprint = what->fingerprint,
    };
    call->operation.signature = *what->signature;
    struct cohort__participant *participant = &call->participant;
    participant->operation = &call->operation;
    participant->told = on_told;
    participant->kind = what->kind;
    participant->in = (unsigned char *)what->in;
    participant->out = what->out;
    participant->count = what->signature->count;
    participant->datatype = what->signature->datatype;
    participant->op = what->op;
    participant->subgroup = COHORT__SUBGROUP_ALL;
    participant->rank = what->comm->this_site;
    participant->root = what->root;
    participant->shift = what->shift;
    participant->index = 0;
    participant->is_ready = true;
    participant->meeting = NULL;
    call->rows = NULL;
    return call;
}

cohort_future *cohort__meeting_call_start(const struct cohort__meeting_call *what)
{
    cohort_future *future = cohort__future_create();
    struct call *call = future ? call_create(what, future) : NULL;
    if (!call) {
        if (future)
            cohort__future_fail(future, COHORT_ERR_NO_MEMORY, "no memory for a call");
        cohort_future_unref(future);
        const struct cohort__error error = {COHORT_ERR_NO_MEMORY, NULL};
        return cohort__rejection_start(what->comm, what->generation, what->signature, &error,
                                       what->ret_rows);
    }
    if (what->ret_rows)
        rows_create(call, what->ret_rows, what->comm->group->membership->num_sites);
    cohort__op_ref(what->op);
    cohort__operation_call(&call->operation);
    return future;
}
