/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/fiber.h"

#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "tests/support/thread.h"

enum { STACK_BYTES = 256 * 1024 };

static struct cohort__fiber own;

struct echo {
    struct cohort__fiber *fiber;
    struct cohort__fiber *back;
    int number;
};

static void echo_run(void *arg)
{
    struct echo *echo = arg;
    for (int i = 0;; i++) {
        echo->number += i;
        cohort__fiber_switch(echo->fiber, echo->back);
    }
}

static void create_echo(struct echo *echo)
{
    memset(echo, 0, sizeof(*echo));
    echo->back = &own;
    CHECK_OK(cohort__fiber_create(&echo->fiber, STACK_BYTES, echo_run, echo));
}

TEST(switches)
{
    CHECK_OK(cohort__fiber_adopt(&own));
    struct echo echo[10];
    for (int i = 0; i < 10; i++)
        create_echo(&echo[i]);
    for (int round = 0; round < 1000; round++)
        for (int i = 0; i < 10; i++)
            cohort__fiber_switch(&own, echo[i].fiber);
    for (int i = 0; i < 10; i++) {
        CHECK_INT(echo[i].number, 999 * 1000 / 2);
        cohort__fiber_destroy(echo[i].fiber);
    }
    cohort__fiber_destroy(NULL);
    cohort__fiber_unadopt(&own);
}

/* More values than there are registers that a call preserves. */
static double many_values(struct cohort__fiber *from, struct cohort__fiber *to, double seed)
{
    double a = seed + 1, b = seed + 2, c = seed + 3, d = seed + 4, e = seed + 5, f = seed + 6;
    long g = (long)seed + 7, h = (long)seed + 8, i = (long)seed + 9, j = (long)seed + 10;
    __asm__ volatile("" : "+g"(g), "+g"(h), "+g"(i), "+g"(j));
    cohort__fiber_switch(from, to);
    __asm__ volatile("" : "+g"(g), "+g"(h), "+g"(i), "+g"(j));
    return a * b * c * d * e * f + (double)(g * h * i * j);
}

struct registers {
    struct cohort__fiber *fiber;
    double result;
};

static void registers_run(void *arg)
{
    struct registers *registers = arg;
    registers->result = many_values(registers->fiber, &own, 100);
    cohort__fiber_switch(registers->fiber, &own);
}

TEST(keeps_registers)
{
    CHECK_OK(cohort__fiber_adopt(&own));
    struct registers registers = {0};
    CHECK_OK(cohort__fiber_create(&registers.fiber, STACK_BYTES, registers_run, &registers));
    cohort__fiber_switch(&own, registers.fiber);
    double result = many_values(&own, registers.fiber, 0);
    CHECK(result == 720 + 7 * 8 * 9 * 10);
    CHECK(registers.result == 101. * 102 * 103 * 104 * 105 * 106 + 107. * 108 * 109 * 110);
    cohort__fiber_destroy(registers.fiber);
    cohort__fiber_unadopt(&own);
}

static void environment_run(void *arg)
{
    struct echo *echo = arg;
    errno = 7;
    fesetround(FE_DOWNWARD);
    cohort__fiber_switch(echo->fiber, echo->back);
    CHECK_INT(errno, 7);
    CHECK_INT(fegetround(), FE_DOWNWARD);
    echo->number = 1;
    cohort__fiber_switch(echo->fiber, echo->back);
}

TEST(keeps_errno_and_rounding)
{
    CHECK_OK(cohort__fiber_adopt(&own));
    struct echo echo = {.back = &own};
    CHECK_OK(cohort__fiber_create(&echo.fiber, STACK_BYTES, environment_run, &echo));
    errno = 5;
    fesetround(FE_UPWARD);
    cohort__fiber_switch(&own, echo.fiber);
    CHECK_INT(errno, 5);
    CHECK_INT(fegetround(), FE_UPWARD);
    cohort__fiber_switch(&own, echo.fiber);
    CHECK_INT(errno, 5);
    CHECK_INT(fegetround(), FE_UPWARD);
    CHECK_INT(echo.number, 1);
    fesetround(FE_TONEAREST);
    cohort__fiber_destroy(echo.fiber);
    cohort__fiber_unadopt(&own);
}

struct room {
    struct cohort__fiber *fiber;
    size_t room;
    bool aligned;
};

static void room_run(void *arg)
{
    struct room *room = arg;
    room->room = cohort__fiber_room(room->fiber);
    room->aligned = (uintptr_t)__builtin_frame_address(0) % 16 == 0;
    cohort__fiber_switch(room->fiber, &own);
}

TEST(knows_its_room)
{
    CHECK_OK(cohort__fiber_adopt(&own));
    struct room room = {0};
    CHECK_OK(cohort__fiber_create(&room.fiber, STACK_BYTES, room_run, &room));
    cohort__fiber_switch(&own, room.fiber);
    CHECK(room.room > STACK_BYTES - 4096 && room.room < STACK_BYTES + 4096);
    CHECK(room.aligned);
    cohort__fiber_destroy(room.fiber);

    size_t here = cohort__fiber_room(&own);
    CHECK(here > 16 * 1024 && here < own.bytes);
    CHECK(own.floor > own.low && own.floor < own.low + own.bytes);
    cohort__fiber_unadopt(&own);
}

static void *on_a_thread(void *arg)
{
    struct cohort__fiber thread;
    CHECK_OK(cohort__fiber_adopt(&thread));
    struct echo echo = {.back = &thread};
    CHECK_OK(cohort__fiber_create(&echo.fiber, STACK_BYTES, echo_run, &echo));
    for (int i = 0; i < 3; i++)
        cohort__fiber_switch(&thread, echo.fiber);
    CHECK_INT(echo.number, 3);
    char *here = __builtin_frame_address(0);
    CHECK(here > thread.low && here < thread.low + thread.bytes);
    cohort__fiber_destroy(echo.fiber);
    cohort__fiber_unadopt(&thread);
    return arg;
}

TEST(on_other_threads)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = new_thread(on_a_thread, NULL);
    for (int i = 0; i < 4; i++)
        end_thread(threads[i]);
}

static void overflow_run(void *arg)
{
    struct echo *echo = arg;
    /* The sanitizers would print a long report about the signal. This test only needs the signal.
     */
    signal(SIGSEGV, SIG_DFL);
    volatile char *below = echo->fiber->low - 1;
    *below = 1;
    _exit(0);
}

TEST(overflow_hits_the_guard)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct echo echo = {.back = &own};
        CHECK_OK(cohort__fiber_adopt(&own));
        CHECK_OK(cohort__fiber_create(&echo.fiber, STACK_BYTES, overflow_run, &echo));
        cohort__fiber_switch(&own, echo.fiber);
    }
    int status;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status));
    CHECK_INT(WTERMSIG(status), SIGSEGV);
}

TEST(too_large_a_stack)
{
    struct cohort__fiber *fiber = NULL;
    CHECK_FAILS(cohort__fiber_create(&fiber, SIZE_MAX - 100, echo_run, NULL), COHORT_ERR_NO_MEMORY,
                "stack");
    CHECK_FAILS(cohort__fiber_create(&fiber, (size_t)1 << 60, echo_run, NULL), COHORT_ERR_NO_MEMORY,
                "mmap");
    CHECK(!fiber);
}
