/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/copier.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

enum { PAST = 400, NEAR = 150, BETWEEN = 700, FAR = 1600 }; /* what a sample takes */

static bool is_past(const struct cohort__pace *pace)
{
    return atomic_load(&pace->is_past);
}

static void judge(struct cohort__pace *pace, uint64_t plain, int times)
{
    while (times-- > 0)
        cohort__pace_judge(pace, plain, PAST);
}

static struct cohort__pace far_one(void)
{
    struct cohort__pace pace = {0};
    judge(&pace, FAR, COHORT__PACE_TRIALS);
    return pace;
}

static void test_near_stays_plain(void)
{
    struct cohort__pace pace = {0};
    judge(&pace, NEAR, 100);
    CHECK(!is_past(&pace));
    judge(&pace, BETWEEN, 100);
    CHECK(!is_past(&pace));
}

static void test_follows_there_and_back(void)
{
    struct cohort__pace pace = {0};
    judge(&pace, FAR, COHORT__PACE_TRIALS - 1);
    CHECK(!is_past(&pace));
    judge(&pace, FAR, 1);
    CHECK(is_past(&pace));
    judge(&pace, NEAR, COHORT__PACE_TRIALS - 1);
    CHECK(is_past(&pace));
    judge(&pace, NEAR, 1);
    CHECK(!is_past(&pace));
}

/* Who is taken off its core during a trial finds that way slow. */
static void test_single_trials_change_nothing(void)
{
    struct cohort__pace near = {0}, far = far_one();
    for (int i = 0; i < 100; i++) {
        judge(&near, 1000000, COHORT__PACE_TRIALS - 1);
        judge(&near, NEAR, 1);
        CHECK(!is_past(&near));
        for (int j = 1; j < COHORT__PACE_TRIALS; j++)
            cohort__pace_judge(&far, FAR, 1000000);
        judge(&far, FAR, 1);
        CHECK(is_past(&far));
    }
}

/* What is not clearly better is no reason to change. */
static void test_between_stays_what_it_is(void)
{
    struct cohort__pace pace = far_one();
    judge(&pace, BETWEEN, 100);
    CHECK(is_past(&pace));
}

static void test_trials_are_rare(void)
{
    struct cohort__pace pace = {0};
    enum { PIECE = 65536, NUM = COHORT__PACE_EVERY / PIECE };
    int num = 0;
    for (int i = 1; i <= 3 * NUM; i++) {
        bool is_due = cohort__pace_is_due(&pace, PIECE);
        CHECK(is_due == (i % NUM == 0));
        num += is_due;
        if (is_due)
            judge(&pace, NEAR, 1);
    }
    CHECK_INT(num, 3);
    CHECK(cohort__pace_is_due(&pace, SIZE_MAX / 2));
}

static void test_doubts_are_settled_at_once(void)
{
    struct cohort__pace pace = {0};
    judge(&pace, FAR, 1);
    for (int i = 1; i < COHORT__PACE_TRIALS; i++) {
        CHECK(cohort__pace_is_due(&pace, COHORT__PACE_LEAST));
        judge(&pace, FAR, 1);
    }
    CHECK(!cohort__pace_is_due(&pace, COHORT__PACE_LEAST));
    judge(&pace, NEAR, 1);
    CHECK(cohort__pace_is_due(&pace, COHORT__PACE_LEAST));
    judge(&pace, FAR, 1);
    CHECK(!cohort__pace_is_due(&pace, COHORT__PACE_LEAST));
}

/* In both ways, with and without a trial, from and to any place, and nothing beside it. */
static void check_copy(struct cohort__pace pace, size_t bytes)
{
    enum { EDGE = 64 };
    size_t size = bytes + 2 * EDGE;
    unsigned char *from = malloc(size), *to = malloc(size), *expected = malloc(size);
    CHECK(from && to && expected);
    for (size_t i = 0; i < size; i++)
        from[i] = (unsigned char)(i * 7 + i / 4096 + 1);
    for (size_t offset = 0; offset < EDGE; offset += 13) {
        struct cohort__pace used = pace;
        memset(to, 0, size);
        memset(expected, 0, size);
        memcpy(expected + EDGE - offset, from + offset, bytes);
        cohort__pace_copy(&used, to + EDGE - offset, from + offset, bytes);
        CHECK(memcmp(to, expected, size) == 0);
    }
    free(from);
    free(to);
    free(expected);
}

static void test_copies_all(void)
{
    static const size_t sizes[] = {0,
                                   1,
                                   COHORT__PACE_LEAST - 1,
                                   COHORT__PACE_LEAST,
                                   COHORT__PACE_LEAST + 1,
                                   3 * COHORT__PACE_LEAST + 17};
    struct cohort__pace near = {0}, far = far_one();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        atomic_store(&near.since, 0);
        atomic_store(&far.since, 0);
        check_copy(near, sizes[i]);
        check_copy(far, sizes[i]);
        atomic_store(&near.since, COHORT__PACE_EVERY - 1);
        atomic_store(&far.since, COHORT__PACE_EVERY - 1);
        check_copy(near, sizes[i]);
        check_copy(far, sizes[i]);
    }
}

static const struct test_case cases[] = {
    {"near stays plain", test_near_stays_plain},
    {"follows there and back", test_follows_there_and_back},
    {"single trials change nothing", test_single_trials_change_nothing},
    {"between stays what it is", test_between_stays_what_it_is},
    {"trials are rare", test_trials_are_rare},
    {"doubts are settled at once", test_doubts_are_settled_at_once},
    {"copies all", test_copies_all},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
