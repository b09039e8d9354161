/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/future.h"
#include "runtime/task/inputs.h"
#include "runtime/task/scope.h"
#include "runtime/task/task.h"
#include "runtime/task/worker.h"

/* Tasks that begin when futures are complete (cohort_then, cohort_dataflow), and the future that is
 * complete when all of some are (cohort_when_all). */

/* dormant -------------------------------------------------------------------------------------- */

/* What a task in a scope has besides that is to begin when its inputs are complete. It is woken
 * then, or when the scope is cancelled: whoever finds it in the queue then gives it up. So no scope
 * waits for what comes from outside of it. Its functions are not inlined: a task that is in no
 * scope would need their frames, too. */
struct dormant {
    struct cohort__task *task;
    struct cohort__inputs *inputs; /* of that, until it is woken */
    struct cohort__scope_watch watch;
    atomic_uchar progress;
};

/* It may be woken before it has begun to sleep. The second of the two queues the task. */
enum { ASLEEP = 1, WOKEN = 2 };

static void step(struct dormant *dormant, unsigned char step)
{
    if (atomic_fetch_or(&dormant->progress, step) != (ASLEEP | WOKEN) - step)
        return;
    cohort__inputs_end(dormant->inputs);
    cohort__scope_unwatch(&dormant->watch);
    cohort__task_follow(dormant->task);
}

/* To be called once, as a waiter's notify, when the inputs are complete, or are not waited for any
 * more. DORMANT may be gone when this returns. */
__attribute__((noinline)) static void dormant_wake(struct dormant *dormant)
{
    cohort_future *future = &dormant->task->future;
    step(dormant, WOKEN);
    cohort_future_unref(future);
}

static void dormant_cancel(struct cohort__scope_watch *watch)
{
    step(COHORT_CONTAINER_OF(watch, struct dormant, watch), WOKEN);
}

static void dormant_release(struct cohort__scope_watch *watch)
{
    cohort_future_unref(&COHORT_CONTAINER_OF(watch, struct dormant, watch)->task->future);
}

/* TASK, which nobody else knows yet, is to sleep. It has two references more: for DORMANT, and for
 * who calls dormant_wake. */
__attribute__((noinline)) static void
dormant_init(struct dormant *dormant, struct cohort__task *task, struct cohort__inputs *inputs)
{
    dormant->task = task;
    dormant->inputs = inputs;
    dormant->watch.cancel = dormant_cancel;
    dormant->watch.release = dormant_release;
    atomic_init(&dormant->progress, 0);
    atomic_fetch_add_explicit(&task->future.refs, 2, memory_order_relaxed);
}

/* Who is to wake it knows of it. From now on SCOPE, its own, may wake it, too. */
__attribute__((noinline)) static void dormant_begin(struct dormant *dormant, cohort_scope *scope)
{
    cohort__scope_watch(scope, &dormant->watch);
    step(dormant, ASLEEP);
}

/* then ----------------------------------------------------------------------------------------- */

/* A task that is queued as soon as another future is complete. One in a scope may be given up
 * before that. */
struct then {
    struct cohort__extended_task task; /* first: it is freed as a future */
    struct cohort__waiter waiter;
    struct cohort__inputs inputs; /* until the source is complete */
    cohort_future *source;
    cohort_then_function *function;
    void *arg;
    struct dormant in_scope[]; /* one, of a task in a scope */
};

static cohort_status then_run(void *arg)
{
    struct then *then = arg;
    return then->function(then->source, then->arg);
}

static void then_cancel(void *arg, const struct cohort__error *why)
{
    struct then *then = arg;
    (void)why;
    if (!cohort__future_is_complete(then->source))
        cohort__future_forget(then->source, &then->waiter);
    cohort_future_unref(then->source);
}

