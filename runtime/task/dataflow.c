/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/slab.h"
#include "runtime/task/dormant.h"
#include "runtime/task/join.h"
#include "runtime/task/scope.h"
#include "runtime/task/task.h"
#include "runtime/task/worker.h"

/* A task that is queued as soon as its inputs are complete. One in a scope may be given up before
 * that. */
struct dataflow {
    struct cohort__extended_task task; /* first: it is freed as a future */
    struct cohort__join *join;
    cohort_dataflow_function *function;
    void *arg;
    struct cohort__dormant *in_scope; /* behind the values, of a task in a scope, or NULL */
    void *values[];                   /* as many as the join has futures */
};

static cohort_status run(void *arg)
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

static void cancel(void *arg, const struct cohort__error *why)
{
    (void)why;
    cohort__join_give_up(((struct dataflow *)arg)->join);
}

static void complete(struct cohort__join *join)
{
    struct dataflow *flow = join->owner;
    if (!flow->in_scope) {
        cohort__inputs_end(&join->inputs);
        cohort__task_follow(&flow->task.task);
        return;
    }
    cohort__dormant_wake(flow->in_scope);
    cohort__join_over(join);
}

static void start(struct dataflow *flow, const char *name, const void *caller)
{
    if (flow->in_scope)
        cohort__dormant_init(flow->in_scope, &flow->task.task, &flow->join->inputs);
    cohort__join_start(flow->join, name, caller);
    if (flow->in_scope)
        cohort__dormant_begin(flow->in_scope, flow->task.scope);
}

/* NULL: there is no memory, and the references are not taken. */
static struct dataflow *create(cohort_future *const *futures, size_t count,
                               cohort_dataflow_function *function, void *arg)
{
    cohort_scope *scope = cohort__scope_current();
    struct cohort__join *join = cohort__join_create(futures, count, scope != NULL);
    if (!join)
        return NULL; /* else COUNT is no more than what fits into memory */
    struct dataflow *flow = cohort__slab_alloc(sizeof(*flow) + count * sizeof(flow->values[0]) +
                                               (scope ? sizeof(*flow->in_scope) : 0));
    if (!flow) {
        cohort__slab_free(join);
        return NULL;
    }
    cohort__extended_task_init(&flow->task, run, flow, (cohort__any_function *)function, scope);
    flow->task.cancel = cancel;
    join->complete = complete;
    join->owner = flow;
    flow->join = join;
    flow->function = function;
    flow->arg = arg;
    flow->in_scope = scope ? (struct cohort__dormant *)(void *)&flow->values[count] : NULL;
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
    start(flow, name, caller);
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
