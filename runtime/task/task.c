/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/task.h"

#include <limits.h>
#include <string.h>

#include "runtime/base/bounds.h"
#include "runtime/base/container.h"
#include "runtime/base/options.h"
#include "runtime/base/slab.h"
#include "runtime/base/symbol.h"
#include "runtime/base/trace.h"
#include "runtime/task/blocking.h"
#include "runtime/task/crash.h"
#include "runtime/task/fork.h"
#include "runtime/task/scope.h"
#include "runtime/task/uncaught.h"
#include "runtime/task/worker.h"

enum { CARRIED_OFFSET = (sizeof(struct cohort__extended_task) + 15) / 16 * 16 };

static struct cohort__task *task_of(const struct cohort__work *work)
{
    return COHORT_CONTAINER_OF(work, struct cohort__task, work);
}

static inline const struct cohort__extended_task *extended(const struct cohort__task *task)
{
    return task->future.is_extended ? (const struct cohort__extended_task *)task : NULL;
}

cohort__any_function *cohort__task_shown(const struct cohort__task *task)
{
    const struct cohort__extended_task *more = extended(task);
    return more ? more->shown : (cohort__any_function *)task->function;
}

void cohort__task_name(cohort__any_function *shown, char *text, size_t bytes)
{
    void *address;
    memcpy(&address, &shown, sizeof(address));
    cohort__symbol_name(address, text, bytes);
}

static inline void init(struct cohort__task *task, cohort_task_function *function, void *arg)
{
    cohort__future_init(&task->future, 2, COHORT__WAIT_TASK);
    task->future.is_task = true;
    task->future.is_extended = false;
    task->future.priority = COHORT_TASK_NORMAL;
    task->future.may_move =
        atomic_load_explicit(&cohort__scheduler.tasks_move, memory_order_relaxed);
    task->work.run = cohort__task_run;
    task->function = function;
    task->arg = arg;
}

void cohort__extended_task_init(struct cohort__extended_task *task, cohort_task_function *function,
                                void *arg, cohort__any_function *shown, cohort_scope *scope)
{
    init(&task->task, function, arg);
    task->task.future.is_extended = true;
    task->cancel = NULL;
    task->shown = shown;
    task->scope = scope;
    task->fails_scope = task->runs_cancelled = false;
    cohort__scope_enter(scope);
}

/* NULL: in none. */
static cohort_scope *scope_of(const struct cohort__task *task)
{
    const struct cohort__extended_task *more = extended(task);
    return more ? more->scope : NULL;
}

static bool claim(struct cohort__task *task)
{
    atomic_uchar *state = &task->future.claim;
    unsigned char open = COHORT__TASK_OPEN;
    if (cohort__scheduler.num_workers > 1)
        return atomic_compare_exchange_strong_explicit(state, &open, COHORT__TASK_CLAIMED,
                                                       memory_order_acquire, memory_order_relaxed);
    /* Only workers claim tasks, and there is only one worker. */
    if (atomic_load_explicit(state, memory_order_acquire) != COHORT__TASK_OPEN)
        return false;
    atomic_store_explicit(state, COHORT__TASK_CLAIMED, memory_order_relaxed);
    return true;
}

/* Whose reference the end of a task consumes. */
enum role {
    ROLE_OF_QUEUE, /* that of the queue, in which it was found */
    ROLE_OF_BOTH,  /* the same; and the caller, which awaits the task, is about to return its own */
    ROLE_OF_AWAIT, /* none: the queue has its own still, and the caller awaits the task */
};

static __attribute__((noinline)) void tell_scope(const struct cohort__task_context *context,
                                                 struct cohort__task *task, cohort_status status)
{
    if (extended(task)->fails_scope)
        cohort__scope_fail(context->scope, status, &context->error);
}

/* Out of line, since what calls them is to be inlined. */
static __attribute__((noinline, cold)) void trace_begin(const struct cohort__task_context *context)
{
    cohort__trace(COHORT__TRACE_BEGIN, context->outer != NULL, 0, (uintptr_t)context->task,
                  (uintptr_t)context->shown);
}

static __attribute__((noinline, cold)) void trace_end(const struct cohort__task *task,
                                                      cohort_status status)
{
    cohort__trace(COHORT__TRACE_END, (uint32_t)status, 0, (uintptr_t)task, 0);
}

/* TASK's function has returned. The thread may be another one now. ROLE and IS_SPECIAL are
 * constants. */
