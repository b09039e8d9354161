/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/random.h"

#include "tests/support/test.h"

TEST(seeds)
{
    struct cohort__random first, same, other;
    first = cohort__random_seeded(42);
    same = cohort__random_seeded(42);
    other = cohort__random_seeded(43);
    int num_equal = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t number = cohort__random_next(&first);
        CHECK(number == cohort__random_next(&same));
        num_equal += number == cohort__random_next(&other);
    }
    CHECK_INT(num_equal, 0);
}

TEST(known_value)
{
    /* From the reference xoshiro256** with this state: (2 * 5 <<< 7) * 9. */
    struct cohort__random random = {{1, 2, 3, 4}};
    CHECK_INT((long long)cohort__random_next(&random), 11520);
    CHECK_INT((long long)cohort__random_next(&random), 0);
    CHECK_INT((long long)cohort__random_next(&random), 1509978240);
}

TEST(below)
{
    struct cohort__random random = cohort__random_seeded(1);
    int counts[7] = {0};
    for (int i = 0; i < 70000; i++)
        counts[cohort__random_below(&random, 7)]++;
    for (int i = 0; i < 7; i++)
        CHECK(counts[i] > 9500 && counts[i] < 10500);
    for (int i = 0; i < 100; i++)
        CHECK_INT((long long)cohort__random_below(&random, 1), 0);
    uint64_t limit = UINT64_MAX / 2 + 2;
    for (int i = 0; i < 100; i++)
        CHECK(cohort__random_below(&random, limit) < limit);
}
