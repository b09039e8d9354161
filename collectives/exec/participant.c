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

/* Nobody sends anything in a meeting. */
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
        cohort__visit_start(operation);
}

void cohort__visit_stalled(struct cohort__operation *operation)
{
    struct cohort__visit *visit = (struct cohort__visit *)operation;
    uint32_t missing[COHORT__VISIT_ASKED];
    uint32_t num = cohort__visit_missing(visit, missing, COHORT__VISIT_ASKED);
    uint32_t num_before = visit->num_asked;
    visit->num_asked = (uint8_t)(num < COHORT__VISIT_ASKED ? num : COHORT__VISIT_ASKED);
    cohort__visit_overdue(visit);
    for (uint32_t i = 0; i < visit->num_asked; i++) {
        if (i >= num_before || visit->asked[i] != missing[i])
            visit->answers[i] = COHORT__ANSWER_NONE;
        visit->asked[i] = missing[i];
        if (visit->answers[i] == COHORT__ANSWER_COMPLETED) {
            cohort__fail_forgotten(operation, missing[i]);
            return;
        }
        cohort__operation_ask(operation, missing[i], 1);
    }
}

static void on_answer(struct cohort__operation *operation, uint32_t site,
                      enum cohort__answer answer)
{
    struct cohort__visit *visit = (struct cohort__visit *)operation;
    for (uint32_t i = 0; i < visit->num_asked; i++)
        if (visit->asked[i] == site)
            visit->answers[i] = (uint8_t)answer;
}

static enum cohort__answer answer_of(const struct cohort__visit *visit, uint32_t site)
{
    for (uint32_t i = 0; i < visit->num_asked; i++)
        if (visit->asked[i] == site)
            return (enum cohort__answer)visit->answers[i];
    return COHORT__ANSWER_NONE;
}

static size_t on_describe(const struct cohort__operation *operation, char *text, size_t used,
                          size_t capacity)
{
    const struct cohort__visit *visit = (const struct cohort__visit *)operation;
    uint32_t missing[COHORT__VISIT_ASKED];
    uint32_t num = cohort__visit_missing(visit, missing, COHORT__VISIT_ASKED);
    uint32_t told = num < COHORT__VISIT_ASKED ? num : COHORT__VISIT_ASKED;
    char what[96];
    cohort__signature_describe(&operation->signature, what, sizeof(what));
    used = cohort__describe_append(text, used, capacity,
                                   "generation %" PRIu64 ", %s:", operation->generation, what);
    for (uint32_t i = 0; i < told; i++)
        used = cohort__describe_append(text, used, capacity,
                                       " waits for site %u (locality %u), %s;", missing[i],
                                       operation->comm->group->membership->locality_of[missing[i]],
                                       cohort__describe_answer(answer_of(visit, missing[i])));
    if (num > told)
        used = cohort__describe_append(text, used, capacity, " and for %u more sites;", num - told);
    return cohort__describe_append(text, used, capacity, "\n");
}

/* The caller's futures of the rows, which all complete with the call. Without memory for one, that
 * one fails at once. */
static void rows_create(struct cohort__visit *visit, cohort_future **ret_rows, uint32_t num_sites)
{
    visit->rows = cohort__slab_alloc(num_sites * sizeof(*visit->rows));
    for (uint32_t row = 0; row < num_sites; row++) {
        cohort_future *future = visit->rows ? cohort__future_create() : NULL;
        if (visit->rows)
            visit->rows[row] = future;
        ret_rows[row] = future ? future : cohort__future_no_memory();
    }
}

void cohort__visit_rows_complete(struct cohort__visit *visit)
{
    const struct cohort__operation *operation = &visit->operation;
    uint32_t num_sites = operation->comm->group->membership->num_sites;
    for (uint32_t row = 0; row < num_sites; row++)
        if (visit->rows[row])
            cohort__future_complete(visit->rows[row], operation->failure.status,
                                    operation->failure.status ? &operation->failure : NULL);
    cohort__slab_free(visit->rows);
}

static const struct cohort__operation_handlers handlers = {
    .start = on_start,
    .message = on_message,
    .fail = cohort__visit_failing,
    .stalled = cohort__visit_stalled,
    .answer = on_answer,
    .peer_died = on_peer_died,
    .describe = on_describe,
    .release = cohort__visit_release,
};

cohort_future *cohort__meeting_start(const struct cohort__meeting_call *call)
{
    cohort_future *future = cohort__future_create();
    struct cohort__visit *visit = future ? cohort__slab_alloc(sizeof(*visit)) : NULL;
    if (!visit) {
        if (future)
            cohort__future_fail(future, COHORT_ERR_NO_MEMORY, "no memory for a call");
        cohort_future_unref(future);
        const struct cohort__error error = {COHORT_ERR_NO_MEMORY, NULL};
        return cohort__rejection_start(call->comm, call->generation, call->signature, &error,
                                       call->ret_rows);
    }
    visit->operation = (struct cohort__operation){
        .handlers = &handlers,
        .comm = call->comm,
        .future = future,
        .generation = call->generation,
        .fingerprint = call->fingerprint,
    };
    visit->operation.signature = *call->signature;
    visit->meeting = NULL;
    visit->num_asked = 0;
    visit->kind = call->kind;
    visit->in = (unsigned char *)call->in;
    visit->out = call->out;
    visit->root = call->root;
    visit->shift = call->shift;
    visit->op = call->op;
    visit->rows = NULL;
    if (call->ret_rows)
        rows_create(visit, call->ret_rows, call->comm->group->membership->num_sites);
    cohort__op_ref(call->op);
    cohort__operation_call(&visit->operation);
    return future;
}
