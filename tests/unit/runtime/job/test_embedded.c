/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cohort/cohort.h"
#include "cohort/uv.h"
#include "tests/support/new.h"
#include "tests/support/test.h"

/* A process that was started alone. tests/multi/embed_test.py has those of cohortrun. */

/* The linker puts this before pthread_create (--wrap). */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *arg);
static atomic_bool has_no_threads, wants_stop;

/* Within cohort_start. */
static void try_early_stop(void)
{
    CHECK_FAILS(cohort_stop(COHORT_OK), COHORT_ERR_STATE,
                "cohort_stop: cohort_start has not returned yet");
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *arg)
{
    if (atomic_exchange(&wants_stop, false))
        try_early_stop();
    return has_no_threads ? EAGAIN : __real_pthread_create(thread, attributes, function, arg);
}

static void start(uint32_t workers)
{
    CHECK_OK(cohort_start(&(cohort_start_options){.workers = workers}));
}

static void stop(void)
{
    CHECK_OK(cohort_stop(COHORT_OK));
}

static void check_refused(cohort_status status, const char *message)
{
    CHECK_FAILS(status, COHORT_ERR_STATE, message);
}

static void check_not_started(void)
{
    check_refused(cohort_stop(COHORT_OK), "cohort_stop: cohort_start has not started the runtime");
}

static int num_threads(void)
{
    return test_num_entries("/proc/self/task");
}

/* Threads that were joined are there for a moment. If others are left over, this never ends. */
static void await_threads(int num)
{
    while (num_threads() > num)
        sched_yield();
}

/* --- the runtime beside the program's thread --- */

