/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/worker.h"

#include "runtime/base/bounds.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/task/crash.h"
#include "runtime/task/uncaught.h"

enum {
    /* A busy worker polls so often, between two tasks. It balances how long a message waits for
     * its locality against polls that find nothing. Not measured. */
    POLL_NANOSECONDS = 20000,
    /* An await that would run another task by a plain call does not do so if the last poll is so
     * long ago, so that tasks that only await each other in this way don't keep messages and timers
     * waiting. */
    OVERDUE_NANOSECONDS = 100000,
    KEPT = 64,         /* stacks that a worker keeps, besides the thread's own one */
    STACKS_A_POLL = 2, /* given back to the system; so long, about 4 us, nothing else is done */
};

_Thread_local struct cohort__worker *cohort__worker_self __attribute__((tls_model("initial-exec")));

bool cohort__worker_may_leave(void)
{
    if (!atomic_load(&cohort__scheduler.is_stopping))
        return false;
    /* This orders the workers that get here. If two workers have ended the last two tasks, the
     * second one to get here sees the count of the first. */
    atomic_fetch_add(&cohort__scheduler.num_stop_checks, 1);
    return cohort__scheduler_live_tasks() == 0;
}

bool cohort__worker_poll_is_due(const struct cohort__worker *worker)
{
    return cohort__clock_cycles() >= worker->poll_at;
}

bool cohort__worker_poll_is_overdue(const struct cohort__worker *worker)
{
    return cohort__clock_cycles() >=
           worker->poll_at + cohort__clock_cycles_of(OVERDUE_NANOSECONDS - POLL_NANOSECONDS);
}

bool cohort__scheduler_has_ready(void)
{
    return cohort__worker_self && cohort__worker_self->ready.first;
}

bool cohort__scheduler_has_work(void)
{
    return cohort__worker_self && cohort__worker_has_work(cohort__worker_self);
}

void cohort__scheduler_poll_next(void)
{
    struct cohort__worker *worker = cohort__worker_self;
    uint64_t now = worker ? cohort__clock_cycles() : 0;
    if (worker && worker->poll_at > now)
        worker->poll_at = now;
}

void cohort__worker_polled(struct cohort__worker *worker)
{
    uint64_t now = cohort__clock_cycles();
    worker->poll_at = now + cohort__clock_cycles_of(POLL_NANOSECONDS);
    atomic_store_explicit(&worker->line->seen_at, now, memory_order_relaxed);
    if (cohort__scheduler.num_threads > 1)
        cohort__core_note(&worker->core);
}

void cohort__worker_poll_if_due(struct cohort__worker *worker)
{
    if (!cohort__worker_poll_is_due(worker))
        return;
    cohort__worker_look_for_old(worker);
    cohort__lanes_note(worker);
    cohort__worker_take_injected(worker);
    cohort__worker_take_returned(worker);
    cohort__fiber_pool_trim(&worker->pool, STACKS_A_POLL);
    cohort__sized_trim(&worker->sized, STACKS_A_POLL);
    if (cohort__token_try(worker)) {
        cohort__worker_call_loop(worker, cohort__scheduler.hooks.poll);
        cohort__token_release();
    }
    cohort__worker_polled(worker);
}

struct cohort__worker *cohort__worker_switch(struct cohort__worker *worker,
                                             struct cohort__fiber *fiber)
{
    struct cohort__fiber *from = worker->fiber;
    worker->fiber = fiber;
    fiber->worker = worker;
    cohort__fiber_switch(from, fiber);
    worker = from->worker;
    if (worker->left)
        cohort__resumption_publish(worker);
    return worker;
}

/* For the stop. Only the loop on the thread's own stack returns, so switches to that stack. It is
 * in the pool, since no task is left. */
static void go_home(struct cohort__worker *worker)
{
    cohort__worker_leave(worker, cohort__fiber_pool_take_own(&worker->pool));
}

