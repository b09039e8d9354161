/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cohort/scope.h"
#include "runtime/base/clock.h"
#include "runtime/base/sanitizer.h"
#include "runtime/task/worker.h"
#include "tests/support/await_within.h"
#include "tests/unit/runtime/task/run_tasks.h"

/* A stack has up to a page more than was asked for, so a larger frame makes it too small. */
enum { FRAME_BYTES = 8192 };

enum { MIB = 1 << 20, LARGE = 4 * MIB, MILLISECOND = 1000000 };

static cohort_future *start(cohort_task_function *function, void *arg, size_t stack_bytes)
{
    return cohort_async_with(function, arg,
                             &(const cohort_task_options){.stack_bytes = stack_bytes});
}

static struct cohort__fiber *fiber_now(void)
{
    return cohort__worker_self->fiber;
}

/* Whether there are so many bytes below the call of the task that asks, but for its own frame. */
static bool has_room_for(size_t stack_bytes)
{
    return cohort__fiber_room(fiber_now()) + 1024 > stack_bytes;
}

static cohort_status do_nothing(void *arg)
{
    return COHORT_OK;
}

/* --- arguments --- */

static cohort_status check_arguments(void *arg)
{
    static const size_t wrong[] = {1, 32 * 1024 - 1, ((size_t)1 << 30) + 1, SIZE_MAX};
    for (size_t i = 0; i < NUM_OF(wrong); i++) {
        CHECK_FAILS(cohort_await(start(do_nothing, NULL, wrong[i])), COHORT_ERR_BAD_PARAMETER,
                    "cohort_async_with: stack_bytes is ");
        CHECK_CONTAINS(cohort_error_message(), ", not 0 or 32768 to 1073741824");
    }
    CHECK_INT(cohort_await(start(NULL, NULL, 0)), COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(), "cohort_async_with: function is NULL");
    CHECK_OK(cohort_await(start(do_nothing, NULL, 0)));
    CHECK_OK(cohort_await(start(do_nothing, NULL, 32 * 1024)));
    CHECK_OK(cohort_await(start(do_nothing, NULL, (size_t)1 << 30)));
    CHECK_OK(cohort_await(cohort_async_with(do_nothing, NULL, NULL)));
    struct {
        cohort_task_options options;
        char later;
    } newer = {.later = 1};
    CHECK_FAILS(
        cohort_await(cohort_async_with_sized(do_nothing, NULL, &newer.options, sizeof(newer))),
        COHORT_ERR_BAD_PARAMETER, "cohort_async_with: cohort_task_options: its byte ");
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(arguments)
{
    CHECK_OK(run_tasks(1, check_arguments, NULL));
    CHECK_FAILS(cohort_await(start(do_nothing, NULL, MIB)), COHORT_ERR_STATE,
                "cohort_async_with: ");
}

/* --- what needs a large stack --- */

/* Takes more than 1 KiB for each call, and with the address sanitizer up to a half more. Suspends
 * where half of them are made. */
__attribute__((noinline)) static int descend(int depth, int half)
{
    char frame[1024];
    memset(frame, depth, sizeof(frame));
    if (depth == half)
        cohort_yield();
    int below = depth > 0 ? descend(depth - 1, half) : 0;
    __asm__ volatile("" : : "r"(frame) : "memory");
    CHECK_INT(frame[depth % 1024], (char)depth);
    return below + 1;
}

static atomic_int num_deep;

static cohort_status go_deep(void *arg)
{
    enum { DEPTH = LARGE / 1024 / 5 * (COHORT__ASAN ? 3 : 4) };
    struct cohort__fiber *fiber = fiber_now();
    CHECK(has_room_for(LARGE));
    CHECK_INT(descend(DEPTH, arg ? DEPTH / 2 : -1), DEPTH + 1);
    CHECK(fiber_now() == fiber);
    atomic_fetch_add(&num_deep, 1);
    return cohort_fail(COHORT_ERR_GONE, "deep");
}

/* Awaited at once, and after it has begun; one by one, and many at a time. */
static cohort_status go_deep_in_tasks(void *arg)
{
    enum { NUM = 20 };
    cohort_future *tasks[NUM];
    for (int i = 0; i < NUM; i++) {
        CHECK_INT(cohort_await(start(go_deep, arg, LARGE)), COHORT_ERR_GONE);
        CHECK_TEXT(cohort_error_message(), "deep");
    }
    for (int i = 0; i < NUM; i++)
        tasks[i] = start(go_deep, arg, LARGE - 12345);
    cohort_yield();
    for (int i = 0; i < NUM; i++)
        CHECK_INT(cohort_await(tasks[i]), COHORT_ERR_GONE);
    return COHORT_OK;
}

TEST(deep)
{
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++) {
        atomic_store(&num_deep, 0);
        CHECK_OK(run_tasks(num_workers, go_deep_in_tasks, NULL));
        CHECK_OK(run_tasks(num_workers, go_deep_in_tasks, "and suspend"));
        CHECK_INT(atomic_load(&num_deep), 80);
    }
}

