/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <stdatomic.h>

#include "cohort/cohort.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { NUM = 80, NUM_WORKERS = 3, NUM_STARTED = 40 };

static cohort_future *start(cohort_task_function *function, void *arg,
                            enum cohort_task_priority priority, unsigned worker)
{
    return cohort_async_with(function, arg,
                             &(const cohort_task_options){.priority = priority, .worker = worker});
}

static cohort_status do_nothing(void *arg)
{
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* --- the order --- */

static int num_run[3]; /* of each priority */

static cohort_status run_high(void *arg)
{
    CHECK_INT(num_run[COHORT_TASK_HIGH]++, (long long)(intptr_t)arg);
    int num_others = num_run[COHORT_TASK_NORMAL] + num_run[COHORT_TASK_LOW];
    CHECK(num_others <= num_run[COHORT_TASK_HIGH] / 7 + 2);
    return COHORT_OK;
}

static cohort_status run_normal(void *arg)
{
    num_run[COHORT_TASK_NORMAL]++;
    return do_nothing(arg);
}

static cohort_status run_low(void *arg)
{
    CHECK_INT(num_run[COHORT_TASK_LOW]++, (long long)(intptr_t)arg);
    CHECK(num_run[COHORT_TASK_NORMAL] == NUM || num_run[COHORT_TASK_LOW] <= 3);
    return COHORT_OK;
}

/* WORKER: 0, or the only one. */
static void start_all(unsigned worker)
{
    cohort_future *futures[3 * NUM];
    for (intptr_t i = 0; i < NUM; i++) {
        futures[3 * i] = start(run_low, (void *)i, COHORT_TASK_LOW, worker);
        futures[3 * i + 1] = start(run_normal, NULL, COHORT_TASK_NORMAL, worker);
        futures[3 * i + 2] = start(run_high, (void *)i, COHORT_TASK_HIGH, worker);
    }
    num_run[0] = num_run[1] = num_run[2] = 0;
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_OF(futures))));
    for (int i = 0; i < 3; i++)
        CHECK_INT(num_run[i], NUM);
}

TEST_TASK(order, run_on(1, 1, task, NULL))
{
    start_all(0);
    start_all(1);
}

/* --- nobody waits for ever --- */

static bool is_over;
static int num_high;
static unsigned high_worker;

static cohort_status start_next(void *arg)
{
    num_high++;
    if (!is_over)
        cohort_future_unref(start(start_next, arg, COHORT_TASK_HIGH, high_worker));
    return COHORT_OK;
}

/* There is always one more of high priority. */
TEST_TASK(flood, run_on(1, 1, task, NULL))
{
    static const struct {
        enum cohort_task_priority priority;
        unsigned worker;
        int most; /* of high priority before it */
    } others[] = {
        {COHORT_TASK_NORMAL, 0, 16}, {COHORT_TASK_NORMAL, 1, 24}, {COHORT_TASK_LOW, 0, 256},
        {COHORT_TASK_LOW, 1, 256},   {COHORT_TASK_HIGH, 0, 8},    {COHORT_TASK_HIGH, 1, 8},
    };
    for (high_worker = 0; high_worker <= 1; high_worker++) {
        is_over = false;
        cohort_future_unref(start(start_next, NULL, COHORT_TASK_HIGH, high_worker));
        for (int round = 0; round < 20; round++) {
            for (size_t i = 0; i < NUM_OF(others); i++) {
                num_high = 0;
                cohort_future *both[] = {
                    start(run_normal, NULL, others[i].priority, others[i].worker),
                    cohort_future_of_value(NULL)};
                CHECK_OK(cohort_await(cohort_when_all(both, 2)));
                CHECK(num_high <= others[i].most + 8); /* until this task goes on */
            }
            num_high = 0;
            cohort_yield();
            CHECK(num_high <= 200);
        }
        is_over = true;
        cohort_yield();
    }
}

/* --- awaits --- */

TEST_TASK(in_place, run_on(1, 1, task, NULL))
{
    cohort_future *others[NUM];
    for (int i = 0; i < NUM; i++)
        others[i] = cohort_async(run_normal, NULL);
    for (int i = 0; i < 3 * NUM; i++) { /* each leaves its place in the lane behind */
        num_run[COHORT_TASK_NORMAL] = 0;
        cohort_future *low = start(run_normal, NULL, COHORT_TASK_LOW, 0);
        CHECK_OK(cohort_await(low));
        if (num_run[COHORT_TASK_NORMAL] > 1) /* the event loop was due, so it was not in place */
            break;
    }
    CHECK_OK(cohort_await(cohort_when_all(others, NUM)));
    num_run[COHORT_TASK_LOW] = 0;
    num_run[COHORT_TASK_NORMAL] = NUM;
    CHECK_OK(cohort_await(start(run_low, NULL, COHORT_TASK_LOW, 0)));
}

