/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/stall.h"

#include "tests/support/test.h"

static const uint64_t second = 1000000000;

static void test_says_once_then_after_twice_as_long(void)
{
    struct stall stall;
    stall_init(&stall, 10 * second);
    CHECK_INT(stall.interval, 2 * second);
    for (int i = 0; i < 4; i++)
        CHECK(!stall_still(&stall, 2 * second));
    CHECK(stall_still(&stall, 2 * second));
    CHECK_INT(stall.patience, 10 * second);
    for (int i = 0; i < 100; i++)
        CHECK(!stall_still(&stall, 2 * second));
    stall_moved(&stall);
    stall_moved(&stall); /* which counts once */
    for (int i = 0; i < 9; i++)
        CHECK(!stall_still(&stall, 2 * second));
    CHECK(stall_still(&stall, 2 * second));
    CHECK_INT(stall.patience, 20 * second);
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
    CHECK_INT(stall.patience, 10 * second);
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

static void test_a_short_patience_does_not_look_all_the_time(void)
{
    struct stall stall;
    stall_init(&stall, 1);
    CHECK_INT(stall.interval, 20000000);
    CHECK(stall_still(&stall, 1));
}

int main(void)
{
    test_says_once_then_after_twice_as_long();
    test_what_moves_begins_anew();
    test_a_pause_of_its_own_counts_little();
    test_a_short_patience_does_not_look_all_the_time();
    return 0;
}
