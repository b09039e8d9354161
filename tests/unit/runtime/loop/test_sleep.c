/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <stdatomic.h>
#include <sys/timerfd.h>

#include <uv.h>

#include "cohort/scope.h"
#include "cohort/task.h"
#include "runtime/base/clock.h"
#include "runtime/loop/guest.h"
#include "runtime/loop/loop.h"
#include "runtime/task/scheduler.h"
#include "tests/support/await_within.h"
#include "tests/support/new.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"

enum { NUM_SLEEPERS = 64 };

static cohort_status sleeper(void *arg)
{
    uint64_t nanoseconds = *(uint64_t *)arg;
    uint64_t start = cohort__clock_now();
    cohort_status status = cohort_await(cohort_sleep(nanoseconds));
    CHECK(cohort__clock_now() - start >= nanoseconds);
    return status;
}

/* The kernel gets the deadline as it is, and not a later one that fits some clock of the loop. */
enum { NUM_SHORT = 200, SHORT = 50000 };

static struct {
    bool is_on;                /* one thread */
    uint64_t earliest, latest; /* that may be asked for */
    unsigned num;
} armed;

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *time,
                           struct itimerspec *ret_old);

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *time,
                           struct itimerspec *ret_old)
{
    if (armed.is_on) {
        uint64_t at =
            (uint64_t)time->it_value.tv_sec * 1000000000 + (uint64_t)time->it_value.tv_nsec;
        CHECK_INT(flags, TFD_TIMER_ABSTIME);
        CHECK(at >= armed.earliest && at <= armed.latest);
        armed.num++;
    }
    return __real_timerfd_settime(fd, flags, time, ret_old);
}

static void run_with(unsigned num_workers, uint64_t spin_ns, cohort_task_function *function)
{
    struct cohort__loop *loop;
    struct cohort__scheduler_hooks hooks;
    struct cohort__scheduler_options options;
    CHECK_OK(cohort__loop_create(&loop));
    cohort__loop_scheduler_hooks(loop, &hooks);
    cohort__scheduler_options_init(&options);
    options.num_workers = num_workers;
    options.spin_ns = spin_ns;
    if (spin_ns == 0)
        options.yield_polls = 0; /* it parks at once */
    CHECK_OK(cohort__scheduler_start(&options, &hooks));
    cohort__loop_attach(loop);
    cohort_future_unref(cohort_async(function, NULL));
    CHECK_OK(cohort__scheduler_run());
    cohort__loop_attach(NULL);
    cohort__loop_destroy(loop);
}

/* Where a sleep lasts until the next tick of a millisecond, each of these takes one, but the first:
 * then not even the fastest is quick. How late the others are is up to the machine. */
TEST_TASK(short, run_with(1, 0, task))
{
    uint64_t fastest = UINT64_MAX;
    armed.is_on = true;
    for (int i = 0; i < NUM_SHORT; i++) {
        uint64_t start = cohort__clock_now();
        armed.earliest = start + SHORT;
        cohort_future *future = cohort_sleep(SHORT);
        armed.latest = cohort__clock_now() + SHORT;
        CHECK_OK(cohort_await(future));
        uint64_t elapsed = cohort__clock_now() - start;
        CHECK(elapsed >= SHORT);
        if (i > 0 && elapsed < fastest)
            fastest = elapsed;
    }
    armed.is_on = false;
    CHECK(armed.num > 0);
    CHECK(fastest < 500000);
    cohort__scheduler_stop();
}

static cohort_status main_task(void *arg)
{
    static uint64_t durations[NUM_SLEEPERS];
    cohort_future *futures[NUM_SLEEPERS];
    uint64_t start = cohort__clock_now();
    for (int i = 0; i < NUM_SLEEPERS; i++) {
        durations[i] = (uint64_t)(i % 8) * 10000000;
        futures[i] = cohort_async(sleeper, &durations[i]);
    }
    cohort_status status = cohort_await(cohort_when_all(futures, NUM_SLEEPERS));
    CHECK_OK(status);
    CHECK(cohort__clock_now() - start >= 70000000);
    cohort_future *longer = cohort_sleep(3600ull * 1000000000);
    CHECK_INT(await_within(longer, 5000000), COHORT_ERR_TIMEOUT);
    cohort_future_unref(longer);
    cohort__scheduler_stop();
    return COHORT_OK;
}

