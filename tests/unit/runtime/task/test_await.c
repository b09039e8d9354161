/* SPDX-License-Identifier: Apache-2.0 */
#include <alloca.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/base/sanitizer.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/worker.h"
#include "tests/support/await_within.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { MILLISECOND = 1000000 };

static void create(cohort_promise **ret_promise, cohort_future **ret_future)
{
    CHECK_OK(cohort_promise_create(ret_promise, ret_future));
}

static cohort_status fulfil(void *promise)
{
    cohort_promise_fulfil(promise, promise);
    return COHORT_OK;
}

static cohort_status suspend_until_fulfilled(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        cohort_promise *promise;
        cohort_future *future;
        void *value = NULL;
        create(&promise, &future);
        write_errno(i);
        cohort_fail(COHORT_ERR_FAILED, "%d", i);
        cohort_future_unref(cohort_async(fulfil, promise));
        CHECK_OK(cohort_await_value(future, &value));
        CHECK(value == promise);
        CHECK_INT(read_errno(), i);
        /* A success leaves the message unchanged, and so does the other task. */
        CHECK_INT(cohort__error_slot()->status, COHORT_ERR_FAILED);
    }
    return cohort_fail(COHORT_ERR_GONE, "the end %s", (char *)arg);
}

TEST(suspends)
{
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++) {
        CHECK_INT(run_tasks(num_workers, suspend_until_fulfilled, "x"), COHORT_ERR_GONE);
        CHECK_TEXT(cohort_error_message(), "the end x");
    }
}

static cohort_status wait_for(void *future)
{
    return cohort_await(future);
}

TEST_TASK(many_wait_for_one, run_on(1, 3, task, NULL))
{
    enum { NUM_TASKS = 200 };
    cohort_promise *promise;
    cohort_future *future;
    cohort_future *tasks[NUM_TASKS];
    create(&promise, &future);
    for (int i = 0; i < NUM_TASKS; i++)
        tasks[i] = cohort_async(wait_for, cohort_future_ref(future));
    cohort_future_unref(future);
    for (int i = 0; i < 3; i++)
        cohort_yield();
    cohort_promise_fail(promise, COHORT_ERR_NETWORK, "the one");
    for (int i = 0; i < NUM_TASKS; i++) {
        CHECK_INT(cohort_await(tasks[i]), COHORT_ERR_NETWORK);
        CHECK_TEXT(cohort_error_message(), "the one");
    }
}

/* Deeper than any stack: when there is no more room, the rest suspends. */
static cohort_status recurse(void *depth)
{
    volatile char frame[2000];
    frame[0] = frame[sizeof(frame) - 1] = 1;
    uintptr_t left = (uintptr_t)depth;
    if (left == 0)
        return cohort_fail(COHORT_ERR_FAILED, "the bottom");
    cohort_status status = cohort_await(cohort_async(recurse, (void *)(left - 1)));
    CHECK_INT(frame[0] + frame[sizeof(frame) - 1], 2);
    return status;
}

TEST(recursion_takes_more_stacks)
{
    /* The thread sanitizer has 8128 stacks at most, and makes them so slowly that an await may take
     * one each time, since a poll is overdue. */
    uintptr_t depth = COHORT__TSAN ? 6000 : 20000;
    for (unsigned num_workers = 1; num_workers <= 2; num_workers++) {
        CHECK_INT(run_tasks(num_workers, recurse, (void *)depth), COHORT_ERR_FAILED);
        CHECK_TEXT(cohort_error_message(), "the bottom");
    }
}

static void *await_on_a_thread(void *future)
{
    CHECK(!cohort__scheduler_in_task());
    CHECK_INT(cohort_worker_index(), -1);
    CHECK_INT(cohort_await(cohort_future_ref(future)), COHORT_ERR_GONE);
    CHECK_TEXT(cohort_error_message(), "left");
    CHECK_INT(await_within(future, 10000 * (uint64_t)MILLISECOND), COHORT_ERR_GONE);
    return NULL;
}

TEST_TASK(foreign_threads_wait, run_on(1, 1, task, NULL))
{
    pthread_t threads[3];
    cohort_promise *promise;
    cohort_future *future;
    create(&promise, &future);
    for (int i = 0; i < 3; i++)
        threads[i] = new_thread(await_on_a_thread, cohort_future_ref(future));
    cohort_future_unref(future);
    cohort_yield();
    cohort_promise_fail(promise, COHORT_ERR_GONE, "left");
    for (int i = 0; i < 3; i++)
        end_thread(threads[i]);
}