/* A thread's own stack can't move. So a task that may move runs on another one, if there is one. */
static bool leave_own(struct cohort__worker *worker, struct cohort__work *work)
{
    if (!cohort__task_may_move(work))
        return false;
    struct cohort__fiber *fiber = cohort__worker_take_stack(worker);
    if (!fiber)
        return false;
    cohort__worker_put_back(worker, work);
    cohort__worker_leave(worker, fiber);
    return true;
}

/* A thread outside counts a task first, and then looks whether the worker has left that it is for
 * (queues.c). So if it sees that the worker has not, the worker sees the task. */
static bool leave_for_good(struct cohort__worker *worker)
{
    atomic_store(&worker->has_left, true);
    if (cohort__scheduler_live_tasks() == 0)
        return true;
    atomic_store(&worker->has_left, false);
    return false;
}

/* What a loop does again and again: looks for work, and calls it. Returns true if the worker is on
 * the thread's own stack and may leave. Inline, since the loop is what a worker does most. */
static inline bool turn(struct cohort__worker *worker)
{
    cohort__worker_poll_if_due(worker); /* also when a task has just suspended */
    struct cohort__work *work = cohort__worker_next(worker);
    if (work) {
        cohort__worker_search_end(worker);
        if (worker->waiting)
            cohort__worker_lower_mark(worker);
        if (worker->fiber != &worker->own_fiber || !leave_own(worker, work))
            work->run(work);
    } else if (cohort__worker_may_leave()) {
        cohort__worker_search_end(worker);
        if (worker->fiber == &worker->own_fiber)
            return leave_for_good(worker);
        go_home(worker);
    } else if (!worker->is_making_way) {
        cohort__worker_say_what_waits(worker, 0);
        cohort__worker_idle(worker);
    }
    return false;
}

/* The worker of a stack is another one after a task on it has moved. */
static void loop(const struct cohort__fiber *fiber)
{
    COHORT__STOPS_EXCEPTIONS;
    while (!turn(fiber->worker))
        ;
}

const struct cohort__fiber *cohort__worker_arrive(void)
{
    struct cohort__worker *worker = cohort__worker_self;
    if (worker->left)
        cohort__resumption_publish(worker);
    return worker->fiber;
}

static void loop_on_fiber(void *arg)
{
    (void)arg;
    loop(cohort__worker_arrive());
}

__attribute__((noinline)) static struct cohort__fiber *create_stack(struct cohort__worker *worker)
{
    struct cohort__fiber *fiber = NULL;
    if (cohort__fiber_create(&fiber, cohort__scheduler.options.stack_bytes, loop_on_fiber, NULL) ==
        COHORT_OK)
        return fiber;
    static atomic_bool is_said;
    if (!atomic_exchange(&is_said, true))
        cohort__log(COHORT__LOG_WARN,
                    "scheduler: worker %u: %s; while tasks wait, it runs others on the one that it "
                    "has in reserve (this is said once)",
                    worker->index, cohort_error_message());
    return NULL;
}

struct cohort__fiber *cohort__worker_take_stack(struct cohort__worker *worker)
{
    if (!worker->pool.first)
        cohort__worker_take_returned(worker);
    struct cohort__fiber *fiber = cohort__fiber_pool_take(&worker->pool);
    return fiber ? fiber : create_stack(worker);
}

/* --- stacks of other sizes --- */

/* Tasks that ask for a stack of their own size. The sizes are powers of two, so that there are few,
 * and most stacks are taken again by other tasks. A worker has a pool for each size.
 *
 * Such a task starts at the base of a stack of its size, and suspends and goes on like any other.
 * When it has ended, the worker leaves the stack for an ordinary one. */

_Static_assert(COHORT__MIN_STACK_BYTES == 1 << COHORT__MIN_STACK_EXPONENT &&
                   COHORT__MAX_STACK_BYTES == 1 << COHORT__MAX_STACK_EXPONENT,
               "the exponents are those of the bounds");