/* Each awaits one of the same size, for which there is no room beside it. */
static cohort_status nest(void *depth)
{
    char frame[FRAME_BYTES];
    uintptr_t left = (uintptr_t)depth;
    struct cohort__fiber *fiber = fiber_now();
    CHECK(cohort__fiber_room(fiber) + FRAME_BYTES + 1024 > LARGE);
    __asm__ volatile("" : : "r"(frame) : "memory");
    cohort_status status =
        left > 0 ? cohort_await(start(nest, (void *)(left - 1), LARGE)) : COHORT_ERR_GONE;
    CHECK(fiber_now() == fiber);
    return status;
}

static cohort_status nest_in_task(void *depth)
{
    return cohort_await(start(nest, depth, LARGE));
}

TEST(nested)
{
    for (unsigned num_workers = 1; num_workers <= 2; num_workers++)
        CHECK_INT(run_tasks(num_workers, nest_in_task, (void *)(uintptr_t)20), COHORT_ERR_GONE);
}

/* --- which stack it gets --- */

static cohort_status tell_fiber(void *arg)
{
    *(struct cohort__fiber **)arg = fiber_now();
    return COHORT_OK;
}

static cohort_status await_smaller_ones(void *arg)
{
    char frame[FRAME_BYTES];
    struct cohort__fiber *fiber = NULL;
    __asm__ volatile("" : : "r"(frame) : "memory");
    CHECK_OK(await_here(start(tell_fiber, &fiber, MIB)));
    CHECK(fiber == fiber_now());
    CHECK_OK(await_here(cohort_async(tell_fiber, &fiber)));
    CHECK(fiber == fiber_now());
    CHECK_OK(await_here(start(tell_fiber, &fiber, LARGE)));
    CHECK(fiber != fiber_now() && fiber->exponent == fiber_now()->exponent);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* A plain call where there is room, and else a stack of its own. The first task runs on the
 * thread's own stack, which does not count as one that has the room. */
static cohort_status take_the_right_stack(void *arg)
{
    struct cohort__fiber *fiber = NULL;
    CHECK_OK(await_here(start(tell_fiber, &fiber, MIB)));
    CHECK(fiber != fiber_now());
    CHECK_OK(await_here(start(tell_fiber, &fiber, 64 * 1024)));
    CHECK(fiber == fiber_now());
    return cohort_await(start(await_smaller_ones, arg, LARGE));
}

TEST_CALL(right_stack, CHECK_OK(run_tasks(1, take_the_right_stack, NULL)))

/* --- the stop --- */

static cohort_status yield_twice(void *arg)
{
    cohort_yield();
    cohort_yield();
    atomic_fetch_add((atomic_int *)arg, 1);
    return COHORT_OK;
}

static cohort_status leave_behind(void *arg)
{
    for (int i = 0; i < 10; i++)
        cohort_future_unref(start(yield_twice, arg, MIB));
    return COHORT_OK;
}

/* The last tasks end on stacks of their own, after the stop. */
TEST(stop)
{
    atomic_int num = 0;
    run_on(1, 3, leave_behind, &num);
    CHECK_INT(atomic_load(&num), 30);
}

/* --- what becomes of the stacks --- */

static cohort_status one_after_the_other(void *arg)
{
    static const size_t sizes[] = {LARGE, MIB, 16 * MIB};
    for (int i = 0; i < 3000; i++)
        CHECK_OK(cohort_await(start(do_nothing, arg, sizes[i % 3])));
    CHECK(cohort__worker_self->sized.num <= 3);
    return COHORT_OK;
}

TEST_CALL(stacks_are_reused, CHECK_OK(run_tasks(1, one_after_the_other, NULL)))

TEST_TASK(unused_stacks_go_back, run_on(1, 1, task, NULL))
{
    cohort_future *tasks[10];
    const struct cohort__sized *sized = &cohort__worker_self->sized;
    for (int i = 0; i < 10; i++)
        tasks[i] = start(go_deep, "and suspend", LARGE);
    for (int i = 0; i < 10; i++)
        CHECK_INT(cohort_await(tasks[i]), COHORT_ERR_GONE);
    CHECK(sized->num > 1);
    cohort_future *never;
    cohort_promise *promise = new_promise(&never);
    for (int i = 0; i < 600 && sized->num > 0; i++)
        CHECK_INT(await_within(never, 10 * MILLISECOND), COHORT_ERR_TIMEOUT);
    CHECK_INT(sized->num, 0);
    cohort_promise_fulfil(promise, NULL);
    cohort_future_unref(never);
}

/* --- without memory --- */

static cohort_status count_run(void *arg)
{
    ++*(int *)arg;
    return COHORT_OK;
}

static cohort_status start_without_memory(void *arg)
{
    int num_run = 0;
    for (int i = 0; i < 3; i++) {
        CHECK_FAILS(cohort_await(start(count_run, &num_run, (size_t)1 << 30)), COHORT_ERR_NO_MEMORY,
                    "cohort_async_with: no stack of 1073745920 bytes: ");
        CHECK_OK(cohort_await(start(count_run, &num_run, MIB)));
    }
    CHECK_INT(num_run, 3);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* The await of a scope does not wait for a task that could not begin. */
static cohort_status start_in_scope(void *arg)
{
    CHECK_OK(start_without_memory(arg));
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, start_without_memory, arg));
    return cohort_scope_await(scope);
}