/* The source is complete; or the waiter was forgotten, since the task was given up. */
static void then_follow(struct cohort__waiter *waiter)
{
    struct then *then = COHORT_CONTAINER_OF(waiter, struct then, waiter);
    if (then->task.scope) {
        dormant_wake(then->in_scope);
    } else {
        cohort__inputs_end(&then->inputs);
        cohort__task_follow(&then->task.task);
    }
}

/* A worker only queues the task. */
static void then_notify(struct cohort__waiter *waiter)
{
    if (cohort__worker_self)
        then_follow(waiter);
    else
        cohort__waiter_follow(waiter, then_follow);
}

static void then_describe(struct cohort__inputs *inputs, uint64_t since)
{
    struct then *then = COHORT_CONTAINER_OF(inputs, struct then, inputs);
    struct cohort__inputs_line line = {.since = since, .num = 1, .wanted = 1};
    cohort__inputs_set_of(&line, &then->task.task.future);
    if (cohort__future_is_complete(then->source))
        return;
    cohort__inputs_add(&line, cohort__future_what(then->source));
    cohort__inputs_tell(&line);
}

static inline __attribute__((always_inline)) cohort_future *
then_in(cohort_scope *scope, cohort_future *future, cohort_then_function *function, void *arg,
        cohort__any_function *shown, const void *caller)
{
    struct then *then = cohort__slab_alloc(sizeof(*then) + (scope ? sizeof(then->in_scope[0]) : 0));
    if (!then) {
        cohort_future_unref(future);
        return cohort__future_no_memory();
    }
    if (!cohort__scheduler_count_task()) {
        cohort__slab_free(then);
        cohort_future_unref(future);
        return cohort__future_of_status(cohort__scheduler_refuse("cohort_then"),
                                        cohort__error_slot());
    }
    cohort__extended_task_init(&then->task, then_run, then, shown, scope);
    then->task.cancel = then_cancel;
    then->waiter = (struct cohort__waiter){.notify = then_notify, .is_owner = !scope};
    then->source = future;
    then->function = function;
    then->arg = arg;
    cohort__inputs_init(&then->inputs);
    if (!cohort__future_is_complete(future))
        cohort__inputs_begin(&then->inputs, then_describe);
    if (scope)
        dormant_init(then->in_scope, &then->task.task, &then->inputs);
    if (!cohort__future_wait_as_owner(future, &then->waiter, "cohort_then", caller))
        then_follow(&then->waiter);
    if (scope)
        dormant_begin(then->in_scope, scope);
    return &then->task.task.future;
}

cohort_future *cohort_then(cohort_future *future, cohort_then_function *function, void *arg)
{
    const void *caller = __builtin_return_address(0);
    if (!future || !function) {
        cohort_future_unref(future);
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "cohort_then: %s is NULL",
                                      future ? "function" : "future");
    }
    cohort__future_check(future, "cohort_then", caller);
    return then_in(cohort__scope_current(), future, function, arg, (cohort__any_function *)function,
                   caller);
}

cohort_future *cohort__then_outside(cohort_future *future, cohort_then_function *function,
                                    void *arg, cohort__any_function *shown)
{
    return then_in(NULL, future, function, arg, shown, __builtin_return_address(0));
}

/* when all ------------------------------------------------------------------------------------- */

/* Waits until all of some futures are complete, and keeps the references to them until it is
 * destroyed. What cohort_when_all and cohort_dataflow have in common. The owner of one that is
 * forgetful may give it up before; it stays until its waiters have been notified. */
struct join_member {
    struct cohort__waiter waiter;
    struct join *join;
    cohort_future *future;
};
struct join {
    struct cohort__inputs inputs; /* the owner ends them */
    size_t num_seen_done;         /* in front, for the tick */
    /* Called once, when all futures are complete, or have been forgotten, as a waiter's notify is.
     * May destroy JOIN. */
    void (*complete)(struct join *join);
    void *owner;                /* for complete */
    _Atomic size_t num_pending; /* plus one until all waiters are registered */
    _Atomic uint32_t users;     /* the owner, and for a forgetful one also its waiters */
    size_t count;
    struct join_member members[];
};