/* --- tasks for one worker --- */

static _Atomic int num_begun[NUM_WORKERS];

static cohort_status wait_there(void *arg)
{
    int worker = (int)(intptr_t)arg % NUM_WORKERS;
    CHECK_INT(cohort_worker_index(), worker);
    CHECK_INT(num_begun[worker]++, (int)(intptr_t)arg / NUM_WORKERS);
    cohort_yield();
    CHECK_INT(cohort_worker_index(), worker);
    cohort_future *two[] = {cohort_async(do_nothing, NULL),
                            start(do_nothing, NULL, COHORT_TASK_NORMAL, 1)};
    CHECK_OK(cohort_await(cohort_when_all(two, 2)));
    CHECK_INT(cohort_worker_index(), worker);
    return COHORT_OK;
}

/* ARG: whether they ask for stacks of their own. */
static cohort_status start_there(void *arg)
{
    enum { SUM = NUM_STARTED * NUM_WORKERS };
    cohort_future *futures[SUM];
    for (int i = 0; i < NUM_WORKERS; i++)
        num_begun[i] = 0;
    for (intptr_t i = 0; i < SUM; i++)
        futures[i] = cohort_async_with(
            wait_there, (void *)i,
            &(const cohort_task_options){.worker = 1 + (unsigned)(i % NUM_WORKERS),
                                         .stack_bytes = arg ? 1 << 20 : 0});
    for (int i = 0; i < SUM / 2; i++)
        CHECK_OK(cohort_await(futures[i]));
    return cohort_await(cohort_when_all(futures + SUM / 2, SUM - SUM / 2));
}

TEST(worker)
{
    CHECK_OK(run_tasks(NUM_WORKERS, start_there, NULL));
    CHECK_OK(run_tasks(NUM_WORKERS, start_there, "large"));
}

/* One worker is busy; the other one, which sleeps, comes for what it may have. */
static void await_sleep(unsigned index)
{
    const struct cohort__worker *worker = cohort__scheduler.workers[index];
    uint32_t state;
    do {
        sched_yield();
        state = atomic_load(&worker->sleep_state);
    } while (state != COHORT__SLEEPING && state != COHORT__PARKED);
}

static cohort_status set_flag(void *flag)
{
    atomic_store((atomic_bool *)flag, true);
    return COHORT_OK;
}

static cohort_status be_busy(void *arg)
{
    static const enum cohort_task_priority priorities[] = {COHORT_TASK_LOW, COHORT_TASK_NORMAL,
                                                           COHORT_TASK_HIGH};
    for (int i = 0; i < 3; i++)
        for (int is_bound = 0; is_bound <= 1; is_bound++) {
            atomic_bool flag = false;
            unsigned other = 1 - (unsigned)cohort_worker_index();
            await_sleep(other);
            cohort_future *task = start(set_flag, &flag, priorities[i], is_bound ? 1 + other : 0);
            while (!atomic_load(&flag))
                sched_yield();
            CHECK_OK(cohort_await(task));
        }
    return COHORT_OK;
}

TEST(busy)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.num_workers = 2;
    options.spin_ns = 0; /* so that the other one sleeps soon */
    for (int i = 0; i < 20; i++)
        CHECK_OK(run_tasks_with(&options, be_busy, NULL));
}

/* --- threads outside, the end --- */

static void *start_outside(void *arg)
{
    cohort_future *futures[9];
    for (unsigned i = 0; i < 9; i++)
        futures[i] = start(do_nothing, NULL, (enum cohort_task_priority)(i % 3), i / 3);
    CHECK_OK(cohort_await(cohort_when_all(futures, 9)));
    CHECK_INT(cohort_await(start(do_nothing, NULL, COHORT_TASK_LOW, 3)), COHORT_ERR_BAD_PARAMETER);
    return NULL;
}

static cohort_status block_for_thread(void *arg)
{
    end_thread(*(pthread_t *)arg);
    return COHORT_OK;
}

