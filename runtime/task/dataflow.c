/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/slab.h"
#include "runtime/task/join.h"
#include "runtime/task/scope.h"
#include "runtime/task/task.h"
#include "runtime/task/worker.h"

/* A task that is queued as soon as its inputs are complete. */
struct dataflow {
    struct cohort__extended_task task; /* first: it is freed as a future */
    struct cohort__join *join;
    cohort_dataflow_function *function;
    void *arg;
    void *values[]; /* as many as the join has futures */
};

cohort_status cohort__dataflow_run(void *arg)
{
    struct dataflow *flow = arg;
    struct cohort__join *join = flow->join;
    cohort_status status;
    const cohort_future *failed = cohort__join_failed(join);
    if (failed) {
        status = cohort__future_status(failed);
        cohort__future_error(failed, cohort__error_slot());
    } else {
        void *value = NULL;
        for (size_t i = 0; i < join->count; i++)
            flow->values[i] = cohort__future_value(join->members[i].future);
        status = flow->function(flow->values, join->count, &value, flow->arg);
        if (status == COHORT_OK)
            flow->task.task.future.value = value;
    }
    cohort__join_destroy(join);
    return status;
}

void cohort__dataflow_cancel(void *arg)
{
    cohort__join_destroy(((struct dataflow *)arg)->join);
}

static void complete(struct cohort__join *join)
{
    cohort__task_follow(join->owner);
}

/* NULL: there is no memory, and the references are not taken. */
static struct dataflow *create(cohort_future *const *futures, size_t count,
                               cohort_dataflow_function *function, void *arg)
{
    struct cohort__join *join = cohort__join_create(futures, count);
    if (!join)
        return NULL; /* else COUNT is no more than what fits into memory */
    struct dataflow *flow = cohort__slab_alloc(sizeof(*flow) + count * sizeof(flow->values[0]));
    if (!flow) {
        cohort__slab_free(join);
        return NULL;
    }
    cohort__extended_task_init(&flow->task, cohort__dataflow_run, flow,
                               (cohort__any_function *)function, cohort__scope_current());
    join->complete = complete;
    join->owner = &flow->task.task;
    flow->join = join;
    flow->function = function;
    flow->arg = arg;
    return flow;
}

cohort_future *cohort_dataflow(cohort_future *const *futures, size_t count,
                               cohort_dataflow_function *function, void *arg)
{
    const char *name = "cohort_dataflow";
    const void *caller = __builtin_return_address(0);
    cohort_future *refused = count > 0 ? cohort__futures_check(futures, count, name, caller) : NULL;
    if (refused)
        return refused;
    struct dataflow *flow = NULL;
    if (!function) {
        refused = cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: function is NULL", name);
        goto fail;
    }
    flow = create(futures, count, function, arg);
    if (!flow) {
        refused = cohort__future_no_memory();
        goto fail;
    }
    if (!cohort__scheduler_count_task()) {
        refused = cohort__future_of_status(cohort__scheduler_refuse(name), cohort__error_slot());
        goto fail;
    }
    cohort__join_start(flow->join, name, caller);
    return &flow->task.task.future;
fail:
    if (flow) {
        cohort__scope_leave(flow->task.scope);
        cohort__slab_free(flow->join);
    }
    cohort__slab_free(flow);
    cohort__futures_unref(futures, count);
    return refused;
}
