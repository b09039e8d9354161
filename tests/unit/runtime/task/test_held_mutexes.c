/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/held_mutexes.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "cohort/cohort.h"
#include "runtime/base/sanitizer.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

/* --- what is said on standard error --- */

static int ends[2], real_stderr;
static char said[8192];

static void listen_to_stderr(void)
{
    CHECK_INT(pipe2(ends, O_NONBLOCK), 0);
    real_stderr = dup(STDERR_FILENO);
    CHECK(dup2(ends[1], STDERR_FILENO) >= 0);
}

/* What was said since the last call. Checks the number of lines that are the library's. */
static const char *heard(int num_lines)
{
    ssize_t bytes = read(ends[0], said, sizeof(said) - 1);
    said[bytes > 0 ? bytes : 0] = 0;
    int num = 0;
    for (const char *at = said; (at = strstr(at, "cohort: ")); at++)
        num++;
    if (num != num_lines) {
        dup2(real_stderr, STDERR_FILENO);
        FAIL("%d lines, not %d: %s", num, num_lines, said);
    }
    return said;
}

static void check_names(const char *text, const void *held, const char *how_many)
{
    char address[32];
    snprintf(address, sizeof(address), "first one %p,", held);
    CHECK_CONTAINS(text, "cohort: the task ");
    CHECK_CONTAINS(text, " waits at ");
    CHECK_CONTAINS(text, "test_task_held_mutexes+0x");
    CHECK_CONTAINS(text, how_many);
    CHECK_CONTAINS(text, address);
    CHECK_CONTAINS(text, "take a cohort_mutex");
}

/* --- tasks --- */

static cohort_status empty(void *arg)
{
    return COHORT_OK;
}

/* An await of it suspends. */
static cohort_future *start_two(void)
{
    cohort_future *two[] = {cohort_async(empty, NULL), cohort_async(empty, NULL)};
    return cohort_when_all(two, 2);
}

/* It is always the same place. */
__attribute__((noinline)) static void wait_here(void)
{
    CHECK_OK(cohort_await(start_two()));
}

static cohort_status hold(void *arg)
{
    CHECK_INT(pthread_mutex_lock(&mutex), 0);
    CHECK_INT(pthread_mutex_unlock(&mutex), 0);
    wait_here();
    heard(0);
    CHECK_INT(pthread_mutex_lock(&mutex), 0);
    CHECK_INT(pthread_mutex_lock(&second), 0);
    wait_here();
    check_names(heard(1), &mutex, "holds 2 pthread mutexes,");
    wait_here();
    heard(0); /* once is enough */
    CHECK_INT(pthread_mutex_unlock(&mutex), 0);
    CHECK_OK(cohort_await(start_two())); /* it is still known what this task holds */
    check_names(heard(1), &second, "holds 1 pthread mutex,");
    CHECK_INT(pthread_mutex_unlock(&second), 0);
    CHECK_OK(cohort_await(start_two()));
    return COHORT_OK;
}

TEST(hold)
{
    CHECK_OK(run_tasks(1, hold, NULL));
    heard(0);
}

/* Each way to lock, and each that fails. */
TEST_TASK(ways, run_on(1, 1, task, NULL))
{
    struct timespec past = {.tv_sec = 1};
    CHECK_INT(pthread_mutex_trylock(&mutex), 0);
    CHECK_OK(cohort_await(start_two()));
    check_names(heard(1), &mutex, "holds 1 ");
    CHECK(pthread_mutex_trylock(&mutex) != 0);
    CHECK(pthread_mutex_timedlock(&mutex, &past) != 0);
    if (!COHORT__TSAN)
        CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past) != 0);
    CHECK_INT(pthread_mutex_unlock(&mutex), 0);
    CHECK_OK(cohort_await(start_two()));
    heard(0);
    CHECK_INT(pthread_mutex_timedlock(&mutex, &past), 0);
    CHECK_OK(cohort_await(start_two()));
    check_names(heard(1), &mutex, "holds 1 ");
    CHECK_INT(pthread_mutex_unlock(&mutex), 0);
    if (!COHORT__TSAN) { /* gcc 12's does not know that function */
        CHECK_INT(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past), 0);
        CHECK_OK(cohort_await(start_two()));
        check_names(heard(1), &mutex, "holds 1 ");
        CHECK_INT(pthread_mutex_unlock(&mutex), 0);
    }
    CHECK_OK(cohort_await(start_two()));
    heard(0);
}

/* A wait for a condition leaves it locked, and once. */
static bool is_signalled;

static void *signal_condition(void *arg)
{
    CHECK_INT(pthread_mutex_lock(&mutex), 0);
    is_signalled = true;
    pthread_cond_signal(&cond);
    CHECK_INT(pthread_mutex_unlock(&mutex), 0);
    return arg;
}

