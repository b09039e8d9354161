/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/crash.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cohort/future.h"
#include "cohort/task.h"
#include "runtime/base/sanitizer.h"
#include "runtime/task/stack.h"
#include "runtime/task/worker.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/task/run_child.h"

enum { THREAD_STACK_KIB = 1024, LARGE_STACK_KIB = 4096, LEAP = -1 };

/* Takes more than 1 KiB of the stack for each call. The compiler can't know what the asm does with
 * the frame, so that each call has its own. */
__attribute__((noinline)) static int descend(int depth)
{
    char frame[1024];
    memset(frame, depth, sizeof(frame));
    int below = depth > 0 ? descend(depth - 1) : 0;
    __asm__ volatile("" : : "r"(frame) : "memory");
    return below + frame[depth % 1024];
}

/* Uses only the far end of its frame, which is larger than what is left of the stack. The compiler
 * makes it touch each page of it in turn (-fstack-clash-protection), so that none is left out. */
__attribute__((noinline)) static int leap(void)
{
    char frame[256 * 1024];
    char *far = frame;
    __asm__ volatile("" : "+r"(far) : : "memory");
    *far = 1;
    __asm__ volatile("" : : "r"(far) : "memory");
    return *far;
}

/* Leaps from where 16 KiB of the stack are left. */
static int descend_and_leap(void)
{
    char frame[1024];
    __asm__ volatile("" : : "r"(frame) : "memory");
    int below =
        cohort__fiber_room(cohort__worker_self->fiber) > 16 * 1024 ? descend_and_leap() : leap();
    __asm__ volatile("" : : "r"(frame) : "memory");
    return below + 1;
}

struct descent {
    cohort_future *gate;
    int num_waiting;
    int depth; /* of the last task; LEAP: as descend_and_leap */
};

static cohort_status wait_at_gate(struct descent *descent)
{
    descent->num_waiting++;
    return cohort_await(cohort_future_ref(descent->gate));
}

static cohort_status wait_task(void *arg)
{
    return wait_at_gate(arg);
}

static cohort_status descend_task(void *arg)
{
    struct descent *descent = arg;
    cohort_status status = wait_at_gate(descent);
    int sum = descent->depth == LEAP ? descend_and_leap() : descend(descent->depth);
    if (status == COHORT_OK && sum == 1 << 30)
        status = COHORT_ERR_FAILED;
    return cohort_await(cohort_future_ref(descent->gate)) || status;
}

/* A task waits on the thread's own stack, and others on stacks of a slab. The last one goes on, and
 * calls itself. */
static cohort_status several(void *arg)
{
    struct descent descent = {.depth = *(int *)arg};
    cohort_promise *promise = new_promise(&descent.gate);
    cohort_future *tasks[4];
    for (int i = 0; i < 4; i++) {
        tasks[i] = cohort_async(i < 3 ? wait_task : descend_task, &descent);
        YIELD_WHILE(descent.num_waiting <= i);
    }
    cohort_promise_fulfil(promise, NULL);
    cohort_status status = cohort_await(cohort_when_all(tasks, 4));
    cohort_future_unref(descent.gate);
    return status;
}

/* What a child says, and how it ends, whose threads have small stacks. */
static int run_small(cohort_task_function *function, void *arg, char *text, size_t capacity)
{
    return run_child(function, arg, RLIMIT_STACK, THREAD_STACK_KIB << 10, text, capacity);
}

static void check_overflow(cohort_task_function *function, void *arg, const char *who,
                           const char *where)
{
    char text[4096];
    int status = run_small(function, arg, text, sizeof(text));
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    CHECK_CONTAINS(text, who);
    CHECK_CONTAINS(text, where);
}

static void check_kind(enum cohort__stack_guard guard, int too_deep)
{
    char text[4096];
    int deep = 100;
    cohort__stack_use_guard(guard);
    int status = run_small(several, &deep, text, sizeof(text));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_TEXT(text, "");
    check_overflow(several, &too_deep, "test_task_crash_overflow",
                   " has grown beyond its stack of 262144 bytes (COHORT_STACK)\n");
    cohort__stack_use_guard(COHORT__STACK_GUARD_KERNEL);
}