static inline __attribute__((always_inline)) void finish(struct cohort__task_context *context,
                                                         struct cohort__task *task,
                                                         cohort_status status, enum role role,
                                                         bool is_special)
{
    struct cohort__worker *worker = context->fiber->worker;
    cohort__overflow_check(worker);
    if (context->outer)
        cohort__worker_enter(worker, context->outer);
    else
        cohort__worker_exit(worker);
    cohort__error_slot_set(context->outer_slot);
    worker->is_ending = !context->outer && context->fiber != worker->reserve;
    if (is_special && context->scope && status != COHORT_OK)
        tell_scope(context, task, status);
    if (__builtin_expect(cohort__trace_is_on, 0))
        trace_end(task, status);
    if (role == ROLE_OF_BOTH && cohort__future_is_own(&task->future))
        cohort__future_complete_own(&task->future, status, &context->error);
    else if (role == ROLE_OF_AWAIT)
        cohort__future_complete_held(&task->future, status, &context->error);
    else
        cohort__future_complete(&task->future, status, &context->error);
    worker->is_ending = false;
    if (context->error.text)
        cohort__error_fini(&context->error);
    if (is_special)
        cohort__scope_leave(context->scope);
    cohort__count(&worker->num_finished);
}

static __attribute__((noinline)) void finish_special(struct cohort__task_context *context,
                                                     struct cohort__task *task,
                                                     cohort_status status, enum role role)
{
    finish(context, task, status, role, true);
}

/* The destructors of the task's values may suspend, too. */
static __attribute__((noinline)) void end_special(struct cohort__task_context *context,
                                                  struct cohort__task *task, cohort_status status,
                                                  enum role role)
{
    cohort__task_locals_end(context);
    if (cohort__fork_is_child()) /* of a destructor */
        cohort__fork_end(status);
    finish_special(context, task, status, role);
}

/* The same as finish. */
COHORT__IN_THREAD_OF_NOW static void ended(struct cohort__task_context *context,
                                           struct cohort__task *task, cohort_status status,
                                           enum role role)
{
    if (cohort__fork_is_child())
        cohort__fork_end(status);
    if (__builtin_expect(context->is_special, 0))
        end_special(context, task, status, role);
    else
        finish(context, task, status, role, false);
}

/* TASK, which was claimed, never runs, for the reason ERROR. */
static __attribute__((noinline)) void give_up(struct cohort__task *task,
                                              const struct cohort__error *error, enum role role)
{
    const struct cohort__extended_task *more = extended(task);
    if (more && more->cancel)
        more->cancel(task->arg, error);
    if (role == ROLE_OF_AWAIT)
        cohort__future_complete_held(&task->future, error->status, error);
    else
        cohort__future_complete(&task->future, error->status, error);
}

/* TASK was claimed. If its scope is cancelled, it never runs: then returns false. */
static __attribute__((noinline)) bool may_begin_in(cohort_scope *scope,
                                                   struct cohort__worker *worker,
                                                   struct cohort__task *task, enum role role)
{
    struct cohort__error error = {0};
    if (!cohort__scope_is_cancelled(scope) || extended(task)->runs_cancelled)
        return true;
    cohort__scope_explain(scope, "task", &error);
    give_up(task, &error, role);
    cohort__error_fini(&error);
    cohort__scope_leave(scope);
    cohort__count(&worker->num_finished);
    return false;
}

void cohort__task_refuse(struct cohort__task *task)
{
    cohort_scope *scope = scope_of(task);
    give_up(task, cohort__error_slot(), ROLE_OF_QUEUE);
    cohort__scope_leave(scope);
    cohort__count(&cohort__worker_self->num_finished);
}

/* Calls TASK, which was claimed. */
static inline __attribute__((always_inline)) void execute(struct cohort__worker *worker,
                                                          struct cohort__task *task, enum role role)
{
    struct cohort__task_context context = {
        .shown = (cohort__any_function *)task->function,
        .task = task,
        .identity = (uintptr_t)task,
        .fiber = worker->fiber,
        .outer = worker->context,
    };
    if (__builtin_expect(task->future.is_extended, false)) {
        context.shown = extended(task)->shown;
        context.scope = extended(task)->scope;
        context.is_special = context.scope != NULL;
        if (context.scope && !may_begin_in(context.scope, worker, task, role))
            return;
    }
    if (task->future.may_move)
        context.may_move = !context.outer || context.outer->may_move;
    context.outer_slot = cohort__error_slot_set(&context.error);
    cohort__worker_enter(worker, &context);
    if (__builtin_expect(cohort__trace_is_on, 0))
        trace_begin(&context);
    COHORT__STOPS_EXCEPTIONS;
    ended(&context, task, task->function(task->arg), role);
}