TEST_TASK(condition, run_on(1, 1, task, NULL))
{
    CHECK_INT(pthread_mutex_lock(&mutex), 0);
    pthread_t thread = new_thread(signal_condition, NULL);
    while (!is_signalled)
        pthread_cond_wait(&cond, &mutex);
    CHECK_OK(cohort_await(start_two()));
    check_names(heard(1), &mutex, "holds 1 ");
    CHECK_INT(pthread_mutex_unlock(&mutex), 0);
    end_thread(thread);
    CHECK_OK(cohort_await(start_two()));
    heard(0);
}

/* Others on the same worker hold nothing, whether they run while the holder waits or in its
 * place. */
static cohort_status yield_only(void *arg)
{
    cohort_yield();
    return COHORT_OK;
}

static cohort_status hold_beside_others(void *arg)
{
    cohort_future *other = cohort_async(yield_only, NULL);
    CHECK_INT(pthread_mutex_lock(&mutex), 0);
    CHECK_OK(cohort_await(start_two()));
    heard(1);
    CHECK_OK(cohort_await(start_two()));
    heard(1);
    CHECK_OK(cohort_await(cohort_async(yield_only, NULL)));
    heard(1); /* this task, although it did not suspend by itself */
    CHECK_INT(pthread_mutex_unlock(&mutex), 0);
    CHECK_OK(cohort_await(other));
    heard(0);
    return COHORT_OK;
}

TEST(others)
{
    CHECK_OK(run_tasks(1, hold_beside_others, NULL));
    heard(0);
}

/* A thread outside may hold what it likes. */
static void *hold_outside(void *future)
{
    CHECK_INT(pthread_mutex_lock(&mutex), 0);
    CHECK_OK(cohort_await(future));
    CHECK_INT(pthread_mutex_unlock(&mutex), 0);
    return NULL;
}

static cohort_status run_outside(void *arg)
{
    cohort_future *future;
    cohort_promise *promise = new_promise(&future);
    pthread_t thread = new_thread(hold_outside, future);
    cohort_yield();
    cohort_promise_fulfil(promise, NULL);
    end_thread(thread);
    return COHORT_OK;
}

TEST(outside)
{
    CHECK_OK(run_tasks(2, run_outside, NULL));
    heard(0);
}

/* More than are noticed at a time do no harm. */
static cohort_status hold_many(void *arg)
{
    enum { NUM = COHORT__HELD_MUTEXES_MOST + 4 };
    pthread_mutex_t many[NUM];
    for (int i = 0; i < NUM; i++) {
        CHECK_INT(pthread_mutex_init(&many[i], NULL), 0);
        CHECK_INT(pthread_mutex_lock(&many[i]), 0);
    }
    CHECK_OK(cohort_await(start_two()));
    check_names(heard(1), &many[0], "holds 16 pthread mutexes");
    for (int i = 0; i < NUM; i++) {
        CHECK_INT(pthread_mutex_unlock(&many[i]), 0);
        CHECK_INT(pthread_mutex_destroy(&many[i]), 0);
    }
    CHECK_OK(cohort_await(start_two()));
    heard(0);
    return COHORT_OK;
}

/* What tasks that wait hold is not the thread's. */
enum { NUM_HOLDERS = COHORT__HELD_MUTEXES_MOST + 4 };
static cohort_future *may_end;
static int num_holders;

/* A place of its own: compilers may make one of two equal calls in a function. */
__attribute__((noinline)) static void wait_as_last(void)
{
    CHECK_OK(cohort_await(cohort_future_ref(may_end)));
}

static cohort_status hold_one(void *own)
{
    CHECK_INT(pthread_mutex_lock(own), 0);
    if (++num_holders == NUM_HOLDERS)
        wait_as_last();
    else
        CHECK_OK(cohort_await(cohort_future_ref(may_end)));
    CHECK_INT(pthread_mutex_unlock(own), 0);
    return COHORT_OK;
}

static cohort_status hold_beside_holders(void *arg)
{
    pthread_mutex_t own[NUM_HOLDERS];
    cohort_future *holders[NUM_HOLDERS];
    cohort_promise *promise = new_promise(&may_end);
    for (int i = 0; i < NUM_HOLDERS; i++) {
        CHECK_INT(pthread_mutex_init(&own[i], NULL), 0);
        holders[i] = cohort_async(hold_one, &own[i]);
    }
    YIELD_WHILE(num_holders < NUM_HOLDERS);
    heard(2);
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(cohort_when_all(holders, NUM_HOLDERS)));
    cohort_future_unref(may_end);
    for (int i = 0; i < NUM_HOLDERS; i++)
        CHECK_INT(pthread_mutex_destroy(&own[i]), 0);
    return COHORT_OK;
}

TEST(many)
{
    CHECK_OK(run_tasks(1, hold_many, NULL));
    CHECK_OK(run_tasks(1, hold_beside_holders, NULL));
}

int main(int argc, char **argv)
{
    listen_to_stderr();
    return tests_run(argc, argv);
}