/* In a child of its own, in which no stack of another case is left. */
TEST(without_memory)
{
    if (COHORT__ASAN || COHORT__TSAN)
        return; /* they need all addresses for themselves */
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        limit_address_space(64 * MIB);
        _exit(run_tasks(1, start_in_scope, NULL) == COHORT_OK ? 0 : 1);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* There is no memory for ordinary stacks, only for those of a size of their own. A task waits, and
 * its worker goes on with others, from the reserve on. */
static cohort_status await_in_place(void *arg)
{
    enum { HUGE_STACK = 64 * MIB };
    struct cohort__fiber *fiber = NULL, *own = fiber_now();
    take_no_more_stacks();
    for (int i = 0; i < 100; i++) {
        CHECK_OK(cohort_await(start(tell_fiber, &fiber, HUGE_STACK)));
        CHECK(fiber != own && fiber_now() == own && own != cohort__worker_self->reserve);
    }
    cohort_future *first = start(go_deep, "and suspend", HUGE_STACK);
    cohort_future *second = start(go_deep, "and suspend", HUGE_STACK);
    CHECK_INT(cohort_await(first), COHORT_ERR_GONE);
    CHECK_INT(cohort_await(second), COHORT_ERR_GONE);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(without_ordinary_stacks)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    for (options.num_workers = 1; options.num_workers <= 2; options.num_workers++)
        CHECK_OK(run_tasks_with(&options, await_in_place, NULL));
}
