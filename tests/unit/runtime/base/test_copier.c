/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/copier.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

enum { PAST = 400, NEAR = 150, BETWEEN = 700, FAR = 1600 }; /* how long a sample takes */

static bool is_past(const struct cohort__copier *copier)
{
    return atomic_load(&copier->is_past);
}

static void judge(struct cohort__copier *copier, uint64_t plain, int times)
{
    while (times-- > 0)
        cohort__copier_judge(copier, plain, PAST);
}

static struct cohort__copier far_one(void)
{
    struct cohort__copier copier = {0};
    judge(&copier, FAR, COHORT__COPIER_TRIALS);
    return copier;
}

TEST(near_stays_plain)
{
    struct cohort__copier copier = {0};
    judge(&copier, NEAR, 100);
    CHECK(!is_past(&copier));
    judge(&copier, BETWEEN, 100);
    CHECK(!is_past(&copier));
}

TEST(follows_there_and_back)
{
    struct cohort__copier copier = {0};
    judge(&copier, FAR, COHORT__COPIER_TRIALS - 1);
    CHECK(!is_past(&copier));
    judge(&copier, FAR, 1);
    CHECK(is_past(&copier));
    judge(&copier, NEAR, COHORT__COPIER_TRIALS - 1);
    CHECK(is_past(&copier));
    judge(&copier, NEAR, 1);
    CHECK(!is_past(&copier));
}

/* A thread that loses its core during a trial measures that way as slow. */
TEST(single_trials_change_nothing)
{
    struct cohort__copier near = {0}, far = far_one();
    for (int i = 0; i < 100; i++) {
        judge(&near, 1000000, COHORT__COPIER_TRIALS - 1);
        judge(&near, NEAR, 1);
        CHECK(!is_past(&near));
        for (int j = 1; j < COHORT__COPIER_TRIALS; j++)
            cohort__copier_judge(&far, FAR, 1000000);
        judge(&far, FAR, 1);
        CHECK(is_past(&far));
    }
}

/* A way that is not clearly better is no reason to change. */
TEST(between_stays_what_it_is)
{
    struct cohort__copier copier = far_one();
    judge(&copier, BETWEEN, 100);
    CHECK(is_past(&copier));
}

TEST(trials_are_rare)
{
    struct cohort__copier copier = {0};
    enum { PIECE = 65536, NUM = COHORT__COPIER_EVERY / PIECE };
    int num = 0;
    for (int i = 1; i <= 3 * NUM; i++) {
        bool is_due = cohort__copier_is_due(&copier, PIECE);
        CHECK(is_due == (i % NUM == 0));
        num += is_due;
        if (is_due)
            judge(&copier, NEAR, 1);
    }
    CHECK_INT(num, 3);
    CHECK(cohort__copier_is_due(&copier, SIZE_MAX / 2));
}

TEST(doubts_are_settled_at_once)
{
    struct cohort__copier copier = {0};
    judge(&copier, FAR, 1);
    for (int i = 1; i < COHORT__COPIER_TRIALS; i++) {
        CHECK(cohort__copier_is_due(&copier, COHORT__COPIER_LEAST));
        judge(&copier, FAR, 1);
    }
    CHECK(!cohort__copier_is_due(&copier, COHORT__COPIER_LEAST));
    judge(&copier, NEAR, 1);
    CHECK(cohort__copier_is_due(&copier, COHORT__COPIER_LEAST));
    judge(&copier, FAR, 1);
    CHECK(!cohort__copier_is_due(&copier, COHORT__COPIER_LEAST));
}

/* Copies in both ways, with and without a trial, from and to any place. The bytes beside the target
 * stay unchanged. */
static void check_copy(struct cohort__copier copier, size_t bytes)
{
    enum { EDGE = 64 };
    size_t size = bytes + 2 * EDGE;
    unsigned char *from = test_malloc(size), *to = test_malloc(size), *expected = test_malloc(size);
    for (size_t i = 0; i < size; i++)
        from[i] = (unsigned char)(i * 7 + i / 4096 + 1);
    for (size_t offset = 0; offset < EDGE; offset += 13) {
        struct cohort__copier used = copier;
        memset(to, 0, size);
        memset(expected, 0, size);
        memcpy(expected + EDGE - offset, from + offset, bytes);
        cohort__copier_copy(&used, to + EDGE - offset, from + offset, bytes);
        CHECK(memcmp(to, expected, size) == 0);
    }
    free(from);
    free(to);
    free(expected);
}

TEST(copies_all)
{
    static const size_t sizes[] = {0,
                                   1,
                                   COHORT__COPIER_LEAST - 1,
                                   COHORT__COPIER_LEAST,
                                   COHORT__COPIER_LEAST + 1,
                                   3 * COHORT__COPIER_LEAST + 17};
    struct cohort__copier near = {0}, far = far_one();
    for (size_t i = 0; i < NUM_OF(sizes); i++) {
        atomic_store(&near.since, 0);
        atomic_store(&far.since, 0);
        check_copy(near, sizes[i]);
        check_copy(far, sizes[i]);
        atomic_store(&near.since, COHORT__COPIER_EVERY - 1);
        atomic_store(&far.since, COHORT__COPIER_EVERY - 1);
        check_copy(near, sizes[i]);
        check_copy(far, sizes[i]);
    }
}
