/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/motion.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/ledger.h"
#include "tests/support/test.h"
#include "tools/cohortrun/locality.h"

/* Time is played, so that what the processes of this test itself need is far below a fiftieth. */
static const uint64_t hour = UINT64_C(3600) * 1000000000;
static const uint64_t second = 1000000000;

/* A process that writes a ledger, and does what it is told, one letter at a time. */
struct program {
    int pid;
    int orders, answers; /* pipes */
};

static void compute(void)
{
    struct timespec time;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    while (time.tv_sec == 0 && time.tv_nsec < 30000000);
}

static void obey(char order, struct cohort__wait_line *wait)
{
    static uint64_t moved;
    switch (order) {
    case 'm':
        cohort__ledger_tick(++moved, 0, false);
        break;
    case 's':
        cohort__ledger_enter_stage(COHORT__LEDGER_RETURNED, COHORT_OK);
        break;
    case 'o':
        cohort__ledger_enter_stage(COHORT__LEDGER_OVER, COHORT_OK);
        break;
    case 'c':
        compute();
        break;
    case 'w':
        wait->what = 4096 | COHORT__WAIT_OUTSIDE;
        wait->since = 1;
        break;
    case 'g':
        wait->what = 4096 | COHORT__WAIT_GET;
        wait->since = 1;
        break;
    default:
        break;
    }
}

static void serve(int orders, int answers, int memory, uint32_t slot)
{
    char order;
    CHECK_OK(cohort__ledger_adopt(memory, slot));
    cohort__ledger_introduce(slot, 2, 9, 1);
    cohort__ledger_enter_stage(COHORT__LEDGER_RUNNING, COHORT_OK);
    struct cohort__wait_line *wait = cohort__ledger_take(COHORT__LEDGER_WAITS);
    CHECK(wait);
    do
        CHECK_INT(write(answers, "", 1), 1);
    while (read(orders, &order, 1) == 1 && (obey(order, wait), true));
    _exit(0);
}

static void await(const struct program *program)
{
    char byte;
    CHECK_INT(read(program->answers, &byte, 1), 1);
}

static struct program start(int memory, uint32_t slot)
{
    int orders[2], answers[2];
    CHECK(pipe(orders) == 0 && pipe(answers) == 0);
    struct program program = {.pid = fork(), .orders = orders[1], .answers = answers[0]};
    CHECK(program.pid >= 0);
    if (program.pid == 0) {
        close(orders[1]);
        serve(orders[0], answers[1], memory, slot);
    }
    close(orders[0]);
    close(answers[1]);
    await(&program);
    return program;
}

static void tell(const struct program *program, char order)
{
    CHECK_INT(write(program->orders, &order, 1), 1);
    await(program);
}

static void end(const struct program *program)
{
    kill(program->pid, SIGKILL);
    CHECK_INT(waitpid(program->pid, NULL, 0), program->pid);
    close(program->orders);
    close(program->answers);
}

