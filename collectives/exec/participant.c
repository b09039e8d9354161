/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/participant.h"

#include <inttypes.h>
#include <stdio.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/remote.h"
#include "collectives/exec/meeting.h"
#include "collectives/exec/rejection.h"
#include "collectives/exec/stall.h"
#include "runtime/base/slab.h"
#include "runtime/task/future.h"

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
    if (!cohort__operation_fail_if_broken(operation))
        cohort__participant_start(operation);
}

static void on_stalled(struct cohort__operation *operation)
{
    struct cohort__inquiry inquiry;
    if (!cohort__participant_inquires((struct cohort__participant *)operation, &inquiry))
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
    cohort__participant_answered((struct cohort__participant *)operation, site, answer);
}

static size_t on_describe(const struct cohort__operation *operation, char *text, size_t used,
                          size_t capacity)
{
    const uint32_t *locality_of = operation->comm->group->membership->locality_of;
    struct cohort__inquiry inquiry;
    uint32_t num =
        cohort__participant_missing((const struct cohort__participant *)operation, &inquiry);
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
static void rows_create(struct cohort__participant *participant, cohort_future **ret_rows,
                        uint32_t num_sites)
{
    participant->rows = cohort__slab_alloc(num_sites * sizeof(*participant->rows));
    for (uint32_t row = 0; row < num_sites; row++) {
        cohort_future *future = participant->rows ? cohort__future_create() : NULL;
        if (participant->rows)
            participant->rows[row] = future;
        ret_rows[row] = future ? future : cohort__future_no_memory();
    }
}

void cohort__participant_rows_complete(struct cohort__participant *participant)
{
    const struct cohort__operation *operation = &participant->operation;
    uint32_t num_sites = operation->comm->group->membership->num_sites;
    for (uint32_t row = 0; row < num_sites; row++)
        if (participant->rows[row])
            cohort__future_complete(participant->rows[row], operation->failure.status,
                                    operation->failure.status ? &operation->failure : NULL);
    cohort__slab_free(participant->rows);
}

static const struct cohort__operation_handlers handlers = {
    .start = on_start,
    .message = on_message,
    .fail = cohort__participant_failing,
    .stalled = on_stalled,
    .answer = on_answer,
    .peer_died = on_peer_died,
    .describe = on_describe,
    .release = cohort__participant_release,
};

cohort_future *cohort__meeting_start(const struct cohort__meeting_call *call)
{
    cohort_future *future = cohort__future_create();
    struct cohort__participant *participant =
        future ? cohort__slab_alloc(sizeof(*participant)) : NULL;
    if (!participant) {
        if (future)
            cohort__future_fail(future, COHORT_ERR_NO_MEMORY, "no memory for a call");
        cohort_future_unref(future);
        const struct cohort__error error = {COHORT_ERR_NO_MEMORY, NULL};
        return cohort__rejection_start(call->comm, call->generation, call->signature, &error,
                                       call->ret_rows);
    }
    participant->operation = (struct cohort__operation){
        .handlers = &handlers,
        .comm = call->comm,
        .future = future,
        .generation = call->generation,
        .fingerprint = call->fingerprint,
    };
    participant->operation.signature = *call->signature;
    participant->meeting = NULL;
    participant->kind = call->kind;
    participant->in = (unsigned char *)call->in;
    participant->out = call->out;
    participant->root = call->root;
    participant->shift = call->shift;
    participant->op = call->op;
    participant->rows = NULL;
    if (call->ret_rows)
        rows_create(participant, call->ret_rows, call->comm->group->membership->num_sites);
    cohort__op_ref(call->op);
    cohort__operation_call(&participant->operation);
    return future;
}
