/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/remote.h"
#include "collectives/exec/byte_steps.h"
#include "collectives/exec/execution_stall.h"
#include "collectives/exec/failing.h"
#include "collectives/exec/meet.h"
#include "collectives/exec/note_steps.h"
#include "collectives/exec/object_steps.h"
#include "collectives/exec/rejection.h"
#include "collectives/exec/sparse_steps.h"
#include "collectives/exec/steps.h"
#include "runtime/task/future.h"

static void leave(struct cohort__execution *execution)
{
    struct cohort__operation *operation = &execution->operation;
    while (execution->ready_first < execution->ready_end && !operation->failure.status)
        cohort__step_start(execution, execution->ready[execution->ready_first++]);
    bool finished = execution->num_left == 0 && execution->num_busy == 0;
    if (finished && execution->mode->finish && !operation->failure.status)
        execution->mode->finish(execution);
    execution->is_entered = false;
    bool over = operation->failure.status || execution->num_left == 0;
    if (over && execution->num_busy == 0) {
        cohort__note_steps_end(execution);
        cohort__operation_ended(operation);
    }
}

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static const struct cohort__step_mode *mode_of(const struct cohort__plan_entry *entry)
{
    return entry->key.flags & COHORT__PLAN_SPARSE    ? &cohort__sparse_mode
           : entry->key.flags & COHORT__PLAN_OBJECTS ? &cohort__object_mode
                                                     : &cohort__byte_mode;
}

/* One block of memory for everything: where the arrays lie behind the struct. */
struct form {
    size_t rows;
    size_t meets;
    size_t notes;
    size_t tmp;
    size_t slots;
    size_t end;
};

static size_t num_rows_of(const struct cohort__plan_entry *entry)
{
    return entry->key.flags & COHORT__PLAN_ROWS ? entry->plan->num_sites : 0;
}

static struct form form_of(const struct cohort__plan_entry *entry)
{
    const struct cohort__plan *plan = entry->plan;
    struct form form = {.rows = aligned(sizeof(struct cohort__execution))};
    form.meets = form.rows + aligned(plan->num_steps * (sizeof(void *) + 2 * sizeof(uint32_t) + 2) +
                                     num_rows_of(entry) * sizeof(cohort_future *));
    form.notes = form.meets + aligned(plan->num_meetings * sizeof(struct cohort__meet));
    form.tmp = form.notes +
               aligned((plan->num_posts + plan->num_reads) * sizeof(struct cohort__note_step));
    form.slots = form.tmp + aligned(plan->tmp_bytes);
    form.end =
        form.slots + (mode_of(entry)->has_slots ? aligned(cohort__object_slots_bytes(plan)) : 0);
    return form;
}

size_t cohort__execution_bytes(const struct cohort__plan_entry *entry)
{
    return entry->plan ? form_of(entry).end : 0;
}

static struct cohort__execution *allocate(const struct cohort__plan_entry *entry)
{
    const struct form form = form_of(entry);
    const size_t num = entry->plan->num_steps, num_rows = num_rows_of(entry);
    unsigned char *block = aligned_alloc(64, form.end);
    if (!block)
        return NULL;
    struct cohort__execution *execution = (struct cohort__execution *)block;
    execution->num_rows = (uint32_t)num_rows;
    execution->rows = (cohort_future **)(block + form.rows);
    execution->held = (void **)(execution->rows + num_rows);
    execution->waits = (uint32_t *)(execution->held + num);
    execution->ready = execution->waits + num;
    execution->states = (uint8_t *)(execution->ready + num);
    execution->answers = execution->states + num;
    execution->mode = mode_of(entry);
    execution->leave = leave;
    execution->meets = (struct cohort__meet *)(void *)(block + form.meets);
    execution->note_steps = (struct cohort__note_step *)(void *)(block + form.notes);
    execution->bases[COHORT__SPACE_TMP] = block + form.tmp;
    execution->slots[COHORT__SPACE_IN] = (struct cohort__blob **)(void *)(block + form.slots);
    return execution;
}

/* The rows that are not complete fail with ERROR. */
static void fail_rows(struct cohort__operation *operation, const struct cohort__error *error)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    for (uint32_t row = 0; row < execution->num_rows; row++) {
        cohort_future *future = execution->rows[row];
        execution->rows[row] = NULL;
        if (future)
            cohort__future_complete(future, error->status, error);
    }
}

static void release(struct cohort__operation *operation)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    fail_rows(operation, &operation->failure);
    if (execution->mode->release)
        execution->mode->release(execution);
    struct cohort__plan_entry *entry = execution->entry;
    struct cohort__execution *none = NULL;
    cohort__op_unref(execution->op);
    cohort__error_fini(&execution->objection);
    if (execution->by_site) /* mostly not */
        free(execution->by_site);
    if (!atomic_compare_exchange_strong(&entry->spare, &none, execution))
        free(execution);
    cohort__plan_entry_unref(entry);
}

/* The endpoint's calls ---------------------------------------------------------------------- */

static void start(struct cohort__operation *operation)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    const struct cohort__plan *plan = execution->plan;
    cohort__execution_enter(execution);
    if (cohort__remote_may_be_lost(operation->comm->group))
        cohort__execution_peer_died(operation);
    cohort__meets_enter(execution);
    cohort__note_steps_begin(execution);
    for (uint32_t step = 0; step < plan->num_steps; step++)
        if (plan->steps[step].num_waits == 0)
            execution->ready[execution->ready_end++] = step;
    leave(execution);
}

