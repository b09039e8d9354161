/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/names/numbers.h"

#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

enum { SIZE = 5, LIMIT = 1003, STEPS = 200000 };

/* Each home has numbers of its own, and all numbers below the limit belong to one. */
static void test_own(void)
{
    bool is_lent[LIMIT] = {false};
    uint32_t num = 0;
    for (uint32_t rank = 0; rank < SIZE; rank++) {
        struct cohort__numbers numbers;
        cohort__numbers_init(&numbers, rank, SIZE, LIMIT);
        for (uint32_t number;
             (number = cohort__numbers_lend(&numbers, 1 + num, 2)) != COHORT__NO_NUMBER; num++) {
            CHECK(number < LIMIT && number % SIZE == rank && !is_lent[number]);
            is_lent[number] = true;
        }
        cohort__numbers_fini(&numbers);
    }
    CHECK_INT(num, LIMIT);
}

/* A home beyond the limit has none. */
static void test_none(void)
{
    struct cohort__numbers numbers;
    cohort__numbers_init(&numbers, 7, 10, 7);
    CHECK(cohort__numbers_lend(&numbers, 1, 2) == COHORT__NO_NUMBER);
    cohort__numbers_return(&numbers, 1, 7);
    cohort__numbers_return(&numbers, 1, 0);
    cohort__numbers_fini(&numbers);
}

/* What is lent, as a plain list. */
struct loan {
    uint64_t instance;
    uint32_t number;
    uint32_t num_users;
};

/* Numbers are lent and given back in any order. Never one that is lent, and the lowest free one. */
static void test_random(void)
{
    enum { RANK = 3, MOST = LIMIT / SIZE + 1 };
    struct cohort__random random;
    struct cohort__numbers numbers;
    struct loan loans[MOST];
    uint32_t num = 0;
    cohort__random_init(&random, 7);
    cohort__numbers_init(&numbers, RANK, SIZE, LIMIT);
    for (uint64_t step = 1; step <= STEPS; step++) {
        uint32_t i = num > 0 ? (uint32_t)cohort__random_below(&random, num) : 0;
        bool is_lending = cohort__random_below(&random, 2) == 0;
        if (is_lending) {
            uint32_t lowest = RANK, users = 1 + (uint32_t)cohort__random_below(&random, 3);
            for (uint32_t k = 0; k < num; k++)
                if (loans[k].number == lowest) {
                    lowest += SIZE;
                    k = UINT32_MAX; /* from the beginning */
                }
            uint32_t number = cohort__numbers_lend(&numbers, step, users);
            CHECK_INT(number, lowest < LIMIT ? lowest : COHORT__NO_NUMBER);
            if (number != COHORT__NO_NUMBER)
                loans[num++] = (struct loan){step, number, users};
        } else if (num > 0) {
            cohort__numbers_return(&numbers, loans[i].instance + 1, loans[i].number); /* not its */
            cohort__numbers_return(&numbers, loans[i].instance, loans[i].number + 1);
            cohort__numbers_return(&numbers, loans[i].instance, loans[i].number);
            if (--loans[i].num_users == 0)
                loans[i] = loans[--num];
        }
    }
    cohort__numbers_fini(&numbers);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"own", test_own}, {"none", test_none}, {"random", test_random}};
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