static void test_sees_what_moves(void)
{
    int memory;
    uint64_t now = hour;
    CHECK_OK(cohort__ledger_create(&memory, 2));
    struct locality localities[2] = {0};
    struct motion *motion = motion_create(localities, 2, memory);
    CHECK(motion);
    CHECK_INT(motion_look(motion, now), MOTION_UNKNOWN); /* nobody has begun */

    struct program one = start(memory, 0);
    localities[0].guarded.pid = one.pid;
    CHECK_INT(motion_look(motion, now += hour), MOTION_MOVES);
    CHECK_INT(motion_look(motion, now += hour), MOTION_STILL); /* the other one has not */
    tell(&one, 'm');
    CHECK_INT(motion_look(motion, ++now), MOTION_MOVES);
    CHECK_INT(motion_look(motion, ++now),
              MOTION_MOVES); /* too early to read what it waits for now */
    CHECK_INT(motion_look(motion, now += hour), MOTION_STILL);
    struct program two = start(memory, 1);
    localities[1].guarded.pid = getpid(); /* as a shell that has started it */
    CHECK_INT(motion_look(motion, now += hour), MOTION_MOVES);
    CHECK_INT(motion_look(motion, now += hour), MOTION_STILL);

    tell(&two, 'm');
    CHECK_INT(motion_look(motion, now += hour), MOTION_MOVES);
    CHECK_INT(motion_look(motion, now += hour), MOTION_STILL);
    tell(&two, 'g');
    CHECK_INT(motion_look(motion, now += hour), MOTION_STILL);
    tell(&two, 'w');
    CHECK_INT(motion_look(motion, now += hour), MOTION_MOVES); /* not by itself, but soon */
    CHECK_INT(motion_look(motion, now += hour), MOTION_MOVES);
    tell(&two, 'g');
    CHECK_INT(motion_look(motion, now += hour), MOTION_STILL);

    tell(&one, 'c');
    CHECK_INT(motion_look(motion, now += 1000000000), MOTION_MOVES); /* 30 ms of a second */
    CHECK_INT(motion_look(motion, now += hour), MOTION_STILL);
    tell(&two, 'c'); /* the child of what was started */
    CHECK_INT(motion_look(motion, now += 1000000000), MOTION_MOVES);
    CHECK_INT(motion_look(motion, now += hour), MOTION_STILL);

    tell(&one, 's');
    CHECK_INT(motion_look(motion, now += hour), MOTION_MOVES);
    CHECK_INT(motion_look(motion, now += hour), MOTION_STILL);
    tell(&one, 'o');
    CHECK_INT(motion_look(motion, now += hour), MOTION_MOVES);
    CHECK_INT(motion_look(motion, now += hour), MOTION_STILL);
    localities[1].guarded.end = GUARDED_ENDED;
    CHECK_INT(motion_look(motion, now += hour), MOTION_UNKNOWN); /* nothing is left */
    motion_destroy(motion);

    motion = motion_create(localities, 1, -1);
    CHECK_INT(motion_look(motion, now += hour), MOTION_UNKNOWN);
    motion_destroy(motion);
    end(&one);
    end(&two);
    close(memory);
}

static void test_says_once_then_after_twice_as_long(void)
{
    struct stall stall;
    stall_init(&stall, 10 * second);
    CHECK_INT(stall.interval, 2 * second);
    for (int i = 0; i < 4; i++)
        CHECK(!stall_still(&stall, 2 * second));
    CHECK(stall_still(&stall, 2 * second));
    CHECK_INT(stall.limit, 10 * second);
    for (int i = 0; i < 100; i++)
        CHECK(!stall_still(&stall, 2 * second));
    stall_moved(&stall);
    stall_moved(&stall); /* which counts once */
    for (int i = 0; i < 9; i++)
        CHECK(!stall_still(&stall, 2 * second));
    CHECK(stall_still(&stall, 2 * second));
    CHECK_INT(stall.limit, 20 * second);
}

static void test_what_moves_begins_anew(void)
{
    struct stall stall;
    stall_init(&stall, 10 * second);
    for (int i = 0; i < 100; i++) {
        CHECK(!stall_still(&stall, 4 * second));
        CHECK(!stall_still(&stall, 4 * second));
        stall_moved(&stall);
    }
    CHECK_INT(stall.limit, 10 * second);
}

/* Nobody has looked meanwhile. */
static void test_a_pause_of_its_own_counts_little(void)
{
    struct stall stall;
    stall_init(&stall, 10 * second);
    CHECK(!stall_still(&stall, 3600 * second));
    CHECK_INT(stall.quiet, 4 * second);
    CHECK(!stall_still(&stall, 3600 * second));
    CHECK(stall_still(&stall, 2 * second));
}

static void test_a_short_limit_does_not_look_all_the_time(void)
{
    struct stall stall;
    stall_init(&stall, 1);
    CHECK_INT(stall.interval, 20000000);
    CHECK(stall_still(&stall, 1));
}

int main(void)
{
    test_sees_what_moves();
    test_says_once_then_after_twice_as_long();
    test_what_moves_begins_anew();
    test_a_pause_of_its_own_counts_little();
    test_a_short_limit_does_not_look_all_the_time();
    return 0;
}
