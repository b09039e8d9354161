/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "collectives/algo/algorithm.h"
#include "runtime/base/counters.h"
#include "runtime/base/random.h"
#include "tests/support/machine.h"
#include "tests/support/test.h"

static const struct cohort__request good = {
    .collective = COHORT__ALL_TO_ALL, .num_sites = 9, .this_site = 0, .arity = 3, .bytes = 8};

TEST(rows)
{
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        const struct cohort__algorithm *row = cohort__algorithms[i];
        CHECK(cohort__algorithm_find(row->collective, row->name) == row);
        CHECK(row->collective < COHORT__NUM_COLLECTIVES);
        CHECK_INT(!row->build && !row->build_on, row->shared);
        CHECK_INT(!row->cost && !row->cost_on, row->stages != NULL);
        CHECK_INT(row->needs != NULL, row->accepts != NULL);
    }
    CHECK(!cohort__algorithm_find(COHORT__BARRIER, "padded"));
}

/* runtime/base knows the collectives only by their numbers. */
TEST(counters)
{
    CHECK_INT(COHORT__COUNTED_COLLECTIVES, COHORT__NUM_COLLECTIVES);
    for (unsigned i = 0; i < COHORT__NUM_COLLECTIVES; i++) {
        const char *name = cohort__collective_name((enum cohort__collective)i);
        CHECK_TEXT(cohort__counter_name(COHORT__COUNTER_CALLED + i) + strlen("called_"), name);
        CHECK_TEXT(cohort__counter_name(COHORT__COUNTER_ENDED + i) + strlen("ended_"), name);
    }
}

/* If a collective has rows, it has a linear or direct one that accepts every request. */
TEST(linear)
{
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        enum cohort__collective collective = cohort__algorithms[i]->collective;
        const struct cohort__algorithm *row = cohort__algorithm_find(collective, "linear");
        if (collective == COHORT__SHIFT)
            row = cohort__algorithm_find(collective, "direct"); /* each site has one peer */
        CHECK(row);
        CHECK(!row->hierarchical);
        CHECK(!row->accepts);
    }
}

/* A plan has the name of its row, and passes the checks of the request. */
TEST(names)
{
    struct cohort__machine *machine = test_machine_create();
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        const struct cohort__algorithm *row = cohort__algorithms[i];
        struct cohort__request request = good;
        struct cohort__plan *plan = NULL;
        char name[64];
        if (row->shared)
            continue;
        request.collective = row->collective;
        request.num_sites = TEST_MACHINE_SITES; /* meets the conditions of every row */
        request.machine = machine;
        request.shift = row->collective == COHORT__SHIFT ? 5 : 0;
        request.commutative = true;
        snprintf(name, sizeof(name), "%s_%s", cohort__collective_name(row->collective), row->name);
        CHECK_OK(cohort__algorithm_build(row, &request, &plan));
        CHECK_TEXT(plan->name, name);
        CHECK_INT(plan->num_sites, request.num_sites);
        cohort__plan_unref(plan);
    }
    cohort__machine_destroy(machine);
}

static void check_refused(struct cohort__request request, const char *message)
{
    const struct cohort__algorithm *row = cohort__algorithm_find(COHORT__ALL_TO_ALL, "padded");
    struct cohort__plan *plan = NULL;
    CHECK_INT(cohort__algorithm_build(row, &request, &plan), COHORT_ERR_BAD_PARAMETER);
    CHECK(!plan);
    CHECK_CONTAINS(cohort_error_message(), message);
}

TEST(refused)
{
    struct cohort__request request = good;
    request.collective = COHORT__BARRIER;
    check_refused(request, "padded for barrier at site 0 of 9");
    request = good;
    request.this_site = 9;
    check_refused(request, "no such site");
    request = good;
    request.root = 9;
    check_refused(request, "no such root");
    request = good;
    request.arity = 1;
    check_refused(request, "the arity is below 2");
    request = good;
    request.num_sites = 0;
    check_refused(request, "no such site");
    request = good;
    request.bytes = SIZE_MAX / 9;
    check_refused(request, "the blocks are too large");
}

