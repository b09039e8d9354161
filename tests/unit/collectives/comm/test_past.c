/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/past.h"

#include <stdlib.h>

#include "runtime/base/slab.h"
#include "runtime/proc/membership.h"
#include "tests/support/test.h"

static struct cohort__past past;

static uint64_t instance(uint32_t home, uint64_t number)
{
    return cohort__instance_of(home, number);
}

static void add(uint32_t home, uint64_t number)
{
    struct cohort__past_item *item = cohort__slab_alloc(sizeof(*item));
    CHECK(item);
    cohort__past_add(&past, item, instance(home, number));
}

static bool has(uint32_t home, uint64_t number)
{
    return cohort__past_has(&past, instance(home, number));
}

/* Without a creation under way nothing new can come. */
static void test_none(void)
{
    cohort__past_init(&past);
    CHECK(!cohort__past_is_open(&past));
    CHECK(has(0, 1) && has(7, 100));
    add(0, 5);
    CHECK(!cohort__past_is_open(&past));
    CHECK(has(0, 1) && has(0, 5) && has(0, 6));
    cohort__past_fini(&past);
}

/* What a creation becomes has a higher number than all of its home that were known before. */
static void test_before(void)
{
    static const uint32_t homes[] = {0, 3, COHORT__HOME_LAUNCHER};
    struct cohort__past_item creation;
    for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
        uint32_t home = homes[i];
        cohort__past_init(&past);
        add(home, 5);
        add(home, 3); /* its map was overtaken */
        cohort__past_begin(&past, &creation);
        CHECK(cohort__past_is_open(&past));
        CHECK(has(home, 3) && has(home, 4) && has(home, 5));
        CHECK(!has(home, 6) && !has(home + 1, 1));
        cohort__past_end(&past, &creation);
        CHECK(has(home, 6) && has(home + 1, 1));
        cohort__past_fini(&past);
    }
}

/* The map of an instance may come before that of an older one. */
static void test_since(void)
{
    struct cohort__past_item first, second;
    cohort__past_init(&past);
    cohort__past_begin(&past, &first);
    add(0, 2);
    CHECK(!has(0, 1) && has(0, 2) && !has(0, 3));
    cohort__past_begin(&past, &second);
    add(0, 4);
    CHECK(!has(0, 1) && has(0, 2) && !has(0, 3) && has(0, 4));
    cohort__past_end(&past, &first); /* 1, perhaps: SECOND is of a higher number than 2 */
    CHECK(has(0, 1) && has(0, 2) && !has(0, 3) && has(0, 4) && !has(0, 5));
    cohort__past_begin(&past, &first);
    cohort__past_end(&past, &second);
    CHECK(has(0, 3) && has(0, 4) && !has(0, 5));
    cohort__past_end(&past, &first);
    cohort__past_fini(&past);
}

/* Any of them may end first. */
static void test_order(void)
{
    struct cohort__past_item creations[3];
    cohort__past_init(&past);
    for (uint64_t i = 0; i < 3; i++) {
        cohort__past_begin(&past, &creations[i]);
        add(0, 10 * (i + 1));
    }
    cohort__past_end(&past, &creations[1]);
    CHECK(!has(0, 5) && has(0, 10) && !has(0, 15) && has(0, 20) && has(0, 30) && !has(0, 31));
    cohort__past_end(&past, &creations[0]);
    CHECK(has(0, 5) && has(0, 15) && !has(0, 25) && has(0, 30));
    cohort__past_end(&past, &creations[2]);
    CHECK(!cohort__past_is_open(&past));
    cohort__past_fini(&past);
}

/* One that is known already. */
static void test_again(void)
{
    struct cohort__past_item creation;
    cohort__past_init(&past);
    add(0, 1);
    cohort__past_begin(&past, &creation);
    add(0, 1);
    add(0, 2);
    add(0, 2);
    CHECK(has(0, 1) && has(0, 2) && !has(0, 3));
    cohort__past_end(&past, &creation);
    cohort__past_fini(&past);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"none", test_none},   {"before", test_before}, {"since", test_since},
        {"order", test_order}, {"again", test_again},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