TEST_TASK(deadlines, run_on(1, 2, task, NULL))
{
    cohort_promise *promise;
    cohort_future *future;
    create(&promise, &future);
    CHECK_INT(await_within(future, 0), COHORT_ERR_TIMEOUT);
    for (int i = 0; i < 3; i++) {
        uint64_t start = cohort__clock_now();
        CHECK_INT(await_within(future, 2 * MILLISECOND), COHORT_ERR_TIMEOUT);
        CHECK(cohort__clock_now() - start >= 2 * MILLISECOND);
    }
    cohort_future_unref(cohort_async(fulfil, promise));
    CHECK_OK(await_within(future, UINT64_MAX));
    CHECK_OK(await_within(cohort_future_of_value(NULL), 0));
    CHECK_INT(await_within(NULL, 0), COHORT_ERR_BAD_PARAMETER);
    /* A wait with a deadline never runs a task as a call. The task still runs. */
    create(&promise, &future);
    CHECK_OK(await_within(cohort_async(fulfil, promise), 100000 * (uint64_t)MILLISECOND));
    CHECK_OK(cohort_await(future));
}

static void *thread_deadline(void *future)
{
    CHECK_INT(await_within(future, MILLISECOND), COHORT_ERR_TIMEOUT);
    CHECK_INT(await_within(future, MILLISECOND), COHORT_ERR_TIMEOUT);
    return NULL;
}

TEST_TASK(deadline_of_a_thread, run_on(1, 1, task, NULL))
{
    cohort_promise *promise;
    cohort_future *future;
    create(&promise, &future);
    pthread_t thread = new_thread(thread_deadline, future);
    end_thread(thread);
    cohort_promise_fulfil(promise, NULL);
    cohort_future_unref(future);
}

TEST(without_the_runtime)
{
    cohort_promise *promise;
    cohort_future *future;
    create(&promise, &future);
    CHECK_FAILS(cohort_await(cohort_future_ref(future)), COHORT_ERR_STATE, "not up");
    CHECK_INT(await_within(cohort_future_ref(future), 1), COHORT_ERR_STATE);
    CHECK_INT(await_within(cohort_future_ref(future), 0), COHORT_ERR_TIMEOUT);
    cohort_future_unref(future);
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(future));
    CHECK_INT(cohort_await(NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_async(fulfil, NULL)), COHORT_ERR_STATE);
}

static cohort_future *outside_future;
static atomic_int outside_status;

static void await_in_work(struct cohort__work *work)
{
    atomic_store(&outside_status, (int)cohort_await(outside_future));
    cohort__scheduler_stop();
}

TEST(works_must_not_wait)
{
    struct cohort__scheduler_options options;
    struct cohort__work work = {.run = await_in_work};
    cohort_promise *promise;
    cohort__scheduler_options_init(&options);
    CHECK_OK(cohort__scheduler_start(&options, NULL));
    create(&promise, &outside_future);
    cohort__work_post(&work);
    CHECK_OK(cohort__scheduler_run());
    CHECK_INT(atomic_load(&outside_status), COHORT_ERR_STATE);
    cohort_promise_fulfil(promise, NULL);
}

static void *fulfil_on_a_thread(void *promise)
{
    fulfil(promise);
    return NULL;
}

/* --- without memory for a stack --- */

static cohort_status fulfil_and_keep(void *promise)
{
    cohort_fail(COHORT_ERR_FAILED, "of another task");
    return fulfil(promise);
}

static cohort_status wait_without_a_stack(void *arg)
{
    pthread_t thread;
    cohort_promise *promise;
    cohort_future *future;
    take_no_more_stacks();
    (void)!cohort_fail(COHORT_ERR_GONE, "of this task");
    for (int i = 0; i < 3; i++) {
        create(&promise, &future);
        thread = new_thread(fulfil_on_a_thread, promise);
        CHECK_OK(cohort_await(future));
        end_thread(thread);
        create(&promise, &future);
        cohort_future *other = cohort_async(fulfil_and_keep, promise);
        CHECK_OK(cohort_await(future)); /* runs the other one */
        CHECK_OK(cohort_await(other));
        cohort_yield();
    }
    CHECK_TEXT(cohort_error_message(), "of this task");
    create(&promise, &future);
    CHECK_INT(await_within(future, MILLISECOND), COHORT_ERR_TIMEOUT);
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(future));
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static void count_lines(void *count, enum cohort__log_level level, const char *line, size_t bytes)
{
    CHECK_INT(level, COHORT__LOG_WARN);
    CHECK_CONTAINS(line, "no stack of");
    ++*(int *)count;
}