/* Whether this was the last one. */
static bool arrive(struct join *join)
{
    return atomic_fetch_sub_explicit(&join->num_pending, 1, memory_order_acq_rel) == 1;
}

static struct join *join_of(struct cohort__waiter *waiter)
{
    return COHORT_CONTAINER_OF(waiter, struct join_member, waiter)->join;
}

static void join_follow(struct cohort__waiter *waiter)
{
    struct join *join = join_of(waiter);
    join->complete(join);
}

static void join_notify(struct cohort__waiter *waiter)
{
    if (arrive(join_of(waiter)))
        cohort__waiter_follow(waiter, join_follow);
}

/* NULL if there is no memory; no message is set. Else it has the references to FUTURES. */
static struct join *join_create(cohort_future *const *futures, size_t count, bool is_forgetful)
{
    struct join *join = NULL;
    if (count < SIZE_MAX / 2 / sizeof(struct join_member))
        join = cohort__slab_alloc(sizeof(*join) + count * sizeof(struct join_member));
    if (!join)
        return NULL;
    atomic_init(&join->num_pending, count + 1);
    atomic_init(&join->users, is_forgetful ? 2 : 1);
    cohort__inputs_init(&join->inputs);
    join->num_seen_done = 0;
    join->count = count;
    for (size_t i = 0; i < count; i++)
        join->members[i] =
            (struct join_member){.waiter = {.notify = join_notify, .is_owner = !is_forgetful},
                                 .join = join,
                                 .future = futures[i]};
    return join;
}

static void join_describe(struct cohort__inputs *inputs, uint64_t since)
{
    struct join *join = COHORT_CONTAINER_OF(inputs, struct join, inputs);
    const size_t num = atomic_load_explicit(&join->num_pending, memory_order_relaxed);
    struct cohort__inputs_line line = {.since = since, .num = num, .wanted = num};
    cohort__inputs_set_of(&line, join->owner);
    cohort__inputs_add_pending(&line, &join->members[0].future, sizeof(join->members[0]),
                               join->count, &join->num_seen_done);
    cohort__inputs_tell(&line);
}

/* The owner has set complete and owner. JOIN may be gone when this returns. FUNCTION, CALLER: as in
 * cohort__future_wait_as_owner. */
static void join_start(struct join *join, const char *function, const void *caller)
{
    for (size_t i = 0; i < join->count; i++)
        if (!cohort__future_wait_as_owner(join->members[i].future, &join->members[i].waiter,
                                          function, caller))
            (void)arrive(join);
    if (atomic_load_explicit(&join->num_pending, memory_order_relaxed) > 1)
        cohort__inputs_begin(&join->inputs, join_describe);
    if (arrive(join))
        join->complete(join);
}

/* All futures are complete: the first one in their order that failed, or NULL. */
static const cohort_future *join_failed(const struct join *join)
{
    for (size_t i = 0; i < join->count; i++)
        if (cohort__future_status(join->members[i].future) != COHORT_OK)
            return join->members[i].future;
    return NULL;
}

/* The waiters of a forgetful join have all been notified, and complete is through with it. */
static void join_over(struct join *join)
{
    if (atomic_load_explicit(&join->users, memory_order_acquire) == 1 ||
        atomic_fetch_sub_explicit(&join->users, 1, memory_order_acq_rel) == 1)
        cohort__slab_free(join);
}

/* Gives the references to the futures back. The owner calls this once. give_up: while some of them
 * may be pending, of which JOIN, which is forgetful, is not told any more. */
static void join_destroy(struct join *join)
{
    for (size_t i = 0; i < join->count; i++)
        cohort_future_unref(join->members[i].future);
    join_over(join);
}

static void join_give_up(struct join *join)
{
    for (size_t i = 0; i < join->count; i++)
        if (!cohort__future_is_complete(join->members[i].future))
            cohort__future_forget(join->members[i].future, &join->members[i].waiter);
    join_destroy(join);
}