static cohort_status look_around(void *arg)
{
    sigset_t blocked;
    bool *is_done = arg;
    CHECK(cohort_worker_index() >= 0);
    CHECK_INT(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
    CHECK(sigismember(&blocked, SIGTERM) == 0);
    CHECK(sigismember(&blocked, SIGUSR1) == 1); /* as in the thread that has called start */
    CHECK(sigismember(&blocked, SIGSEGV) == 0);
    *is_done = true;
    return COHORT_OK;
}

TEST(beside)
{
    sigset_t blocked;
    bool is_done = false;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaddset(&blocked, SIGSEGV);
    CHECK_INT(pthread_sigmask(SIG_BLOCK, &blocked, NULL), 0);
    start(3);
    CHECK_INT(cohort_num_workers(), 3);
    CHECK_INT(cohort_num_localities(), 1);
    CHECK_INT(cohort_worker_index(), -1);
    CHECK_OK(cohort_await(cohort_async(look_around, &is_done)));
    CHECK(is_done);
    CHECK_INT(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
    CHECK(sigismember(&blocked, SIGTERM) == 0);
    CHECK(sigismember(&blocked, SIGSEGV) == 1);
    stop();
    sigemptyset(&blocked);
    CHECK_INT(pthread_sigmask(SIG_SETMASK, &blocked, NULL), 0);
    CHECK_INT(cohort_num_workers(), 0);
}

/* Who starts the program has the last word. */
TEST(workers)
{
    CHECK_INT(setenv("COHORT_WORKERS", "2", 1), 0);
    start(3);
    CHECK_INT(cohort_num_workers(), 2);
    stop();
    CHECK_INT(unsetenv("COHORT_WORKERS"), 0);
    CHECK_OK(cohort_start(NULL));
    CHECK(cohort_num_workers() > 0);
    stop();
}

/* A remote task, a sleep: all of the locality is there, and nothing of it after the end, however
 * often. */
static cohort_status answer(const cohort_object *in, cohort_object *ret_out, void *context)
{
    ++*(int *)context;
    return COHORT_OK;
}

TEST(again)
{
    enum { NUM = 4 };
    static int num_answers;
    int num_before = num_threads(), num_descriptors = 0;
    for (int i = 0; i < NUM; i++) {
        char name[16];
        snprintf(name, sizeof(name), "answer %d", i);
        CHECK_OK(cohort_remote_register(name, answer, &num_answers));
        start(2);
        check_refused(cohort_remote_register("late", answer, NULL), "the runtime is up already");
        CHECK_OK(cohort_await(cohort_async_at(0, name, NULL, NULL)));
        CHECK_OK(cohort_await(cohort_sleep(1000)));
        stop();
        await_threads(num_before);
        if (i == 0)
            num_descriptors = test_num_entries("/proc/self/fd");
        CHECK_INT(test_num_entries("/proc/self/fd"), num_descriptors);
        CHECK_INT(cohort_await(cohort_async(look_around, NULL)), COHORT_ERR_STATE);
    }
    CHECK_INT(num_answers, NUM);
}

/* --- the end --- */

static cohort_status sleep_and_count(void *arg)
{
    cohort_status status = cohort_await(cohort_sleep(20000000));
    ++*(_Atomic int *)arg;
    return status;
}

TEST(stop_waits)
{
    _Atomic int num_ended = 0;
    start(2);
    for (int i = 0; i < 5; i++)
        cohort_future_unref(cohort_async(sleep_and_count, &num_ended));
    stop();
    CHECK_INT(num_ended, 5);
}

/* A thread that goes on to start tasks does not keep the stop from its end. Until then it may do
 * all else, and the task that waits for it start others. */
struct late {
    cohort_promise *promise;
    cohort_future *future;
    int num_tasks;
};

static cohort_status count(void *arg)
{
    ++((struct late *)arg)->num_tasks;
    return COHORT_OK;
}

static cohort_status start_another(void *arg)
{
    return cohort_await(cohort_async(count, arg));
}

static cohort_status wait_and_start(void *arg)
{
    struct late *late = arg;
    cohort_status status = cohort_await(late->future);
    if (!status)
        status = cohort_blocking(start_another, late);
    return status ? status : start_another(late);
}

static cohort_status never_then(cohort_future *future, void *arg)
{
    return count(arg);
}

static cohort_status never_dataflow(void *const *values, size_t num, void **ret_value, void *arg)
{
    return count(arg);
}

static cohort_status never_index(size_t index, void *arg)
{
    return count(arg);
}

static void check_late(cohort_status status, const char *function)
{
    char text[100];
    snprintf(text, sizeof(text), "%s: cohort_stop was called, so threads outside of tasks",
             function);
    check_refused(status, text);
}

static void check_all_late(struct late *late, cohort_scope *scope)
{
    const cohort_task_options high = {.priority = COHORT_TASK_HIGH};
    check_late(cohort_await(cohort_async_with(count, late, &high)), "cohort_async_with");
    check_late(cohort_await(cohort_then(cohort_future_of_value(NULL), never_then, late)),
               "cohort_then");
    check_late(cohort_await(cohort_dataflow(NULL, 0, never_dataflow, late)), "cohort_dataflow");
    check_late(cohort_await(cohort_parallel_for(0, 9, NULL, never_index, late)),
               "cohort_parallel_for");
    check_late(cohort_scope_async(scope, count, late), "cohort_scope_async");
    check_late(cohort_await(cohort_async_at(0, "none", NULL, NULL)), "cohort_async_at");
    check_late(cohort_await(cohort_async_everywhere("none", NULL, NULL)),
               "cohort_async_everywhere");
    CHECK_OK(cohort_await(cohort_sleep(1)));
}

static void *stop_meanwhile(void *arg)
{
    stop();
    return arg;
}

TEST(late_tasks)
{
    pthread_t thread;
    cohort_status status;
    struct late late = {.num_tasks = 0};
    int num_before = 0;
    start(2);
    late.promise = new_promise(&late.future);
    cohort_scope *scope = new_scope();
    cohort_future *waiting = cohort_async(wait_and_start, &late);
    CHECK_INT(pthread_create(&thread, NULL, stop_meanwhile, NULL), 0);
    while ((status = cohort_await(cohort_async(count, &late))) == COHORT_OK)
        num_before++;
    check_late(status, "cohort_async");
    check_all_late(&late, scope);
    CHECK_OK(cohort_scope_await(scope));
    CHECK_INT(late.num_tasks, num_before);
    cohort_promise_fulfil(late.promise, NULL);
    CHECK_OK(cohort_await(waiting));
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_INT(late.num_tasks, num_before + 2);
    start(1); /* open again */
    CHECK_OK(cohort_await(cohort_async(count, &late)));
    stop();
}

TEST(failure)
{
    start(1);
    CHECK_INT(cohort_stop(cohort_fail(COHORT_ERR_FAILED, "out of paper")), COHORT_ERR_FAILED);
    CHECK_TEXT(cohort_error_message(), "out of paper");
    start(1);
    (void)cohort_fail(COHORT_ERR_FAILED, "out of ink");
    CHECK_INT(cohort_stop(COHORT_ERR_TIMEOUT), COHORT_ERR_TIMEOUT);
    CHECK_TEXT(cohort_error_message(), "the program has failed");
    check_not_started();
}

struct called {
    cohort_status status;
    int num;
};

static void note(cohort_status status, void *value, void *arg)
{
    struct called *called = arg;
    called->status = status;
    called->num++;
}

static void stop_in_callback(cohort_status status, void *value, void *arg)
{
    CHECK_OK(status);
    stop();
}

/* Callbacks that are left have their turn behind the end, with an error. */
TEST(callbacks)
{
    struct called called = {0};
    cohort_callbacks *callbacks = NULL;
    cohort_future *future;
    CHECK_OK(cohort_callbacks_create(&callbacks));
    start(1);
    cohort_promise *promise = new_promise(&future);
    CHECK_OK(cohort_callbacks_add(callbacks, future, note, &called));
    CHECK_OK(cohort_callbacks_add(callbacks, cohort_future_of_value(NULL), stop_in_callback, NULL));
    CHECK_OK(cohort_callbacks_run(callbacks, 0, NULL));
    check_not_started();
    CHECK_INT(called.num, 0);
    CHECK_OK(cohort_callbacks_run(callbacks, 0, NULL));
    CHECK_INT(called.num, 1);
    CHECK_INT(called.status, COHORT_ERR_CANCELLED);
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_callbacks_destroy(callbacks));
    CHECK_INT(called.num, 1);
}

/* --- refusals --- */

static cohort_status stop_in_runtime(void *arg)
{
    check_refused(cohort_stop(COHORT_OK), "cohort_stop: called by a thread of the runtime");
    check_refused(cohort_start(NULL), "cohort_start: the runtime of this process is up already");
    return COHORT_OK;
}

static cohort_status stop_in_blocking(void *arg)
{
    return cohort_blocking(stop_in_runtime, arg);
}

static cohort_status stop_on_loop(uv_loop_t *loop, void *arg)
{
    return stop_in_runtime(arg);
}

static void check_inside(void)
{
    CHECK_OK(cohort_await(cohort_async(stop_in_runtime, NULL)));
    CHECK_OK(cohort_await(cohort_async(stop_in_blocking, NULL)));
    CHECK_OK(cohort_await(cohort_run_on_loop(stop_on_loop, NULL)));
}

TEST(misuse)
{
    char *argv[] = {"embedded", NULL};
    check_not_started();
    start(1);
    check_refused(cohort_start(NULL), "cohort_start: the runtime of this process is up already");
    CHECK_INT(cohort_main(1, argv, stop_in_runtime, NULL), 1);
    CHECK_CONTAINS(cohort_error_message(), "cohort_main: the runtime of this process is up");
    check_inside();
    pid_t child = fork();
    if (child == 0) {
        check_refused(cohort_stop(COHORT_OK), "cohort_stop: in a process that was forked");
        check_refused(cohort_start(NULL), "cohort_start: in a process that was forked");
        _exit(0);
    }
    int status = -1;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    stop();
    check_not_started();
    CHECK_INT(setenv("COHORT_PROGRESS", "thread", 1), 0);
    start(1);
    check_inside();
    stop();
    CHECK_INT(unsetenv("COHORT_PROGRESS"), 0);
}

TEST(bad_start)
{
    struct {
        cohort_start_options options;
        uint32_t unknown;
    } newer = {.unknown = 1};
    CHECK_FAILS(cohort_start_sized(&newer.options, sizeof(newer)), COHORT_ERR_BAD_PARAMETER,
                "cohort_start");
    CHECK_FAILS(cohort_start(&(cohort_start_options){.workers = 4097}), COHORT_ERR_BAD_PARAMETER,
                "cohort_start: 4097 workers, not at most 4096");
    CHECK_INT(setenv("COHORT_WORKERS", "several", 1), 0);
    CHECK_FAILS(cohort_start(NULL), COHORT_ERR_BAD_PARAMETER, "COHORT_WORKERS");
    CHECK_INT(unsetenv("COHORT_WORKERS"), 0);
    check_not_started();
    int num_before = num_threads();
    has_no_threads = true;
    CHECK_INT(cohort_start(NULL), COHORT_ERR_NO_MEMORY);
    has_no_threads = false;
    CHECK_CONTAINS(cohort_error_message(), "cohort_start: no thread: ");
    check_not_started();
    await_threads(num_before);
    start(1);
    stop();
}

/* Of several that start or stop at once, one does. */
static void *try_to_start(void *arg)
{
    cohort_status status = cohort_start(NULL);
    if (status)
        CHECK_INT(status, COHORT_ERR_STATE);
    else
        ++*(_Atomic int *)arg;
    return NULL;
}

static void *try_to_stop(void *arg)
{
    cohort_status status = cohort_stop(COHORT_OK);
    if (status)
        CHECK_INT(status, COHORT_ERR_STATE);
    else
        ++*(_Atomic int *)arg;
    return NULL;
}

static void check_one_does(void *(*function)(void *))
{
    enum { NUM = 3 };
    _Atomic int num_done = 0;
    pthread_t threads[NUM];
    for (int i = 0; i < NUM; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, function, &num_done), 0);
    for (int i = 0; i < NUM; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_INT(num_done, 1);
}

/* Stops as soon as it may, which is not before the start has returned. */
static void *stop_soon(void *arg)
{
    cohort_status status;
    while ((status = cohort_stop(COHORT_OK)) == COHORT_ERR_STATE)
        sched_yield();
    CHECK_OK(status);
    return arg;
}

TEST(race)
{
    for (int i = 0; i < 5; i++) {
        check_one_does(try_to_start);
        check_one_does(try_to_stop);
    }
    wants_stop = true;
    start(1);
    CHECK(!wants_stop);
    stop();
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        CHECK_INT(pthread_create(&thread, NULL, stop_soon, NULL), 0);
        start(1);
        CHECK_INT(pthread_join(thread, NULL), 0);
    }
}