void cohort__task_call(struct cohort__task *task)
{
    execute(cohort__worker_self, task, ROLE_OF_QUEUE);
}

/* Whether the stack of WORKER, which runs now, has the room that TASK asks for. A thread's own
 * stack may be larger than COHORT_STACK, but nobody has reserved its memory. */
static bool has_room(const struct cohort__worker *worker, const struct cohort__task *task)
{
    const struct cohort__fiber *fiber = worker->fiber;
    size_t bytes = (size_t)1 << task->future.stack_exponent;
    return cohort__fiber_room(fiber) >= bytes &&
           (bytes <= cohort__scheduler.options.stack_bytes || !cohort__fiber_is_threads_own(fiber));
}

static inline __attribute__((always_inline)) void begin(struct cohort__task *task)
{
    struct cohort__worker *worker = cohort__worker_self;
    if (task->future.stack_exponent && !has_room(worker, task))
        cohort__worker_run_sized(worker, task);
    else
        execute(worker, task, ROLE_OF_QUEUE);
}

void cohort__task_run(struct cohort__work *work)
{
    if (claim(task_of(work)))
        begin(task_of(work));
    else
        cohort__task_drop(work);
}

void cohort__task_run_bound(struct cohort__work *work)
{
    begin(task_of(work));
}

bool cohort__task_may_move(const struct cohort__work *work)
{
    return work->run == cohort__task_run && task_of(work)->future.may_move;
}

bool cohort__task_is_stale(const struct cohort__work *work)
{
    return work->run == cohort__task_run &&
           atomic_load_explicit(&task_of(work)->future.claim, memory_order_relaxed) !=
               COHORT__TASK_OPEN;
}

void cohort__task_drop(struct cohort__work *work)
{
    cohort_future_unref(&task_of(work)->future);
}

void cohort__task_cancel(struct cohort__work *work)
{
    struct cohort__task *task = task_of(work);
    if (!claim(task)) {
        cohort__task_drop(work);
        return;
    }
    struct cohort__error error = {0};
    cohort_scope *scope = scope_of(task);
    cohort__error_set(&error, COHORT_ERR_CANCELLED,
                      "task: the runtime ended before it was started");
    if (scope && extended(task)->fails_scope)
        cohort__scope_fail(scope, error.status, &error);
    give_up(task, &error, ROLE_OF_QUEUE);
    cohort__scope_leave(scope);
    cohort__error_fini(&error);
}

void cohort__task_follow(struct cohort__task *task)
{
    atomic_store_explicit(&task->future.claim, COHORT__TASK_OPEN, memory_order_release);
    if (cohort__worker_self)
        cohort__worker_follow(cohort__worker_self, &task->work);
    else if (!cohort__scheduler_submit(&task->work, false))
        cohort__task_cancel(&task->work);
}

bool cohort__task_is_open(const cohort_future *future)
{
    return future->is_task &&
           atomic_load_explicit(&future->claim, memory_order_acquire) == COHORT__TASK_OPEN;
}

/* Whether TASK, which is not one like most, may run in place of an await. What is awaited by a task
 * that has its turn since it is old is old itself: if it were put off for tasks that can always go
 * on, the turn would be lost, and so would be the next one. */
static __attribute__((noinline)) bool may_run_in_place(struct cohort__worker *worker,
                                                       const struct cohort__task *task)
{
    if (task->future.stack_exponent && !has_room(worker, task))
        return false;
    return !task->future.gives_way || worker->has_begun_old ||
           (!worker->ready.first && !cohort__worker_poll_is_due(worker));
}

bool cohort__task_try_inline(cohort_future *future)
{
    if (!cohort__task_is_open(future))
        return false;
    struct cohort__worker *worker = cohort__worker_self;
    struct cohort__task *task = (struct cohort__task *)future;
    if ((char *)__builtin_frame_address(0) < worker->fiber->floor ||
        cohort__worker_poll_is_overdue(worker))
        return false;
    if ((future->stack_exponent || future->gives_way) && !may_run_in_place(worker, task))
        return false;
    bool is_taken = cohort__deque_take(&worker->deque, &task->work);
    if (is_taken && cohort__future_is_own(future)) {
        /* Nobody else can claim it. */
        atomic_store_explicit(&future->claim, COHORT__TASK_CLAIMED, memory_order_relaxed);
    } else if (!claim(task)) {
        if (is_taken)
            cohort__task_drop(&task->work);
        return false;
    }
    /* If it was not taken, the queue keeps its own reference until the task is found there. */
    execute(worker, task, is_taken ? ROLE_OF_BOTH : ROLE_OF_AWAIT);
    return true;
}

