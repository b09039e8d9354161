/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/cost.h"
#include "collectives/plan/partition.h"
#include "tests/support/test.h"

TEST(log2)
{
    for (uint32_t n = 1; n <= 1000; n++) {
        uint32_t floor = cohort__log2_floor(n);
        uint32_t ceiling = cohort__log2_ceiling(n);
        CHECK(UINT64_C(1) << floor <= n && n < UINT64_C(2) << floor);
        CHECK(n <= UINT64_C(1) << ceiling && (ceiling == 0 || n > UINT64_C(1) << (ceiling - 1)));
    }
    CHECK_INT(cohort__log2_floor(UINT32_MAX), 31);
    CHECK_INT(cohort__log2_ceiling(UINT32_MAX), 32);
}

/* By the definition: the sum over all ranges of the tree. */
static uint32_t count_blocks(uint32_t num_sites, uint32_t arity)
{
    struct cohort__range range = {.first = 0, .count = num_sites};
    uint32_t blocks = 0;
    if (num_sites == 1)
        return 0;
    for (uint32_t i = 0; i < cohort__partition_count(num_sites, arity); i++) {
        uint32_t count = cohort__partition_group(range, arity, i).count;
        blocks += (i > 0 ? count : 0) + count_blocks(count, arity);
    }
    return blocks;
}

TEST(scatter)
{
    for (uint32_t n = 1; n <= 300; n++)
        for (uint32_t arity = 2; arity <= 9; arity++) {
            struct cohort__cost cost = cohort__cost_scatter(n, arity, 10);
            CHECK_INT((long)cost.moved, 10 * count_blocks(n, arity));
            CHECK_INT((long)cost.messages, n - 1);
            CHECK_INT((long)cost.bytes, 10 * (n - 1));
        }
}

/* The closed forms hold where the tree is complete. */
TEST(complete)
{
    for (uint32_t arity = 2; arity <= 8; arity++)
        for (uint32_t levels = 0, n = 1; n <= 4096; n *= arity, levels++) {
            struct cohort__cost cost = cohort__cost_reduce(n, arity, 10);
            CHECK_INT((long)cost.startups, levels * (arity - 1));
            CHECK_INT((long)cost.bytes, 10 * levels * (arity - 1));
            CHECK_INT((long)cost.reduced, 10 * levels);
            CHECK_INT((long)cost.combined, 10 * (n - 1));
            CHECK_INT((long)cohort__cost_broadcast(n, n, 10).startups, n - 1);
        }
    for (uint32_t n = 1; n <= 300; n++)
        CHECK_INT((long)cohort__cost_broadcast(n, 2, 1).startups, cohort__log2_ceiling(n));
}

TEST(composition)
{
    struct cohort__cost one = cohort__cost_message(7);
    struct cohort__cost cost = cohort__cost_then(one, cohort__cost_at_once(one, 3));
    CHECK_INT((long)cost.startups, 2);
    CHECK_INT((long)cost.bytes, 14);
    CHECK_INT((long)cost.messages, 4);
    CHECK_INT((long)cost.moved, 28);
}