/* cohort_main goes by the same rule. */
static cohort_status start_in_main(void *arg)
{
    check_refused(cohort_start(NULL), "cohort_start: the runtime of this process is up already");
    check_refused(cohort_stop(COHORT_OK), "cohort_stop: called by a thread of the runtime");
    ++*(int *)arg;
    return COHORT_OK;
}

static void *refuse_in_thread(void *arg)
{
    check_not_started();
    return arg;
}

static cohort_status await_in_main(void *arg)
{
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, refuse_in_thread, NULL), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    return start_in_main(arg);
}

TEST(main_program)
{
    int num_calls = 0;
    char *argv[] = {"embedded", NULL};
    for (int i = 1; i <= 2; i++) {
        CHECK_INT(cohort_main(1, argv, await_in_main, &num_calls), 0);
        CHECK_INT(num_calls, i);
        start(1);
        stop();
    }
    CHECK_INT(cohort_main(1, argv, NULL, NULL), 1);
    CHECK_CONTAINS(cohort_error_message(), "cohort_main: no program");
}

/* cohortrun is told of a start that does not come to its welcome, too. In a child, since no start
 * may follow. */
static void fail_without_threads(int connection)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", connection);
    CHECK_INT(setenv("COHORT_CONTROL_FD", number, 1), 0);
    has_no_threads = true;
    CHECK_FAILS(cohort_start(NULL), COHORT_ERR_NO_MEMORY, "no thread");
    has_no_threads = false;
    check_refused(cohort_start(NULL), "cohort_start: a start of this process has failed");
    _exit(0);
}

TEST(told)
{
    int ends[2], status = -1;
    char said[200];
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        fail_without_threads(ends[1]);
    }
    close(ends[1]);
    ssize_t bytes = read(ends[0], said, sizeof(said));
    CHECK(bytes > 0 && memmem(said, (size_t)bytes, "no thread", 9));
    CHECK_INT(read(ends[0], said, sizeof(said)), 0);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    close(ends[0]);
}
