/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/execution.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/comm/remote.h"
#include "runtime/task/future.h"

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* One block for everything, laid out behind the struct. */
static struct cohort__execution *allocate(const struct cohort__plan *plan)
{
    size_t num = plan->num_steps;
    size_t head = aligned(sizeof(struct cohort__execution));
    size_t arrays = aligned(num * (sizeof(void *) + 2 * sizeof(uint32_t) + 2));
    unsigned char *block = aligned_alloc(64, head + arrays + aligned(plan->tmp_bytes));
    if (!block)
        return NULL;
    struct cohort__execution *execution = (struct cohort__execution *)block;
    execution->held = (void **)(block + head);
    execution->waits = (uint32_t *)(execution->held + num);
    execution->ready = execution->waits + num;
    execution->states = (uint8_t *)(execution->ready + num);
    execution->answers = execution->states + num;
    execution->bases[COHORT__SPACE_TMP] = block + head + arrays;
    return execution;
}

static void release(struct cohort__operation *operation)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    struct cohort__plan_entry *entry = execution->entry;
    struct cohort__execution *none = NULL;
    cohort__op_unref(execution->op);
    if (!atomic_compare_exchange_strong(&entry->spare, &none, execution))
        free(execution);
    cohort__plan_entry_unref(entry);
}

/* Steps ------------------------------------------------------------------------------------ */

void cohort__execution_enter(struct cohort__execution *execution)
{
    execution->is_entered = true;
}

void cohort__execution_leave(struct cohort__execution *execution)
{
    struct cohort__operation *operation = &execution->operation;
    while (execution->ready_first < execution->ready_end && !operation->failure.status)
        cohort__step_start(execution, execution->ready[execution->ready_first++]);
    execution->is_entered = false;
    bool over = operation->failure.status || execution->num_left == 0;
    if (over && execution->num_busy == 0)
        cohort__operation_ended(operation);
}

/* The endpoint's calls ---------------------------------------------------------------------- */

static void start(struct cohort__operation *operation)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    const struct cohort__plan *plan = execution->plan;
    cohort__execution_enter(execution);
    if (cohort__remote_any_dead(operation->comm))
        cohort__execution_peer_died(operation);
    for (uint32_t step = 0; step < plan->num_steps; step++)
        if (plan->steps[step].num_waits == 0)
            execution->ready[execution->ready_end++] = step;
    cohort__execution_leave(execution);
}

static void on_message(struct cohort__operation *operation, struct cohort__message *message)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    cohort__execution_enter(execution);
    cohort__step_message(execution, message);
    cohort__execution_leave(execution);
}

static const struct cohort__operation_handlers handlers = {
    .start = start,
    .message = on_message,
    .fail = cohort__execution_failing,
    .stalled = cohort__execution_stalled,
    .answer = cohort__execution_answer,
    .peer_died = cohort__execution_peer_died,
    .describe = cohort__execution_describe,
    .release = release,
};

static void init(struct cohort__execution *execution, const struct cohort__execution_call *call,
                 cohort_future *future)
{
    const struct cohort__plan *plan = call->entry->plan;
    execution->operation = (struct cohort__operation){
        .handlers = &handlers,
        .comm = call->comm,
        .future = future,
        .generation = call->generation,
        .fingerprint = call->fingerprint,
    };
    if (call->rejected)
        cohort__error_copy(&execution->operation.rejected, call->rejected);
    execution->entry = call->entry;
    execution->plan = plan;
    execution->bases[COHORT__SPACE_IN] = (unsigned char *)call->in;
    execution->bases[COHORT__SPACE_OUT] = call->out;
    execution->op = call->op;
    cohort__op_ref(call->op);
    execution->datatype = call->datatype;
    execution->num_left = plan->num_steps;
    execution->num_busy = 0;
    execution->ready_first = 0;
    execution->ready_end = 0;
    execution->is_entered = false;
    for (uint32_t step = 0; step < plan->num_steps; step++)
        execution->waits[step] = plan->steps[step].num_waits;
    memset(execution->states, COHORT__STEP_IDLE, plan->num_steps);
    memset(execution->answers, COHORT__ANSWER_NONE, plan->num_steps);
}

cohort_future *cohort__execution_start(const struct cohort__execution_call *call)
{
    cohort_future *future = cohort__future_create();
    struct cohort__execution *execution = atomic_exchange(&call->entry->spare, NULL);
    if (!execution)
        execution = allocate(call->entry->plan);
    if (!future || !execution) {
        free(execution);
        if (future) {
            cohort__future_fail(future, COHORT_ERR_NO_MEMORY, "no memory for a plan of %u steps",
                                call->entry->plan->num_steps);
        }
        cohort__plan_entry_unref(call->entry);
        return future ? future : cohort__future_no_memory();
    }
    init(execution, call, future);
    cohort__operation_call(&execution->operation);
    return future;
}