/* NULL: there is no memory. */
static __attribute__((noinline)) struct cohort__task *create_in(cohort_scope *scope,
                                                                cohort_task_function *function,
                                                                void *arg,
                                                                cohort__any_function *shown)
{
    struct cohort__extended_task *task = cohort__slab_alloc(sizeof(*task));
    if (!task)
        return NULL;
    cohort__extended_task_init(task, function, arg, shown, scope);
    atomic_store_explicit(&task->task.future.claim, COHORT__TASK_OPEN, memory_order_relaxed);
    return &task->task;
}

/* In the scope of the running task. NULL: there is no memory. */
static inline struct cohort__task *create(cohort_task_function *function, void *arg)
{
    const struct cohort__worker *worker = cohort__worker_self;
    const struct cohort__task_context *context =
        worker ? worker->context : cohort__blocking_context();
    if (context && context->scope)
        return create_in(context->scope, function, arg, (cohort__any_function *)function);
    struct cohort__task *task = cohort__slab_alloc(sizeof(*task));
    if (!task)
        return NULL;
    init(task, function, arg);
    atomic_store_explicit(&task->future.claim, COHORT__TASK_OPEN, memory_order_relaxed);
    return task;
}

/* The scheduler does not take TASK, which goes. */
static cohort_future *refuse(struct cohort__task *task, const char *name)
{
    cohort__scope_leave(scope_of(task));
    cohort__slab_free(task);
    return cohort__future_of_status(cohort__scheduler_refuse(name), cohort__error_slot());
}

/* For the public function with the NAME. Takes TASK. */
static inline cohort_future *submit(struct cohort__task *task, const char *name)
{
    return cohort__scheduler_submit(&task->work, true) ? &task->future : refuse(task, name);
}

cohort_future *cohort_async(cohort_task_function *function, void *arg)
{
    if (!function)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "cohort_async: function is NULL");
    struct cohort__task *task = create(function, arg);
    return task ? submit(task, "cohort_async") : cohort__future_no_memory();
}

/* Behind a task, what it carries. */
static void *carried_by(struct cohort__extended_task *task)
{
    return (unsigned char *)task + CARRIED_OFFSET;
}

cohort_future *cohort__task_start_carrying(cohort_scope *scope, uint32_t flags,
                                           cohort_task_function *function,
                                           cohort__any_function *shown, const void *carried,
                                           size_t bytes)
{
    struct cohort__extended_task *task = cohort__slab_alloc(CARRIED_OFFSET + bytes);
    if (!task)
        return cohort__future_no_memory();
    cohort__extended_task_init(task, function, memcpy(carried_by(task), carried, bytes), shown,
                               scope);
    task->fails_scope = flags & COHORT__TASK_FAILS_SCOPE;
    task->runs_cancelled = flags & COHORT__TASK_RUNS_CANCELLED;
    task->task.future.gives_way = flags & COHORT__TASK_GIVES_WAY;
    atomic_store_explicit(&task->task.future.claim, COHORT__TASK_OPEN, memory_order_relaxed);
    return submit(&task->task, "cohort_async");
}

cohort_future *cohort__task_start_outside(cohort_task_function *function, void *arg,
                                          cohort__any_function *shown)
{
    struct cohort__task *task = create_in(NULL, function, arg, shown);
    return task ? submit(task, "cohort_async") : cohort__future_no_memory();
}

cohort_status cohort__task_start_last(cohort_task_function *function, void *arg,
                                      cohort__any_function *shown)
{
    struct cohort__task *task = create_in(NULL, function, arg, shown);
    if (!task)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a task");
    task->future.priority = COHORT_TASK_LOW;
    if (!cohort__lanes_submit(task, 0))
        return cohort_await(refuse(task, "cohort_async"));
    cohort_future_unref(&task->future);
    return COHORT_OK;
}

cohort_status cohort__task_start_in(cohort_scope *scope, cohort_task_function *function, void *arg,
                                    cohort__any_function *shown)
{
    const char *name = "cohort_scope_async";
    struct cohort__task *task = create_in(scope, function, arg, shown);
    if (!task)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for a task", name);
    ((struct cohort__extended_task *)task)->fails_scope = true;
    cohort_future *future = submit(task, name);
    if (future != &task->future)
        return cohort_await(future); /* the error */
    cohort_future_unref(future);
    return COHORT_OK;
}