TEST(tasks_that_are_too_deep)
{
    if (COHORT__ASAN || COHORT__TSAN)
        return; /* they explain it themselves */
    check_kind(COHORT__STACK_GUARD_KERNEL, 1000);
    check_kind(COHORT__STACK_GUARD_PAGE, 1000);
    check_kind(COHORT__STACK_GUARD_CANARY, 322); /* a little, which the neighbour survives */
}

/* A frame that is larger than the guard does not get over it. */
TEST(large_frame)
{
    int depth = LEAP;
    if (COHORT__ASAN || COHORT__TSAN || !HAS_STACK_CLASH_PROTECTION)
        return;
    for (enum cohort__stack_guard guard = COHORT__STACK_GUARD_KERNEL;
         guard <= COHORT__STACK_GUARD_PAGE; guard++) {
        cohort__stack_use_guard(guard);
        check_overflow(several, &depth, "test_task_crash_overflow",
                       " has grown beyond its stack of 262144 bytes (COHORT_STACK)\n");
    }
    cohort__stack_use_guard(COHORT__STACK_GUARD_KERNEL);
}

/* The first task runs on the thread's own stack. */
static cohort_status descend_on_thread(void *arg)
{
    return descend(*(int *)arg) == 1 << 30 ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(stack_of_thread)
{
    int too_deep = 2 * THREAD_STACK_KIB;
    if (COHORT__ASAN || COHORT__TSAN)
        return;
    check_overflow(descend_on_thread, &too_deep, "cohort: the task ",
                   " has grown beyond its thread's stack of ");
    check_overflow(descend_on_thread, &too_deep, "test_task_crash_overflow",
                   " bytes (ulimit -s)\n");
}

static cohort_status descend_on_large_stack(void *arg)
{
    const cohort_task_options options = {.stack_bytes = LARGE_STACK_KIB << 10};
    return cohort_await(cohort_async_with(descend_on_thread, arg, &options));
}

TEST(stack_of_its_own_size)
{
    int deep = LARGE_STACK_KIB / 2, too_deep = 2 * LARGE_STACK_KIB;
    char text[4096];
    if (COHORT__ASAN || COHORT__TSAN)
        return;
    int status = run_small(descend_on_large_stack, &deep, text, sizeof(text));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_TEXT(text, "");
    check_overflow(descend_on_large_stack, &too_deep, "test_task_crash_overflow",
                   " has grown beyond its stack of 4194304 bytes (stack_bytes of "
                   "cohort_task_options)\n");
}

static void descend_in_work(struct cohort__work *work)
{
    work->node.next = NULL;
    if (descend(1000) == 1 << 30)
        work->run = NULL;
}

/* The loop runs a work on the stack to which it goes on when this task yields. */
static cohort_status start_work(void *arg)
{
    struct cohort__work work = {.run = descend_in_work};
    cohort__worker_push(cohort__worker_self, &work);
    cohort_yield();
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(outside_of_tasks)
{
    if (!COHORT__ASAN && !COHORT__TSAN)
        check_overflow(start_work, NULL, "cohort: a function outside of tasks has grown beyond its",
                       " stack of 262144 bytes (COHORT_STACK)\n");
}

static cohort_status send_signal(void *arg)
{
    kill(getpid(), SIGSEGV);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* A signal that is sent, and not caused, ends the program as ever, without a word. */
TEST(signal_that_is_sent)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(run_tasks(1, send_signal, NULL) == COHORT_OK ? 0 : 1);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(COHORT__ASAN || COHORT__TSAN || (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV));
}

static volatile sig_atomic_t num_handled;

static void count(int number)
{
    num_handled++;
}

static cohort_status do_nothing(void *arg)
{
    return COHORT_OK;
}

/* The program's own handler stays. */
TEST(own_handler)
{
    struct sigaction got, action = {.sa_handler = count};
    sigaction(SIGSEGV, &action, &got);
    struct sigaction before = got;
    CHECK_OK(run_tasks(1, do_nothing, NULL));
    sigaction(SIGSEGV, &before, &got);
    CHECK(got.sa_handler == count);
}
