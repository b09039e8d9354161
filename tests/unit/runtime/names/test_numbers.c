/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/names/numbers.h"

#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

enum { SIZE = 5, LIMIT = 1003, STEPS = 200000 };

static const uint32_t users[] = {1, 4, 6};

/* Each home has numbers of its own, and all numbers below the limit belong to one. */
TEST(own)
{
    bool is_lent[LIMIT] = {false};
    uint32_t num = 0;
    for (uint32_t rank = 0; rank < SIZE; rank++) {
        struct cohort__numbers numbers;
        cohort__numbers_init(&numbers, rank, SIZE, LIMIT);
        for (uint32_t number;
             (number = cohort__numbers_lend(&numbers, 1 + num, users, 2)) != COHORT__NO_NUMBER;
             num++) {
            CHECK(number < LIMIT && number % SIZE == rank && !is_lent[number]);
            is_lent[number] = true;
        }
        cohort__numbers_fini(&numbers);
    }
    CHECK_INT(num, LIMIT);
}

/* A home beyond the limit has none. */
TEST(none)
{
    struct cohort__numbers numbers;
    cohort__numbers_init(&numbers, 7, 10, 7);
    CHECK(cohort__numbers_lend(&numbers, 1, users, 2) == COHORT__NO_NUMBER);
    cohort__numbers_return(&numbers, 1, 7, 1);
    cohort__numbers_return(&numbers, 1, 0, 1);
    cohort__numbers_fini(&numbers);
}

/* What is lent, as a plain list. */
struct loan {
    uint64_t instance;
    uint32_t number;
    uint32_t num_users;
};

/* Numbers are lent and given back in any order. Never one that is lent, and the lowest free one. */
TEST(random)
{
    enum { RANK = 3, MOST = LIMIT / SIZE + 1 };
    struct cohort__numbers numbers;
    struct loan loans[MOST];
    uint32_t num = 0;
    struct cohort__random random = cohort__random_seeded(7);
    cohort__numbers_init(&numbers, RANK, SIZE, LIMIT);
    for (uint64_t step = 1; step <= STEPS; step++) {
        uint32_t i = num > 0 ? (uint32_t)cohort__random_below(&random, num) : 0;
        bool is_lending = cohort__random_below(&random, 2) == 0;
        if (is_lending) {
            uint32_t lowest = RANK, num_users = 1 + (uint32_t)cohort__random_below(&random, 3);
            for (uint32_t k = 0; k < num; k++)
                if (loans[k].number == lowest) {
                    lowest += SIZE;
                    k = UINT32_MAX; /* from the beginning */
                }
            uint32_t number = cohort__numbers_lend(&numbers, step, users, num_users);
            CHECK_INT(number, lowest < LIMIT ? lowest : COHORT__NO_NUMBER);
            if (number != COHORT__NO_NUMBER)
                loans[num++] = (struct loan){step, number, num_users};
        } else if (num > 0) {
            uint64_t instance = loans[i].instance;
            uint32_t number = loans[i].number, rank = users[loans[i].num_users - 1];
            cohort__numbers_return(&numbers, instance + 1, number, rank); /* not its */
            cohort__numbers_return(&numbers, instance, number + 1, rank);
            cohort__numbers_return(&numbers, instance, number, rank + 1);
            cohort__numbers_return(&numbers, instance, number, rank);
            cohort__numbers_return(&numbers, instance, number, rank); /* again */
            if (--loans[i].num_users == 0)
                loans[i] = loans[--num];
        }
    }
    cohort__numbers_fini(&numbers);
}

/* The dead give all back, whether others still have it or not. */
TEST(died)
{
    struct cohort__numbers numbers;
    cohort__numbers_init(&numbers, 0, 1, 4);
    CHECK_INT(cohort__numbers_lend(&numbers, 1, users, 3), 0);
    CHECK_INT(cohort__numbers_lend(&numbers, 2, users, 2), 1);
    CHECK_INT(cohort__numbers_lend(&numbers, 3, users, 1), 2);
    cohort__numbers_return(&numbers, 2, 1, 1);
    cohort__numbers_died(&numbers, 4);
    CHECK_INT(cohort__numbers_lend(&numbers, 4, users, 1), 1); /* the first one has it back */
    CHECK_INT(cohort__numbers_lend(&numbers, 5, users, 1), 3);
    cohort__numbers_died(&numbers, 1);
    cohort__numbers_died(&numbers, 5);
    CHECK_INT(cohort__numbers_lend(&numbers, 6, users, 1), 1);
    cohort__numbers_return(&numbers, 1, 0, 4); /* it has died */
    CHECK_INT(cohort__numbers_lend(&numbers, 7, users, 1), 2);
    cohort__numbers_return(&numbers, 1, 0, 6);
    CHECK_INT(cohort__numbers_lend(&numbers, 8, users, 1), 0);
    cohort__numbers_fini(&numbers);
}
