/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/order.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

static char name[] = "./program", argument[] = "", variable[] = "A=b c\n=";
static char *program[] = {name, argument, NULL};
static char *environment[] = {variable, argument, variable, NULL};
static char *nothing[] = {NULL};
/* All localities run the second program, and none the first. */
static char colon[] = ":", option[] = "-n", nine[] = "9";
static char *all_later[] = {name, colon, option, nine, name, NULL};

static struct cohort__packer pack(const struct order *order)
{
    struct cohort__packer packer = {0};
    order_pack(&packer, order);
    CHECK_OK(packer.status);
    return packer;
}

static const struct order sample = {.size = 9,
                                    .first = 4,
                                    .num = 5,
                                    .binding = {BINDING_NUMA, 3, true},
                                    .directory = "/a b",
                                    .levels = "switch=s",
                                    .program = program,
                                    .environment = environment};

TEST(round_trip)
{
    struct cohort__packer packer = pack(&sample);
    struct order *order = NULL;
    CHECK_OK(order_read(&order, packer.data, packer.bytes));
    memset(packer.data, 'x', packer.bytes); /* the order has its own copy */
    CHECK_INT(order->size, 9);
    CHECK_INT(order->first, 4);
    CHECK_INT(order->num, 5);
    CHECK_INT(order->binding.mode, BINDING_NUMA);
    CHECK_INT(order->binding.workers, 3);
    CHECK(order->binding.report);
    CHECK_TEXT(order->directory, "/a b");
    CHECK_TEXT(order->levels, "switch=s");
    CHECK_TEXT(order->program[0], name);
    CHECK_TEXT(order->program[1], "");
    CHECK(!order->program[2]);
    CHECK_TEXT(order->environment[0], variable);
    CHECK_TEXT(order->environment[2], variable);
    CHECK(!order->environment[3]);
    free(order);
    cohort__packer_fini(&packer);
}

static void check_refused(struct order changed)
{
    struct cohort__packer packer = pack(&changed);
    struct order *order = NULL;
    CHECK_INT(order_read(&order, packer.data, packer.bytes), COHORT_ERR_PROTOCOL);
    CHECK(!order);
    cohort__packer_fini(&packer);
}

TEST(nonsense)
{
    struct order order = sample;
    order.first = 5; /* the last one would then be outside the job */
    check_refused(order);
    order = sample;
    order.num = 0;
    check_refused(order);
    order = sample;
    order.size = 5000;
    check_refused(order);
    order = sample;
    order.program = nothing;
    check_refused(order);
    order = sample;
    order.program = all_later;
    check_refused(order);
}

/* Changed and truncated messages give some answer, and no error of a sanitizer. */
TEST(changed_bytes)
{
    unsigned num_good = 0;
    struct cohort__random random = cohort__random_seeded(3);
    for (int round = 0; round < 20000; round++) {
        struct cohort__packer packer = pack(&sample);
        struct order *order = NULL;
        for (uint64_t i = cohort__random_below(&random, 3); i > 0; i--)
            packer.data[cohort__random_below(&random, packer.bytes)] =
                (unsigned char)cohort__random_next(&random);
        size_t bytes = round % 4 ? packer.bytes : cohort__random_below(&random, packer.bytes);
        cohort_status status = order_read(&order, packer.data, bytes);
        CHECK(status == COHORT_OK || status == COHORT_ERR_PROTOCOL);
        num_good += status == COHORT_OK;
        free(order);
        cohort__packer_fini(&packer);
    }
    CHECK(num_good > 100 && num_good < 19000);
}
