/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/gate.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

static void check_refused(struct cohort__gate *gate, uint64_t generation, cohort_status status,
                          const char *why)
{
    struct cohort__gate before = *gate;
    CHECK_FAILS(cohort__gate_pass(gate, generation), status, why);
    CHECK(gate->last == before.last);
}

TEST(in_order)
{
    struct cohort__gate gate;
    cohort__gate_init(&gate);
    CHECK_INT(gate.last, 0);
    for (uint64_t generation = 1; generation <= 100; generation++) {
        CHECK_OK(cohort__gate_pass(&gate, generation));
        CHECK(gate.last == generation);
    }
}

TEST(skipping)
{
    struct cohort__gate gate;
    cohort__gate_init(&gate);
    CHECK_OK(cohort__gate_pass(&gate, 5));
    CHECK_INT(gate.last, 5);
    check_refused(&gate, 5, COHORT_ERR_GENERATION, "generation 5 is not above the last one, 5");
    check_refused(&gate, 4, COHORT_ERR_GENERATION, "generation 4 is not above the last one, 5");
    check_refused(&gate, 1, COHORT_ERR_GENERATION, "generation 1");
    CHECK_OK(cohort__gate_pass(&gate, 6));
    CHECK_OK(cohort__gate_pass(&gate, 1000000));
    check_refused(&gate, 999999, COHORT_ERR_GENERATION, "the last one, 1000000");
}

TEST(bounds)
{
    struct cohort__gate gate;
    cohort__gate_init(&gate);
    check_refused(&gate, 0, COHORT_ERR_BAD_PARAMETER, "generation 0");
    check_refused(&gate, COHORT__GENERATION_MAX + 1, COHORT_ERR_BAD_PARAMETER, "too large");
    check_refused(&gate, UINT64_MAX, COHORT_ERR_BAD_PARAMETER, "too large");
    CHECK_OK(cohort__gate_pass(&gate, COHORT__GENERATION_MAX));
    CHECK(gate.last == COHORT__GENERATION_MAX);
    check_refused(&gate, COHORT__GENERATION_MAX, COHORT_ERR_GENERATION, "not above");
    check_refused(&gate, 1, COHORT_ERR_GENERATION, "not above");
}

static struct cohort__history history;

#define TEST_HISTORY(name)                                                                         \
    TEST_BETWEEN(name, cohort__history_init(&history), cohort__history_fini(&history))

TEST_HISTORY(history_without_gaps)
{
    for (uint64_t generation = 1; generation <= 5000; generation++)
        cohort__history_call(&history, generation);
    CHECK_INT(history.last, 5000);
    CHECK_INT(history.num_skipped, 0);
    CHECK(history.skipped == NULL); /* no memory is used if nothing was skipped */
    for (uint64_t generation = 1; generation <= 5000; generation++)
        CHECK(!cohort__history_skipped(&history, generation));
}

TEST_HISTORY(history_gaps)
{
    cohort__history_call(&history, 3); /* 1 and 2 are left out */
    cohort__history_call(&history, 4);
    cohort__history_call(&history, 6); /* 5 is left out */
    cohort__history_call(&history, 1000);
    static const struct {
        uint64_t generation;
        bool skipped;
    } rows[] = {{1, true},  {2, true}, {3, false},  {4, false},  {5, true},
                {6, false}, {7, true}, {500, true}, {999, true}, {1000, false}};
    for (size_t i = 0; i < NUM_OF(rows); i++)
        CHECK_INT(cohort__history_skipped(&history, rows[i].generation), rows[i].skipped);
}

/* The history keeps COHORT__HISTORY_RANGES gaps, and up to twice as many. Older gaps are forgotten:
 * their generations count as called. */
TEST_HISTORY(history_forgets)
{
    const uint64_t num_gaps = 3 * COHORT__HISTORY_RANGES + 7;
    for (uint64_t i = 1; i <= num_gaps; i++)
        cohort__history_call(&history, 2 * i); /* the odd generations are left out */
    CHECK(history.num_skipped >= COHORT__HISTORY_RANGES);
    CHECK(history.num_skipped < 2 * COHORT__HISTORY_RANGES);
    const uint64_t first_known = 2 * (num_gaps - history.num_skipped) + 1;
    for (uint64_t generation = 1; generation <= history.last; generation++)
        CHECK_INT(cohort__history_skipped(&history, generation),
                  generation % 2 == 1 && generation >= first_known);
}

TEST(history_random)
{
    enum { GENERATIONS = 2000, SEEDS = 20 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct cohort__history history;
        bool called[GENERATIONS + 16] = {false};
        struct cohort__random random = cohort__random_seeded(seed);
        cohort__history_init(&history);
        uint64_t last = 0;
        while (last < GENERATIONS) {
            last += 1 + (cohort__random_below(&random, 3) ? 0 : cohort__random_below(&random, 9));
            called[last] = true;
            cohort__history_call(&history, last);
            CHECK(history.last == last);
        }
        for (uint64_t generation = 1; generation <= last; generation++)
            if (cohort__history_skipped(&history, generation) == called[generation])
                FAIL("seed %llu, generation %llu", (unsigned long long)seed,
                     (unsigned long long)generation);
        cohort__history_fini(&history);
    }
}

/* Left out without a later call. */
TEST_HISTORY(history_left_out)
{
    cohort__history_call(&history, 1);
    cohort__history_leave_out(&history, 2);
    CHECK_INT(history.last, 2);
    CHECK(cohort__history_skipped(&history, 2));
    cohort__history_leave_out(&history, 5);
    cohort__history_call(&history, 6);
    for (uint64_t generation = 1; generation <= 6; generation++)
        CHECK_INT(cohort__history_skipped(&history, generation), generation > 1 && generation < 6);
}

TEST_HISTORY(history_at_the_end)
{
    cohort__history_call(&history, COHORT__GENERATION_MAX);
    CHECK(cohort__history_skipped(&history, 1));
    CHECK(cohort__history_skipped(&history, COHORT__GENERATION_MAX - 1));
    CHECK(!cohort__history_skipped(&history, COHORT__GENERATION_MAX));
}