/* --- in a scope --- */

static _Atomic int num_cancelled;

static cohort_status sleep_for_ever(void *arg)
{
    CHECK_FAILS(cohort_await(cohort_sleep(3600ull * 1000000000)), COHORT_ERR_CANCELLED,
                "cohort_sleep: its scope was cancelled");
    /* And the next one at once. */
    CHECK_INT(cohort_await(cohort_sleep(3600ull * 1000000000)), COHORT_ERR_CANCELLED);
    num_cancelled++;
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status sleep_for_moments(void *arg)
{
    for (int i = 0; i < 50; i++)
        CHECK_OK(cohort_await(cohort_sleep((uint64_t)i * 1000)));
    cohort_future_unref(cohort_sleep(1000000)); /* its time is over when the scope is gone */
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status sleep_in_scopes(void *arg)
{
    for (int round = 0; round < 20; round++) {
        num_cancelled = 0;
        cohort_scope *scope = new_scope();
        for (int i = 0; i < 20; i++)
            CHECK_OK(cohort_scope_async(scope, sleep_for_ever, NULL));
        CHECK_OK(cohort_await(cohort_sleep(1000 * (uint64_t)round)));
        cohort_scope_cancel(scope);
        CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
        scope = new_scope();
        for (int i = 0; i < 20; i++)
            CHECK_OK(cohort_scope_async(scope, sleep_for_moments, NULL));
        CHECK_OK(cohort_scope_await(scope));
    }
    cohort__scheduler_stop();
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_CALL(one_worker, run_with(1, COHORT__SPIN_NS, main_task))
TEST_CALL(four_workers, run_with(4, COHORT__SPIN_NS, main_task))

TEST(in_scope)
{
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++)
        run_with(num_workers, COHORT__SPIN_NS, sleep_in_scopes);
}

TEST(no_loop)
{
    cohort_future *future = cohort_sleep(1);
    CHECK(cohort_future_ready(future));
    cohort_future_unref(future);
}

/* A thread outside the runtime that is about to add its timer while the runtime ends. */
static struct {
    pthread_t thread;
    atomic_bool is_on; /* the next timer waits */
    atomic_bool is_inside;
    atomic_bool has_ended;
    cohort_future *future;
} late;

void __real_cohort__loop_timer(struct cohort__loop *loop, struct cohort__timer *timer,
                               uint64_t deadline);

void __wrap_cohort__loop_timer(struct cohort__loop *loop, struct cohort__timer *timer,
                               uint64_t deadline)
{
    if (atomic_exchange(&late.is_on, false)) {
        atomic_store(&late.is_inside, true);
        for (int i = 0; i < 20000; i++)
            sched_yield(); /* long enough for the runtime to end, if it does not wait */
        CHECK(!atomic_load(&late.has_ended));
    }
    __real_cohort__loop_timer(loop, timer, deadline);
}

static void *sleep_outside(void *arg)
{
    late.future = cohort_sleep(3600ull * 1000000000);
    return arg;
}

static cohort_status end_meanwhile(void *arg)
{
    atomic_store(&late.is_on, true);
    late.thread = new_thread(sleep_outside, NULL);
    while (!atomic_load(&late.is_inside))
        sched_yield();
    cohort__scheduler_stop();
    return COHORT_OK;
}

/* Runs FUNCTION, a task, until it stops the scheduler. The loop is still attached. */
static struct cohort__loop *run_workers(cohort_task_function *function)
{
    struct cohort__loop *loop;
    struct cohort__scheduler_hooks hooks;
    struct cohort__scheduler_options options;
    CHECK_OK(cohort__loop_create(&loop));
    cohort__loop_scheduler_hooks(loop, &hooks);
    cohort__scheduler_options_init(&options);
    CHECK_OK(cohort__scheduler_start(&options, &hooks));
    cohort__loop_attach(loop);
    cohort_future_unref(cohort_async(function, NULL));
    CHECK_OK(cohort__scheduler_run());
    return loop;
}

TEST(end)
{
    struct cohort__loop *loop = run_workers(end_meanwhile);
    atomic_store(&late.has_ended, true);
    CHECK_INT(cohort_await(cohort_sleep(1)), COHORT_ERR_STATE); /* also before it is taken away */
    cohort__loop_attach(NULL);
    cohort__loop_destroy(loop);
    end_thread(late.thread);
    CHECK(cohort_future_ready(late.future));
    CHECK_FAILS(cohort_await(late.future), COHORT_ERR_CANCELLED,
                "has ended before the time was over");
}

/* --- a thread outside waits while the runtime ends --- */

/* Such a thread is about to wait. Either it stops there until the runtime has ended, and is refused
 * then, or it goes on and waits. */
static struct {
    cohort_future *future;
    cohort_scope *scope;
    bool stops;
    atomic_bool is_first; /* the next wait is that of the thread */
    atomic_bool is_there;
    atomic_bool has_ended;
} last;

cohort_status __real_cohort__wait_check(const char *function);

cohort_status __wrap_cohort__wait_check(const char *function)
{
    if (!atomic_exchange(&last.is_first, false))
        return __real_cohort__wait_check(function);
    CHECK(!cohort_future_ready(last.future));
    CHECK_OK(__real_cohort__wait_check(function));
    atomic_store(&last.is_there, true);
    while (last.stops && !atomic_load(&last.has_ended))
        sched_yield();
    return last.stops ? __real_cohort__wait_check(function) : COHORT_OK;
}

static void *await_long_sleep(void *arg)
{
    CHECK_FAILS(cohort_await(last.future), COHORT_ERR_CANCELLED,
                "has ended before the time was over");
    return arg;
}

static void *wait_for_long_sleep(void *arg)
{
    enum cohort_wait_end how = COHORT_WAIT_EXPIRED;
    CHECK_OK(cohort_wait(last.future, COHORT_NO_LIMIT, &how));
    CHECK_INT(how, COHORT_WAIT_COMPLETE);
    cohort_future_unref(last.future);
    return arg;
}

static cohort_status begin_long_sleep(void *arg)
{
    last.future = cohort_sleep(3600ull * 1000000000);
    last.scope = new_scope();
    cohort__scheduler_stop();
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* The thread is about to wait when the workers have ended, and before or after the loop takes no
 * requests any more. */
static void end_while_waiting(void *(*thread_function)(void *), bool is_detached, bool stops)
{
    pthread_t thread;
    struct cohort__loop *loop = run_workers(begin_long_sleep);
    cohort_future *own = cohort_future_ref(last.future); /* the thread gives the other one back */
    if (is_detached)
        cohort__loop_attach(NULL);
    last.stops = stops;
    atomic_store(&last.has_ended, false);
    atomic_store(&last.is_there, false);
    atomic_store(&last.is_first, true);
    thread = new_thread(thread_function, NULL);
    while (!atomic_load(&last.is_there))
        sched_yield();
    CHECK_INT(cohort_await(cohort_future_ref(own)), COHORT_ERR_STATE); /* it is to end it */
    if (!is_detached)
        cohort__loop_attach(NULL);
    cohort__loop_destroy(loop);
    CHECK(cohort_future_ready(own));
    cohort_future_unref(own);
    atomic_store(&last.has_ended, true);
    end_thread(thread);
    CHECK_OK(cohort_scope_await(last.scope)); /* there is nothing to wait for */
}

TEST(wait_at_end)
{
    for (int i = 0; i < 4; i++) {
        end_while_waiting(await_long_sleep, i & 1, i & 2);
        end_while_waiting(wait_for_long_sleep, i & 1, i & 2);
    }
}

static void wait_in_pool(uv_work_t *request)
{
    await_long_sleep(NULL);
}

/* libuv waits for functions in its pool, and they for what ends. */
TEST(pool_at_end)
{
    uv_work_t request;
    struct cohort__loop *loop = run_workers(begin_long_sleep);
    CHECK_INT(uv_queue_work(cohort__loop_uv(loop), &request, wait_in_pool, NULL), 0);
    cohort__loop_attach(NULL);
    cohort__loop_destroy(loop);
    CHECK_OK(cohort_scope_await(last.scope));
}