/* The least exponent that is enough for BYTES. */
static unsigned char exponent_of(size_t bytes)
{
    unsigned char exponent = 0;
    while ((size_t)1 << exponent < bytes)
        exponent++;
    return exponent;
}

/* Where there is no scheduler, the start of the task says so. */
static cohort_status check_worker(const cohort_task_options *options)
{
    unsigned num_workers = cohort__scheduler_hold() ? cohort__scheduler_num_workers() : UINT_MAX;
    cohort__scheduler_release();
    if (options->worker > num_workers)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "worker is %u, not 0 to %u", options->worker,
                           num_workers);
    if (options->mobility == COHORT_TASK_MOVABLE)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "a task for worker %u alone is to be movable",
                           options->worker - 1);
    return COHORT_OK;
}

static cohort_status read_options(cohort_task_options *ret_options,
                                  const cohort_task_options *options, size_t options_bytes)
{
    cohort_task_options read = {0};
    cohort_status status = COHORT_OK;
    if (options)
        status = cohort__options_read(&read, sizeof(read), options, options_bytes,
                                      "cohort_task_options");
    if (status == COHORT_OK && read.stack_bytes > 0 &&
        (read.stack_bytes < COHORT__MIN_STACK_BYTES || read.stack_bytes > COHORT__MAX_STACK_BYTES))
        status = cohort_fail(COHORT_ERR_BAD_PARAMETER, "stack_bytes is %zu, not 0 or %d to %d",
                             read.stack_bytes, COHORT__MIN_STACK_BYTES, COHORT__MAX_STACK_BYTES);
    if (status == COHORT_OK && (unsigned)read.mobility > COHORT_TASK_MOVABLE)
        status = cohort_fail(COHORT_ERR_BAD_PARAMETER, "mobility is %d, not 0 to %d",
                             (int)read.mobility, (int)COHORT_TASK_MOVABLE);
    if (status == COHORT_OK && (unsigned)read.priority > COHORT_TASK_LOW)
        status = cohort_fail(COHORT_ERR_BAD_PARAMETER, "priority is %d, not 0 to %d",
                             (int)read.priority, (int)COHORT_TASK_LOW);
    if (status == COHORT_OK && read.worker > 0)
        status = check_worker(&read);
    if (status == COHORT_OK)
        *ret_options = read;
    return status;
}

cohort_future *cohort_async_with_sized(cohort_task_function *function, void *arg,
                                       const cohort_task_options *options, size_t options_bytes)
{
    const char *name = "cohort_async_with";
    if (!function)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: function is NULL", name);
    cohort_task_options read;
    cohort_status status = read_options(&read, options, options_bytes);
    if (status != COHORT_OK)
        return cohort_future_of_error(status, "%s: %s", name, cohort_error_message());
    struct cohort__task *task = create(function, arg);
    if (!task)
        return cohort__future_no_memory();
    if (read.stack_bytes > 0)
        task->future.stack_exponent = exponent_of(read.stack_bytes);
    if (read.mobility != COHORT_TASK_AS_SET)
        task->future.may_move = read.mobility == COHORT_TASK_MOVABLE;
    if (read.worker > 0)
        task->future.may_move = false;
    if (read.worker == 0 && read.priority == COHORT_TASK_NORMAL)
        return submit(task, name);
    task->future.priority = (unsigned char)read.priority & 3;
    return cohort__lanes_submit(task, read.worker) ? &task->future : refuse(task, name);
}

/* Whether there is nothing else that could run here before the caller goes on. */
static bool is_alone(struct cohort__worker *worker)
{
    return !worker->ready.first && !worker->yielded.first &&
           cohort__deque_is_empty(&worker->deque) && cohort__batch_queue_is_empty(&worker->inbox) &&
           cohort__batch_queue_is_empty(&cohort__scheduler.injected) &&
           !cohort__lanes_have_any(worker) && !cohort__worker_poll_is_due(worker);
}

void cohort_yield(void)
{
    struct cohort__worker *worker = cohort__worker_self;
    if (!worker || !worker->context) {
        static _Thread_local unsigned num_yields;
        cohort__core_yield(&num_yields);
        return;
    }
    if (!is_alone(worker))
        cohort__worker_yield(worker, __builtin_return_address(0));
}

int cohort_worker_index(void)
{
    return cohort__worker_self ? (int)cohort__worker_self->index : -1;
}