/* The owner of the join is the future that cohort_when_all has returned. */
static void all_complete(struct join *join)
{
    struct cohort__error error = {0};
    cohort_future *result = join->owner;
    cohort__inputs_end(&join->inputs);
    const cohort_future *failed = join_failed(join);
    if (failed)
        cohort__future_error(failed, &error);
    join_destroy(join);
    cohort__future_complete(result, error.status, &error);
    cohort__error_fini(&error);
}

cohort_future *cohort_when_all(cohort_future *const *futures, size_t count)
{
    if (count == 0)
        return cohort_future_of_value(NULL);
    const char *name = "cohort_when_all";
    const void *caller = __builtin_return_address(0);
    cohort_future *refused = cohort__futures_check(futures, count, name, caller);
    if (refused)
        return refused;
    cohort_future *result = cohort__future_create_about(COHORT__WAIT_SEVERAL);
    struct join *join = result ? join_create(futures, count, false) : NULL;
    if (!join) {
        cohort_future_unref(result); /* the completer's reference */
        cohort_future_unref(result);
        cohort__futures_unref(futures, count);
        return cohort__future_no_memory();
    }
    join->complete = all_complete;
    join->owner = result;
    join_start(join, name, caller);
    return result;
}

/* dataflow ------------------------------------------------------------------------------------- */

/* A task that is queued as soon as its inputs are dataflow_complete. One in a scope may be given up
 * before that. */
struct dataflow {
    struct cohort__extended_task task; /* first: it is freed as a future */
    struct join *join;
    cohort_dataflow_function *function;
    void *arg;
    struct dormant *in_scope; /* behind the values, of a task in a scope, or NULL */
    void *values[];           /* as many as the join has futures */
};

static cohort_status dataflow_run(void *arg)
{
    struct dataflow *flow = arg;
    struct join *join = flow->join;
    cohort_status status;
    const cohort_future *failed = join_failed(join);
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
    join_destroy(join);
    return status;
}

static void dataflow_cancel(void *arg, const struct cohort__error *why)
{
    (void)why;
    join_give_up(((struct dataflow *)arg)->join);
}

static void dataflow_complete(struct join *join)
{
    struct dataflow *flow = join->owner;
    if (!flow->in_scope) {
        cohort__inputs_end(&join->inputs);
        cohort__task_follow(&flow->task.task);
        return;
    }
    dormant_wake(flow->in_scope);
    join_over(join);
}

static void start(struct dataflow *flow, const char *name, const void *caller)
{
    if (flow->in_scope)
        dormant_init(flow->in_scope, &flow->task.task, &flow->join->inputs);
    join_start(flow->join, name, caller);
    if (flow->in_scope)
        dormant_begin(flow->in_scope, flow->task.scope);
}

/* NULL: there is no memory, and the references are not taken. */
static struct dataflow *create(cohort_future *const *futures, size_t count,
                               cohort_dataflow_function *function, void *arg)
{
    cohort_scope *scope = cohort__scope_current();
    struct join *join = join_create(futures, count, scope != NULL);
    if (!join)
        return NULL; /* else COUNT is no more than what fits into memory */
    struct dataflow *flow = cohort__slab_alloc(sizeof(*flow) + count * sizeof(flow->values[0]) +
                                               (scope ? sizeof(*flow->in_scope) : 0));
    if (!flow) {
        cohort__slab_free(join);
        return NULL;
    }
    cohort__extended_task_init(&flow->task, dataflow_run, flow, (cohort__any_function *)function,
                               scope);
    flow->task.cancel = dataflow_cancel;
    join->complete = dataflow_complete;
    join->owner = flow;
    flow->join = join;
    flow->function = function;
    flow->arg = arg;
    flow->in_scope = scope ? (struct dormant *)(void *)&flow->values[count] : NULL;
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