/* Also within the GUARD, which hands in what has come too early. */
static void on_message(struct cohort__operation *operation, struct cohort__message *message)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    bool was_entered = execution->is_entered;
    cohort__execution_enter(execution);
    cohort__step_message(execution, message);
    if (!was_entered)
        leave(execution);
}

static const struct cohort__operation_handlers handlers = {
    .start = start,
    .message = on_message,
    .fail = cohort__execution_failing,
    .stalled = cohort__execution_stalled,
    .answer = cohort__execution_answer,
    .find_absent = cohort__execution_find_absent,
    .num_sends = cohort__execution_num_sends,
    .peer_died = cohort__execution_peer_died,
    .describe = cohort__execution_describe,
    .refused = fail_rows,
    .release = release,
};

static void take_back_objects(void *out, size_t num)
{
    cohort_objects_fini(out, num);
}

static void take_back_list(void *out, size_t num)
{
    (void)num;
    cohort_site_objects_fini(out);
}

static struct cohort__handout handout_of(const struct cohort__execution *execution, void *out)
{
    if (execution->mode == &cohort__sparse_mode)
        return (struct cohort__handout){take_back_list, out, 1};
    if (execution->mode == &cohort__object_mode)
        return (struct cohort__handout){take_back_objects, out, execution->plan->out_bytes};
    return (struct cohort__handout){0};
}

static cohort_status init(struct cohort__execution *execution,
                          const struct cohort__execution_call *call, cohort_future *future)
{
    const struct cohort__plan *plan = call->entry->plan;
    execution->operation = (struct cohort__operation){
        .handlers = &handlers,
        .comm = call->comm,
        .future = future,
        .generation = call->generation,
        .fingerprint = call->fingerprint,
        .sequel = call->sequel,
    };
    execution->operation.signature = *call->signature;
    execution->entry = call->entry;
    execution->plan = plan;
    execution->operation.handout = handout_of(execution, call->out);
    execution->bases[COHORT__SPACE_IN] = (unsigned char *)call->in;
    execution->bases[COHORT__SPACE_OUT] = call->out;
    execution->bases[COHORT__SPACE_CHECK] = (unsigned char *)&execution->check;
    execution->check = call->check;
    execution->objection = (struct cohort__error){0};
    if (call->objection)
        cohort__error_copy(&execution->objection, call->objection);
    execution->op = call->op;
    cohort__op_ref(call->op);
    execution->datatype = call->datatype;
    execution->num_left = plan->num_steps;
    execution->num_busy = 0;
    execution->ready_first = 0;
    execution->ready_end = 0;
    execution->is_entered = false;
    execution->by_site = NULL;
    for (uint32_t step = 0; step < plan->num_steps; step++)
        execution->waits[step] = plan->steps[step].num_waits;
    memset(execution->states, COHORT__STEP_IDLE, plan->num_steps);
    memset(execution->answers, COHORT__ANSWER_NONE, plan->num_steps);
    cohort_status status =
        execution->mode->init ? execution->mode->init(execution, call) : COHORT_OK;
    cohort__meets_init(execution);
    cohort__note_steps_init(execution);
    return status;
}

/* Makes the caller's futures of the rows. If there is no memory for one of them, only that one
 * fails, at once. */
static void init_rows(struct cohort__execution *execution, cohort_future **ret_rows)
{
    for (uint32_t row = 0; row < execution->num_rows; row++) {
        execution->rows[row] = cohort__future_create_about(COHORT__WAIT_COLLECTIVE);
        ret_rows[row] = execution->rows[row] ? execution->rows[row] : cohort__future_no_memory();
    }
}

/* The call can't start for lack of memory, as WHY says. Takes ENTRY, and FUTURE and EXECUTION where
 * they are there. */
static cohort_future *no_memory(const struct cohort__execution_call *call, cohort_future *future,
                                struct cohort__execution *execution, const char *why)
{
    cohort_future *rejected = cohort__rejection_no_memory(
        call->comm, call->generation, call->signature, why, call->sequel, call->ret_rows);
    free(execution);
    cohort__plan_entry_unref(call->entry);
    if (future)
        cohort__future_fail(future, COHORT_ERR_NO_MEMORY, "no memory"); /* nobody has it */
    cohort_future_unref(future);
    return rejected;
}

cohort_future *cohort__execution_start(const struct cohort__execution_call *call)
{
    cohort_future *future = cohort__future_create_about(COHORT__WAIT_COLLECTIVE);
    struct cohort__execution *execution = atomic_exchange(&call->entry->spare, NULL);
    if (!execution)
        execution = allocate(call->entry);
    if (!future || !execution) {
        char why[48];
        snprintf(why, sizeof(why), "no memory for a plan of %u steps",
                 call->entry->plan->num_steps);
        return no_memory(call, future, execution, why);
    }
    if (init(execution, call, future)) {
        cohort__error_fini(&execution->objection);
        cohort__op_unref(execution->op);
        return no_memory(call, future, execution, cohort_error_message());
    }
    init_rows(execution, call->ret_rows);
    cohort__operation_call(&execution->operation);
    return future;
}
