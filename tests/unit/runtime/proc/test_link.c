/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/peer.h"

#include "runtime/base/random.h"
#include "tests/support/test.h"

enum { NUM_SEEDS = 30, NUM_MESSAGES = 3000 };
static const uint64_t second = UINT64_C(1000000000);

TEST(in_order)
{
    struct cohort__link link = {.next = UINT32_MAX - 10}; /* they wrap around */
    for (uint32_t i = 0; i < 30; i++) {
        CHECK(cohort__link_take(&link, link.next));
        CHECK(!cohort__link_take(&link, link.next - 1)); /* a second time */
        CHECK(!cohort__link_look(&link, UINT64_MAX));
    }
    CHECK_INT(link.next, 19);
}

/* Each message arrives up to DISTANCE places from its own, and then a second time. It is accepted
 * once. */
TEST(overtaking)
{
    static uint32_t order[NUM_MESSAGES];
    for (uint64_t seed = 1; seed <= NUM_SEEDS; seed++) {
        struct cohort__link link = {.next = UINT32_MAX - 1000};
        struct cohort__random random = cohort__random_seeded(seed);
        uint64_t distance = 1 + cohort__random_below(&random, COHORT__LINK_AHEAD / 2);
        for (uint32_t i = 0; i < NUM_MESSAGES; i++)
            order[i] = UINT32_MAX - 1000 + i;
        for (uint32_t i = 0; i + distance <= NUM_MESSAGES; i += (uint32_t)distance)
            for (uint32_t k = (uint32_t)distance - 1; k > 0; k--) {
                uint32_t other = i + (uint32_t)cohort__random_below(&random, k + 1);
                uint32_t kept = order[i + k];
                order[i + k] = order[other];
                order[other] = kept;
            }
        for (uint32_t i = 0; i < NUM_MESSAGES; i++) {
            CHECK(cohort__link_take(&link, order[i]));
            CHECK(!cohort__link_take(&link, order[cohort__random_below(&random, i + 1)]));
        }
        CHECK_INT(link.num_ahead, 0);
        CHECK_INT(link.next, (uint32_t)(UINT32_MAX - 1000 + NUM_MESSAGES));
        for (uint32_t i = 0; i < COHORT__LINK_AHEAD / 64; i++)
            CHECK_INT(link.ahead[i], 0);
    }
}

/* Looks twice a second from *NOW on. Returns after how many half seconds LINK is broken. */
static int look_until_broken(struct cohort__link *link, uint64_t *now)
{
    int num = 1;
    while (!cohort__link_look(link, *now += second / 2))
        num++;
    return num;
}

TEST(lost)
{
    struct cohort__link link = {0};
    CHECK(cohort__link_take(&link, 0));
    CHECK(cohort__link_take(&link, 2)); /* 1 is missing */
    uint64_t now = link.looked_at;
    CHECK(!cohort__link_look(&link, now - second));
    CHECK_INT(look_until_broken(&link, &now), 20);
    CHECK(cohort__link_take(&link, 4)); /* later messages do not help */
    CHECK(cohort__link_look(&link, now + 1));
    CHECK(cohort__link_take(&link, 1)); /* now 3 is missing, and the time starts again */
    now = link.looked_at;
    CHECK_INT(look_until_broken(&link, &now), 20);
    CHECK(cohort__link_take(&link, 3));
    CHECK(!cohort__link_look(&link, UINT64_MAX));
    CHECK_INT(link.next, 5);
}

/* A process that was stopped for an hour has not looked meanwhile. */
TEST(stopped)
{
    struct cohort__link link = {0};
    CHECK(cohort__link_take(&link, 1)); /* 0 is missing */
    uint64_t now = link.looked_at + 3600 * second;
    CHECK(!cohort__link_look(&link, now));
    CHECK_INT(look_until_broken(&link, &now), 18);
}

TEST(beyond)
{
    struct cohort__link link = {0};
    CHECK(!cohort__link_take(&link, COHORT__LINK_AHEAD));
    CHECK(!cohort__link_take(&link, UINT32_MAX));
    CHECK(cohort__link_take(&link, COHORT__LINK_AHEAD - 1));
    CHECK(!cohort__link_take(&link, COHORT__LINK_AHEAD - 1));
    CHECK_INT(link.num_ahead, 1);
}