static void check_parts_refused(enum cohort__collective collective, const char *name,
                                const struct cohort__request *parts, const char *message)
{
    struct cohort__request request = *parts;
    struct cohort__plan *plan = NULL;
    request.collective = collective;
    request.num_sites = 2;
    request.arity = 2;
    CHECK_INT(cohort__algorithm_build(cohort__algorithm_find(collective, name), &request, &plan),
              COHORT_ERR_BAD_PARAMETER);
    CHECK(!plan);
    CHECK_CONTAINS(cohort_error_message(), message);
}

TEST(parts_refused)
{
    struct cohort__part parts[] = {{0, 0, 8}, {1, 8, 8}}, other[] = {{0, 0, 4}, {1, 8, 8}};
    struct cohort__request request = {.in_parts = parts, .num_in_parts = 1};
    check_parts_refused(COHORT__ALL_TO_ALL, "padded", &request, "not one part for each site");
    check_parts_refused(COHORT__ALL_TO_ALL, "linear", &request, "not one part for each site");
    check_parts_refused(COHORT__EXCHANGE, "linear", &request, "this site sends itself");
    request = (struct cohort__request){.out_parts = parts, .num_out_parts = 1};
    check_parts_refused(COHORT__EXCHANGE, "linear", &request, "this site sends itself");
    request = (struct cohort__request){
        .in_parts = parts, .num_in_parts = 2, .out_parts = other, .num_out_parts = 2};
    check_parts_refused(COHORT__EXCHANGE, "linear", &request, "this site sends itself");
    check_parts_refused(COHORT__ALL_TO_ALL, "linear", &request, "this site sends itself");
    request.out_parts = parts;
    check_parts_refused(COHORT__ALL_TO_ALL, "padded", &request, "of one size");
    parts[1].site = 2;
    check_parts_refused(COHORT__EXCHANGE, "linear", &request, "or for no site");
    parts[1] = (struct cohort__part){1, SIZE_MAX, 8};
    check_parts_refused(COHORT__EXCHANGE, "linear", &request, "a part is too large");
}

/* Gives one field of REQUEST, chosen by RANDOM, another value. */
static void change_one(struct cohort__request *request, struct cohort__random *random)
{
    static const struct cohort__part part;
    uint32_t by = 1 + (uint32_t)cohort__random_below(random, 5);
    switch (cohort__random_below(random, 17)) {
    case 0:
        request->collective = (request->collective + by) % COHORT__NUM_COLLECTIVES;
        break;
    case 1:
        request->num_sites += by;
        break;
    case 2:
        request->this_site += by;
        break;
    case 3:
        request->root += by;
        break;
    case 4:
        request->arity += by;
        break;
    case 5:
        request->shift += by;
        break;
    case 6:
        request->bytes += by;
        break;
    case 7:
        request->element += by;
        break;
    case 8:
        request->commutative = !request->commutative;
        break;
    case 9:
        request->can_meet = !request->can_meet;
        break;
    case 13:
        request->meets = !request->meets;
        break;
    case 14:
        request->inner += by;
        break;
    case 15:
        request->has_notes = !request->has_notes;
        break;
    case 10:
        request->in_parts = request->in_parts ? NULL : &part;
        break;
    case 11: /* blocks that are sent become blocks that are received */
        request->num_in_parts += by;
        request->num_out_parts -= by;
        break;
    case 12:
        request->num_out_parts += by;
        break;
    default:
        request->out_parts = request->out_parts ? NULL : &part;
    }
}