static struct cohort__fiber_pool *pool_of(struct cohort__sized *sized, unsigned char exponent)
{
    return &sized->pools[exponent - COHORT__MIN_STACK_EXPONENT];
}

/* What is at the base of such a stack. The worker comes here with a task, or at the end of a task.
 * It leaves, if there is memory for an ordinary stack. Otherwise this one holds a loop, until other
 * stacks are free. */
static void run_tasks(void *arg)
{
    const struct cohort__fiber *fiber = cohort__worker_arrive();
    (void)arg;
    for (;;) {
        struct cohort__worker *worker = fiber->worker;
        struct cohort__task *task = worker->sized.task;
        worker->sized.task = NULL;
        if (task)
            cohort__task_call(task);
        worker = fiber->worker; /* if the task has moved */
        struct cohort__fiber *ordinary = cohort__worker_take_stack(worker);
        if (ordinary)
            cohort__worker_leave(worker, ordinary);
        else
            turn(worker);
    }
}

static cohort_status take(struct cohort__fiber **ret_fiber, struct cohort__worker *worker,
                          unsigned char exponent)
{
    struct cohort__fiber *fiber = cohort__fiber_pool_take(pool_of(&worker->sized, exponent));
    if (fiber) {
        worker->sized.num--;
    } else {
        cohort_status status = cohort__fiber_create(&fiber, (size_t)1 << exponent, run_tasks, NULL);
        if (status != COHORT_OK)
            return status;
        fiber->exponent = exponent;
    }
    *ret_fiber = fiber;
    return COHORT_OK;
}

void cohort__worker_run_sized(struct cohort__worker *worker, struct cohort__task *task)
{
    struct cohort__fiber *fiber = NULL;
    cohort_status status = take(&fiber, worker, task->future.stack_exponent);
    if (status != COHORT_OK) {
        cohort_fail(status, "cohort_async_with: %s", cohort_error_message());
        cohort__task_refuse(task);
        return;
    }
    worker->sized.task = task;
    cohort__worker_leave(worker, fiber);
}

void cohort__sized_put(struct cohort__worker *worker, struct cohort__fiber *fiber)
{
    cohort__fiber_pool_put(pool_of(&worker->sized, fiber->exponent), fiber);
    worker->sized.num++;
}

/* Not inlined, as what needs a frame, into what each turn calls. */
__attribute__((noinline)) void cohort__sized_trim(struct cohort__sized *sized, size_t most)
{
    for (size_t i = 0; sized->num > 0 && i < COHORT__NUM_STACK_EXPONENTS; i++) {
        struct cohort__fiber_pool *pool = &sized->pools[i];
        size_t before = pool->num;
        cohort__fiber_pool_trim(pool, most);
        sized->num -= before - pool->num;
        most -= before - pool->num;
    }
}

bool cohort__sized_must_trim(const struct cohort__sized *sized)
{
    for (size_t i = 0; sized->num > 0 && i < COHORT__NUM_STACK_EXPONENTS; i++)
        if (cohort__fiber_pool_must_trim(&sized->pools[i]))
            return true;
    return false;
}

static void sized_fini(struct cohort__sized *sized)
{
    for (size_t i = 0; i < COHORT__NUM_STACK_EXPONENTS; i++)
        cohort__fiber_pool_fini(&sized->pools[i]);
}

/* --- run --- */

void cohort__worker_run(struct cohort__worker *worker)
{
    void *handler_stack = cohort__crash_thread_begin();
    cohort__core_note(&worker->core);
    worker->fiber = &worker->own_fiber;
    worker->own_fiber.worker = worker;
    worker->pool.num_kept = KEPT;
    cohort__spin_init(&worker->spin, cohort__scheduler.options.spin_ns);
    loop(&worker->own_fiber);
    cohort__idle_wake_all();              /* the other workers can leave as well */
    cohort__worker_take_returned(worker); /* no task is left, so none comes later */
    cohort__fiber_pool_fini(&worker->pool);
    sized_fini(&worker->sized);
    cohort__crash_thread_end(handler_stack);
}