static cohort_status run_thread(void *arg)
{
    pthread_t thread = new_thread(start_outside, NULL);
    return cohort_blocking(block_for_thread, &thread);
}

/* Nobody awaits them, and they run before the end. */
static _Atomic int num_left;

static cohort_status count_left(void *arg)
{
    cohort_yield();
    num_left++;
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status leave_some(void *arg)
{
    for (unsigned i = 0; i < 9; i++)
        cohort_future_unref(start(count_left, NULL, (enum cohort_task_priority)(i % 3), i / 3));
    return COHORT_OK;
}

TEST(ends)
{
    CHECK_OK(run_tasks(2, run_thread, NULL));
    CHECK_OK(run_tasks(2, leave_some, NULL));
    CHECK_INT(num_left, 9);
    for (unsigned worker = 0; worker <= 1; worker++) {
        CHECK_FAILS(cohort_await(start(do_nothing, NULL, COHORT_TASK_HIGH, worker)),
                    COHORT_ERR_STATE, "cohort_async_with: the runtime is not up");
    }
}

/* What is submitted when the workers have left is cancelled. The linker puts this before
 * pthread_join (--wrap), by which the scheduler waits for them. */
int __real_pthread_join(pthread_t thread, void **ret_value);
static cohort_future *late[9];
static bool is_late;

static cohort_status must_not_run(void *arg)
{
    CHECK(arg != NULL && false);
    return COHORT_OK;
}

int __wrap_pthread_join(pthread_t thread, void **ret_value)
{
    int error = __real_pthread_join(thread, ret_value);
    for (unsigned i = 0; is_late && i < 9; i++)
        late[i] = start(must_not_run, NULL, (enum cohort_task_priority)(i % 3), i / 3);
    is_late = false;
    return error;
}

TEST(late)
{
    is_late = true;
    CHECK_OK(run_tasks(2, do_nothing, NULL));
    for (unsigned i = 0; i < 9; i++) {
        bool is_bound = i >= 3; /* to a worker that has left */
        CHECK_INT(cohort_await(late[i]), is_bound ? COHORT_ERR_STATE : COHORT_ERR_CANCELLED);
        CHECK_CONTAINS(cohort_error_message(), is_bound
                                                   ? "cohort_async_with: the runtime is not up"
                                                   : "the runtime ended before it was started");
    }
    CHECK_OK(run_tasks(2, leave_some, NULL)); /* the next scheduler has its own */
}

/* --- scopes, no memory, arguments --- */

static cohort_status start_and_cancel(void *scope)
{
    cohort_future *futures[6];
    for (unsigned i = 0; i < 6; i++)
        futures[i] = start(must_not_run, NULL, (enum cohort_task_priority)(i % 3), i / 3);
    cohort_scope_cancel(scope);
    for (unsigned i = 0; i < 6; i++)
        CHECK_INT(cohort_await(futures[i]), COHORT_ERR_CANCELLED);
    return COHORT_OK;
}

TEST_TASK(scope, run_on(1, 1, task, NULL))
{
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, start_and_cancel, scope));
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
}

/* Where there is no memory for stacks, what waits is on the reserve. */
static cohort_status suspend_once(void *arg)
{
    cohort_yield();
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_TASK(reserve, run_on(1, 2, task, NULL))
{
    cohort_future *futures[9];
    take_no_more_stacks();
    for (int round = 0; round < 10; round++) {
        for (unsigned i = 0; i < 9; i++)
            futures[i] = start(suspend_once, NULL, (enum cohort_task_priority)(i % 3),
                               i / 3 % cohort__scheduler_num_workers());
        CHECK_OK(cohort_await(cohort_when_all(futures, 9)));
    }
}

static void check_refused(cohort_task_options options, const char *message)
{
    CHECK_INT(cohort_await(cohort_async_with(do_nothing, NULL, &options)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(), message);
}

TEST_TASK(arguments, run_on(2, 2, task, NULL))
{
    check_refused((cohort_task_options){.worker = 3}, "cohort_async_with: worker is 3, not 0 to 2");
    check_refused((cohort_task_options){.worker = (unsigned)-1},
                  "cohort_async_with: worker is 4294967295, not 0 to 2");
    check_refused((cohort_task_options){.priority = (enum cohort_task_priority)3},
                  "cohort_async_with: priority is 3, not 0 to 2");
    check_refused((cohort_task_options){.worker = 1, .mobility = COHORT_TASK_MOVABLE},
                  "cohort_async_with: a task for worker 0 alone is to be movable");
}