/* Requests that differ in one field never have the same words, so they never get the same plan. */
TEST(words)
{
    struct cohort__random random = cohort__random_seeded(1);
    struct cohort__request one = {.num_sites = 4, .arity = 2, .num_in_parts = 1};
    for (int i = 0; i < 100000; i++) {
        uint64_t words[2][COHORT__REQUEST_WORDS];
        struct cohort__request other = one;
        cohort__request_words(&one, words[0]);
        cohort__request_words(&other, words[1]);
        CHECK(memcmp(words[0], words[1], sizeof(words[0])) == 0);
        change_one(&other, &random);
        cohort__request_words(&other, words[1]);
        if (memcmp(words[0], words[1], sizeof(words[0])) == 0)
            FAIL("pair %d has the same words", i);
        if (i % 3 == 0)
            one = other;
    }
}

/* The number of messages of the whole call. */
static uint32_t count_messages(enum cohort__collective collective, const char *name,
                               uint32_t num_sites, uint32_t arity)
{
    uint32_t num_messages = 0;
    for (uint32_t site = 0; site < num_sites; site++) {
        struct cohort__request request = {
            .collective = collective, .num_sites = num_sites, .this_site = site, .arity = arity};
        struct cohort__plan *plan = NULL;
        CHECK_OK(
            cohort__algorithm_build(cohort__algorithm_find(collective, name), &request, &plan));
        for (uint32_t i = 0; i < plan->num_steps; i++)
            num_messages += plan->steps[i].kind == COHORT__STEP_SEND;
        cohort__plan_unref(plan);
    }
    return num_messages;
}

/* The numbers of messages that the comments of the rows' files promise. */
TEST(messages)
{
    for (uint32_t n = 1; n <= 33; n++)
        for (uint32_t arity = 2; arity <= 8; arity++) {
            uint32_t m = n < arity ? n : arity;
            uint32_t hierarchical = 2 * (n - m) + m * (m - 1);
            CHECK_INT(count_messages(COHORT__ALL_TO_ALL, "linear", n, arity), n * (n - 1));
            CHECK_INT(count_messages(COHORT__ALL_TO_ALL, "hierarchical", n, arity), hierarchical);
            CHECK_INT(count_messages(COHORT__ALL_TO_ALL, "padded", n, arity), hierarchical);
            CHECK_INT(count_messages(COHORT__ALL_REDUCE, "linear", n, arity), 2 * (n - 1));
            CHECK_INT(count_messages(COHORT__ALL_REDUCE, "hierarchical", n, arity), 2 * (n - 1));
            CHECK_INT(count_messages(COHORT__ALL_GATHER, "linear", n, arity), n * (n - 1));
            CHECK_INT(count_messages(COHORT__BARRIER, "hierarchical", n, arity), 2 * (n - 1));
        }
}

static const size_t half_gibibyte = (size_t)512 << 20;

/* A request that fits into memory is not refused: one block never takes N^2 blocks. */
TEST(many_sites)
{
    for (unsigned collective = 0; collective < COHORT__NUM_COLLECTIVES; collective++) {
        bool is_square = collective == COHORT__ALL_TO_ALL || collective == COHORT__REDUCE_SCATTER;
        CHECK_INT(
            cohort__sizes_fit((enum cohort__collective)collective, 65536, half_gibibyte + 1, 1),
            !is_square);
        CHECK(cohort__sizes_fit((enum cohort__collective)collective, 65536, 1 << 20, 1));
        CHECK(cohort__sizes_fit((enum cohort__collective)collective, INT32_MAX, 0, 8));
    }
}

TEST(overflow)
{
    for (unsigned collective = 0; collective < COHORT__NUM_COLLECTIVES; collective++) {
        CHECK(!cohort__sizes_fit((enum cohort__collective)collective, 1, SIZE_MAX / 8 + 2, 8));
        CHECK(!cohort__sizes_fit((enum cohort__collective)collective, 2, SIZE_MAX / 2 + 1, 1));
        CHECK(!cohort__sizes_fit((enum cohort__collective)collective, INT32_MAX, SIZE_MAX, 1));
        CHECK(!cohort__sizes_fit((enum cohort__collective)collective, 1, PTRDIFF_MAX, 1));
    }
}
