/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/inbox.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/slab.h"
#include "tests/support/test.h"

static struct cohort__unknown unknown;

static void begin(void)
{
    memset(&unknown, 0, sizeof(unknown));
}

static bool is_to_come(uint32_t home, uint64_t number)
{
    return cohort__unknown_is_to_come(&unknown, cohort__instance_of(home, number));
}

/* Returns how many messages had been kept. */
static unsigned settle(uint32_t home, uint64_t number)
{
    struct cohort__list taken;
    struct cohort__arrival *arrival;
    unsigned num = 0;
    cohort__list_init(&taken);
    cohort__unknown_settle(&unknown, cohort__instance_of(home, number), &taken);
    while ((arrival = cohort__unknown_next(&taken))) {
        CHECK(arrival->envelope.instance == cohort__instance_of(home, number));
        cohort__slab_free(arrival);
        num++;
    }
    return num;
}

static void keep(uint32_t home, uint64_t number)
{
    struct cohort__arrival arrival = {
        .envelope = {.kind = COHORT__KIND_ASK, .instance = cohort__instance_of(home, number)}};
    CHECK(cohort__unknown_keep(&unknown, &arrival));
}

/* Without a creation under way nothing is to come. */
TEST(none)
{
    begin();
    CHECK(!is_to_come(0, 1) && !is_to_come(7, 100));
    unknown.num_creations = 1;
    CHECK(is_to_come(0, 1) && is_to_come(7, 100));
}

/* What is to come of a home has a higher number than all that are known of it. */
TEST(homes)
{
    static const uint32_t homes[] = {0, 3, COHORT__HOME_LAUNCHER - 1, COHORT__HOME_LAUNCHER};
    for (size_t i = 0; i < NUM_OF(homes); i++) {
        uint32_t home = homes[i], other = home ? home - 1 : 1;
        begin();
        settle(home, 5);
        settle(home, 3); /* it is known for longer */
        unknown.num_creations = 2;
        CHECK(!is_to_come(home, 3) && !is_to_come(home, 4) && !is_to_come(home, 5));
        CHECK(is_to_come(home, 6) && is_to_come(home, UINT32_MAX) && is_to_come(other, 1));
        settle(home, 6);
        CHECK(!is_to_come(home, 6) && is_to_come(home, 7));
    }
}

/* There is no such home. */
TEST(wrong_home)
{
    begin();
    unknown.num_creations = 1;
    CHECK(!is_to_come(COHORT__HOME_LAUNCHER + 1, 1));
    CHECK(!cohort__unknown_is_to_come(&unknown, 1) && !cohort__unknown_is_to_come(&unknown, 0));
    CHECK(!cohort__unknown_is_to_come(&unknown, UINT64_MAX));
    settle(COHORT__HOME_LAUNCHER + 1, 1);
}

TEST(messages)
{
    begin();
    unknown.num_creations = 1;
    keep(1, 1);
    keep(2, 1);
    keep(1, 1);
    keep(1, 2);
    CHECK_INT(settle(1, 1), 2);
    CHECK_INT(settle(1, 1), 0);
    CHECK_INT(settle(1, 2), 1);
    CHECK_INT(settle(2, 1), 1);
    CHECK(!unknown.messages.root);
}

/* A creation waits while ever more instances are made: that takes no memory. */
TEST(memory)
{
    begin();
    unknown.num_creations = 1;
    const size_t before = mallinfo2().uordblks;
    for (uint64_t number = 1; number <= 100000; number++) {
        settle(2, 2 * number);
        CHECK(!is_to_come(2, 2 * number) && is_to_come(2, 2 * number + 1) && is_to_come(1, 1));
        if (number == 1000 || number == 10000 || number == 100000)
            CHECK_INT(mallinfo2().uordblks, before);
    }
}