TEST(without_a_stack)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    int num_lines = 0;
    cohort__log_level_set(COHORT__LOG_WARN);
    cohort__log_sink_set(count_lines, &num_lines);
    CHECK_OK(run_tasks_with(&options, wait_without_a_stack, NULL));
    cohort__log_sink_set(NULL, NULL);
    CHECK_INT(num_lines, 1);
}

/* Tasks that could go on are covered by one that begins when they wait, and waits for something
 * else, which only comes when the log has told about this. */
enum { NUM_COVERED = 2 }; /* one may be on the thread's own stack */
static struct {
    cohort_promise *begun_promise, *go_promise, *promise;
    cohort_future *begun, *go, *future;
    int num_begun, num_lines; /* one thread */
} told;

static void fulfil_when_told(void *arg, enum cohort__log_level level, const char *line,
                             size_t bytes)
{
    CHECK_INT(level, COHORT__LOG_WARN);
    if (!strstr(line, "that could go on are covered by others"))
        return;
    told.num_lines++;
    cohort_promise_fulfil(told.promise, NULL);
}

static cohort_status wait_to_go(void *arg)
{
    if (++told.num_begun == NUM_COVERED)
        cohort_promise_fulfil(told.begun_promise, NULL);
    CHECK_OK(cohort_await(cohort_future_ref(told.go)));
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status cover_others(void *arg)
{
    cohort_promise_fulfil(told.go_promise, NULL);
    CHECK_OK(cohort_await(told.future));
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status cover(void *arg)
{
    cohort_future *tasks[NUM_COVERED + 1];
    take_no_more_stacks();
    create(&told.begun_promise, &told.begun);
    create(&told.go_promise, &told.go);
    create(&told.promise, &told.future);
    for (int i = 0; i < NUM_COVERED; i++)
        tasks[i] = cohort_async(wait_to_go, NULL);
    CHECK_OK(cohort_await(told.begun));
    tasks[NUM_COVERED] = cohort_async(cover_others, NULL);
    CHECK_OK(cohort_await(cohort_when_all(tasks, NUM_COVERED + 1)));
    cohort_future_unref(told.go);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* Before others cover tasks: it is said once. */
TEST(says_what_is_covered)
{
    cohort__log_level_set(COHORT__LOG_WARN);
    cohort__log_sink_set(fulfil_when_told, NULL);
    CHECK_OK(run_tasks(1, cover, NULL));
    cohort__log_sink_set(NULL, NULL);
    CHECK_INT(told.num_lines, 1);
}

/* More tasks than there are stacks, each of which waits for the one before. What is started on the
 * reserve has to end before those below it go on. The last ones are started first, so nobody waits
 * for one that is below it. There are some 11 stacks, and room on the reserve for all of the chain
 * also where frames are larger since nothing is optimised. */
enum { NUM_IN_CHAIN = 80, FEW_STACKS_BYTES = 3 << 20 };
struct chain {
    cohort_promise *promises[NUM_IN_CHAIN + 1];
    cohort_future *futures[NUM_IN_CHAIN + 1];
    int num_through;
};
struct chain_link {
    struct chain *chain;
    int index;
};

static cohort_status wait_for_the_one_before(void *arg)
{
    struct chain_link *link = arg;
    struct chain *chain = link->chain;
    CHECK_OK(cohort_await(chain->futures[link->index]));
    chain->num_through++;
    cohort_promise_fulfil(chain->promises[link->index + 1], NULL);
    return COHORT_OK;
}

static cohort_status go_through_a_chain(void *arg)
{
    struct chain *chain = arg;
    static struct chain_link links[NUM_IN_CHAIN];
    cohort_future *tasks[NUM_IN_CHAIN];
    for (int i = 0; i <= NUM_IN_CHAIN; i++)
        create(&chain->promises[i], &chain->futures[i]);
    for (int i = 0; i < NUM_IN_CHAIN; i++) {
        links[i] = (struct chain_link){chain, i};
        tasks[i] = cohort_async(wait_for_the_one_before, &links[i]);
    }
    CHECK_INT(await_within(chain->futures[NUM_IN_CHAIN], MILLISECOND), COHORT_ERR_TIMEOUT);
    CHECK_INT(chain->num_through, 0);
    cohort_promise_fulfil(chain->promises[0], NULL);
    CHECK_OK(cohort_await(cohort_when_all(tasks, NUM_IN_CHAIN)));
    CHECK_INT(chain->num_through, NUM_IN_CHAIN);
    return cohort_await(chain->futures[NUM_IN_CHAIN]);
}

TEST(few_stacks)
{
    static struct chain chain;
    struct rlimit old;
    CHECK_INT(getrlimit(RLIMIT_AS, &old), 0);
    if (!COHORT__ASAN && !COHORT__TSAN)
        limit_address_space(FEW_STACKS_BYTES);
    CHECK_OK(run_tasks(1, go_through_a_chain, &chain));
    CHECK_INT(setrlimit(RLIMIT_AS, &old), 0);
}

/* A task that has begun on a stack of its own goes on while others that wait for it are on the
 * reserve. */
TEST_TASK(own_stack_is_not_covered, run_on(1, 3, task, NULL))
{
    enum { NUM_TASKS = 5 };
    cohort_promise *promise, *other;
    cohort_future *future, *never, *tasks[NUM_TASKS];
    take_no_more_stacks();
    create(&promise, &future);
    create(&other, &never);
    for (int i = 0; i < NUM_TASKS; i++)
        tasks[i] = cohort_async(wait_for, cohort_future_ref(future));
    CHECK_INT(await_within(never, MILLISECOND), COHORT_ERR_TIMEOUT);
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(cohort_when_all(tasks, NUM_TASKS)));
    cohort_promise_fulfil(other, NULL);
    cohort_future_unref(never);
    cohort_future_unref(future);
}

/* Tasks that await only what they have started, and timers, come to their end. */
static atomic_int num_leaves;

static cohort_status grow(void *depth)
{
    enum { NUM_BRANCHES = 3 };
    cohort_promise *promise;
    cohort_future *future, *branches[NUM_BRANCHES];
    create(&promise, &future);
    CHECK_INT(await_within(future, MILLISECOND / 20), COHORT_ERR_TIMEOUT);
    cohort_promise_fulfil(promise, NULL);
    cohort_future_unref(future);
    uintptr_t left = (uintptr_t)depth;
    if (left == 0) {
        atomic_fetch_add(&num_leaves, 1);
        return COHORT_OK;
    }
    for (int i = 0; i < NUM_BRANCHES; i++)
        branches[i] = cohort_async(grow, (void *)(left - 1));
    cohort_yield();
    return cohort_await(cohort_when_all(branches, NUM_BRANCHES));
}

static cohort_status grow_without_stacks(void *depth)
{
    take_no_more_stacks();
    return grow(depth);
}

TEST(trees_end)
{
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++) {
        atomic_store(&num_leaves, 0);
        CHECK_OK(run_tasks(num_workers, grow_without_stacks, (void *)5));
        CHECK_INT(atomic_load(&num_leaves), 243);
    }
}

/* A worker that can neither have a stack nor start a task on its reserve, which is full. So another
 * one has to wake up for a task that comes from outside. */
static void *submit_on_a_thread(void *promise)
{
    cohort_future_unref(cohort_async(fulfil, promise));
    return NULL;
}

static cohort_status wait_with_a_full_stack(void *arg)
{
    enum { REST_BYTES = 48 * 1024 }; /* less than where tasks may still start */
    cohort_promise *promise;
    cohort_future *future;
    volatile char *below = alloca(cohort__fiber_room(cohort__worker_self->fiber) - REST_BYTES);
    below[0] = 0;
    create(&promise, &future);
    pthread_t thread = new_thread(submit_on_a_thread, promise);
    CHECK_OK(cohort_await(future));
    end_thread(thread);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status fill_the_reserve(void *arg)
{
    take_no_more_stacks();
    cohort_future *full = cohort_async(wait_with_a_full_stack, arg);
    return await_within(full, 100000 * (uint64_t)MILLISECOND); /* not as a plain call */
}

TEST(full_reserve)
{
    for (int i = 0; i < 20; i++)
        CHECK_OK(run_tasks(2, fill_the_reserve, NULL));
}

/* Far more tasks than stacks, and small ones. Each has to be able to start those that it waits for,
 * and the event loop always has the room of a whole stack. */
enum { NUM_IN_CROWD = 2000, SMALL_STACK_BYTES = 32 * 1024, LOOP_BYTES = 28 * 1024 };
static atomic_int num_from_crowd;

static cohort_status count_one(void *arg)
{
    atomic_fetch_add(&num_from_crowd, 1);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* The stacks leave no memory, perhaps not even for a future. */
static void check_unless_full(cohort_status status, cohort_status otherwise)
{
    if (status != COHORT_ERR_NO_MEMORY)
        CHECK_INT(status, otherwise);
}

static cohort_status wait_in_many_ways(void *arg)
{
    cohort_future *never = arg, *tasks[3];
    for (int i = 0; i < 3; i++) {
        cohort_status status = await_within(cohort_future_ref(never), MILLISECOND / 20);
        check_unless_full(status, COHORT_ERR_TIMEOUT);
        if (status == COHORT_ERR_TIMEOUT)
            cohort_future_unref(never);
        cohort_yield();
        for (int j = 0; j < 3; j++)
            tasks[j] = cohort_async(count_one, NULL);
        check_unless_full(cohort_await(cohort_when_all(tasks, 3)), COHORT_OK);
        check_unless_full(cohort_await(cohort_async(count_one, NULL)), COHORT_OK);
    }
    return COHORT_OK;
}

static cohort_status crowd(void *arg)
{
    static cohort_future *tasks[NUM_IN_CROWD];
    cohort_promise *promise;
    cohort_future *never;
    create(&promise, &never);
    for (int i = 0; i < NUM_IN_CROWD; i++)
        tasks[i] = cohort_async(wait_in_many_ways, never);
    cohort_status status = cohort_await(cohort_when_all(tasks, NUM_IN_CROWD));
    cohort_promise_fulfil(promise, NULL);
    cohort_future_unref(never);
    cohort__scheduler_stop();
    return arg ? COHORT_ERR_FAILED : status;
}

static bool poll_with_room(void *context)
{
    CHECK(cohort__fiber_room(cohort__worker_self->fiber) > LOOP_BYTES);
    return cohort__plain_loop_hooks()->poll(context);
}

static bool park_with_room(void *context)
{
    CHECK(cohort__fiber_room(cohort__worker_self->fiber) > LOOP_BYTES);
    return cohort__plain_loop_hooks()->park(context);
}

static void run_crowd(unsigned num_workers)
{
    struct cohort__scheduler_options options;
    struct cohort__scheduler_hooks hooks = *cohort__plain_loop_hooks();
    hooks.poll = poll_with_room;
    hooks.park = park_with_room;
    cohort__scheduler_options_init(&options);
    options.num_workers = num_workers;
    options.stack_bytes = SMALL_STACK_BYTES;
    atomic_store(&num_from_crowd, 0);
    CHECK_OK(cohort__scheduler_start(&options, &hooks));
    limit_address_space(FEW_STACKS_BYTES);
    cohort_future *done = cohort_async(crowd, NULL);
    CHECK_OK(cohort__scheduler_run());
    CHECK_OK(cohort_await(done));
    CHECK(atomic_load(&num_from_crowd) > 0);
    cohort__plain_loop_fini();
}

TEST(small_stacks)
{
    if (COHORT__ASAN || COHORT__TSAN)
        return; /* they need more of a stack, and all addresses */
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++) {
        int status;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            run_crowd(num_workers);
            _exit(0);
        }
        CHECK_INT(waitpid(child, &status, 0), child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* --- tasks that only await others in place --- */

static cohort_status compute(void *arg)
{
    uint64_t end = cohort__clock_after((uint64_t)(uintptr_t)arg);
    while (cohort__clock_now() < end)
        ;
    return COHORT_OK;
}

static cohort_status wait_a_millisecond(void *is_over)
{
    cohort_promise *promise;
    cohort_future *future;
    create(&promise, &future);
    CHECK_INT(await_within(future, MILLISECOND), COHORT_ERR_TIMEOUT);
    *(bool *)is_over = true;
    cohort_promise_fulfil(promise, NULL);
    return cohort_await(future);
}

/* Its awaits could all be plain calls. Still the event loop gets its turn. */
TEST_TASK(progress_beside_plain_calls, run_on(1, 1, task, NULL))
{
    bool is_over = false;
    cohort_future *timer = cohort_async(wait_a_millisecond, &is_over);
    cohort_yield();
    int num_rounds = 0;
    for (; !is_over && num_rounds < 10000; num_rounds++)
        CHECK_OK(cohort_await(cohort_async(compute, (void *)(uintptr_t)50000)));
    CHECK(num_rounds < 10000);
    CHECK_OK(cohort_await(timer));
}
