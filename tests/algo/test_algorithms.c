/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of the table: the plan check first, then the result against the definition of the
 * collective. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/hash.h"
#include "tests/algo/call.h"
#include "tests/support/test.h"

static const uint32_t arities[] = {2, 3, 4, 8};
static const size_t sizes[] = {24, 8, 1, 0};
enum { NUM_ARITIES = 4, NUM_SIZES = 4, LAST_SITES = 33, NUM_SEEDS = 12 };

static uint64_t seed_of(const struct cohort__request *request)
{
    uint64_t seed = cohort__hash_mix(request->collective, request->num_sites);
    seed = cohort__hash_mix(seed, (uint64_t)request->root << 32 | request->arity);
    seed = cohort__hash_mix(seed, request->shift);
    return cohort__hash_mix(seed, request->bytes << 1 | request->commutative);
}

static void verify(const struct cohort__algorithm *row, const struct cohort__request *request,
                   uint32_t num_seeds)
{
    uint64_t seed = seed_of(request);
    plan_run_op *affine = request->bytes % 8 == 0 ? call_op_affine : call_op_affine_byte;
    struct call call;
    if (cohort__algorithm_refuses(row, request))
        return;
    call_init_row(&call, request, row, call_sizes_collective, seed);
    call_expect(&call, row->name, call_check(&call), seed);
    for (uint32_t i = 0; i < num_seeds; i++)
        call_verify(&call, row->name, request->commutative ? call_op_add : affine, seed + i);
    call_fini(&call);
}

/* All roots with the first size, and a few roots with the other sizes. */
static void verify_roots(const struct cohort__algorithm *row, struct cohort__request request)
{
    uint32_t num_roots = cohort__collective_is_rooted(row->collective) ? request.num_sites : 1;
    uint32_t last = num_roots - 1;
    for (uint32_t root = 0; root < num_roots; root++) {
        bool is_special = root <= 1 || root == last / 2 || root == last;
        request.root = root;
        for (uint32_t i = 0; i < (is_special ? NUM_SIZES : 1); i++) {
            request.bytes = sizes[i];
            request.element = sizes[i] % 8 == 0 ? 8 : 1; /* elements of call_op_affine */
            verify(row, &request, 1);
        }
    }
}

static void verify_row(const struct cohort__algorithm *row, uint32_t num_sites)
{
    for (uint32_t a = 0; a < (row->hierarchical ? NUM_ARITIES : 1); a++)
        for (int commutative = 0; commutative <= cohort__collective_reduces(row->collective);
             commutative++)
            verify_roots(row, (struct cohort__request){.collective = row->collective,
                                                       .num_sites = num_sites,
                                                       .arity = arities[a],
                                                       .commutative = commutative});
}

static void verify_collective(enum cohort__collective collective)
{
    uint32_t last = (uint32_t)test_rounds(LAST_SITES, 9);
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        if (cohort__algorithms[i]->collective != collective)
            continue;
        for (uint32_t num_sites = 1; num_sites <= last; num_sites = call_next_sites(num_sites))
            verify_row(cohort__algorithms[i], num_sites);
        for (uint32_t n = 0; n < test_rounds(2, 0); n++)
            verify_row(cohort__algorithms[i], n == 0 ? 40 : 64);
    }
}

TEST_CALL(gather, verify_collective(COHORT__GATHER))
TEST_CALL(scatter, verify_collective(COHORT__SCATTER))
TEST_CALL(broadcast, verify_collective(COHORT__BROADCAST))
TEST_CALL(reduce, verify_collective(COHORT__REDUCE))
TEST_CALL(all_gather, verify_collective(COHORT__ALL_GATHER))
TEST_CALL(all_reduce, verify_collective(COHORT__ALL_REDUCE))
TEST_CALL(all_to_all, verify_collective(COHORT__ALL_TO_ALL))
TEST_CALL(barrier, verify_collective(COHORT__BARRIER))
TEST_CALL(reduce_scatter, verify_collective(COHORT__REDUCE_SCATTER))
TEST_CALL(scan, verify_collective(COHORT__SCAN))
TEST_CALL(exclusive_scan, verify_collective(COHORT__EXCLUSIVE_SCAN))

/* Every shift of every row. */
TEST(shift)
{
    verify_collective(COHORT__SHIFT);
    for (uint32_t i = 0; i < cohort__num_algorithms; i++)
        for (uint32_t num_sites = 2; num_sites <= LAST_SITES;
             num_sites = call_next_sites(num_sites))
            for (uint32_t shift = 1; shift < num_sites; shift++)
                if (cohort__algorithms[i]->collective == COHORT__SHIFT)
                    verify(cohort__algorithms[i],
                           &(struct cohort__request){.collective = COHORT__SHIFT,
                                                     .num_sites = num_sites,
                                                     .arity = 2,
                                                     .shift = shift,
                                                     .bytes = 8},
                           2);
}

/* Runs the same plans in many orders. */
TEST(seeds)
{
    static const uint32_t counts[] = {2, 3, 5, 7, 11, 16, 21};
    for (uint32_t i = 0; i < cohort__num_algorithms; i++)
        for (uint32_t n = 0; n < NUM_OF(counts); n++)
            for (uint32_t a = 0; a < 2 * NUM_ARITIES; a++)
                verify(cohort__algorithms[i],
                       &(struct cohort__request){
                           .collective = cohort__algorithms[i]->collective,
                           .num_sites = counts[n],
                           .root = cohort__collective_is_rooted(cohort__algorithms[i]->collective)
                                       ? counts[n] / 2
                                       : 0,
                           .arity = arities[a / 2],
                           .bytes = 40,
                           .element = 8,
                           .commutative = a % 2},
                       NUM_SEEDS);
}

/* As long as one site does not call the barrier, no site leaves it. */
static void verify_barrier(const struct cohort__algorithm *row, uint32_t num_sites, uint32_t arity)
{
    struct cohort__request request = {
        .collective = COHORT__BARRIER, .num_sites = num_sites, .arity = arity};
    struct call call;
    call_init_row(&call, &request, row, call_sizes_collective, 1);
    for (uint32_t absent = 0; absent < num_sites; absent++) {
        struct cohort__plan *present = call.plans[absent];
        struct cohort__plan late = *present;
        struct cohort__step *steps = malloc(late.num_steps * sizeof(*steps));
        bool is_done[LAST_SITES];
        CHECK(steps);
        memcpy(steps, late.steps, late.num_steps * sizeof(*steps));
        for (uint32_t i = 0; i < late.num_steps; i++)
            steps[i].num_waits++;
        late.steps = steps;
        call.plans[absent] = &late;
        struct plan_run run = {.plans = call.plans,
                               .num_sites = num_sites,
                               .in = (const uint8_t *const *)call.in,
                               .out = call.out,
                               .seed = absent + 1,
                               .ret_is_done = is_done};
        CHECK_INT(plan_run(&run), COHORT_ERR_STATE);
        for (uint32_t site = 0; site < num_sites; site++)
            CHECK(!is_done[site]);
        call.plans[absent] = present;
        free(steps);
    }
    call_fini(&call);
}

TEST(barrier_holds)
{
    for (uint32_t num_sites = 2; num_sites <= LAST_SITES; num_sites = call_next_sites(num_sites)) {
        verify_barrier(cohort__algorithm_find(COHORT__BARRIER, "linear"), num_sites, 2);
        verify_barrier(cohort__algorithm_find(COHORT__BARRIER, "dissemination"), num_sites, 2);
        for (uint32_t a = 0; a < NUM_ARITIES; a++)
            verify_barrier(cohort__algorithm_find(COHORT__BARRIER, "hierarchical"), num_sites,
                           arities[a]);
    }
}

/* The operation gives another result for every other order. A linear reduction has the order of the
 * sites, also where blocks take turns in TMP. */
TEST(linear_order)
{
    static const size_t blocks[] = {8, 3 << 20};
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t root = 0; root < 7; root++)
            for (uint64_t seed = 1; seed <= (i == 0 ? 20 : 2); seed++) {
                struct cohort__request request = {.collective = COHORT__REDUCE,
                                                  .num_sites = 7,
                                                  .root = root,
                                                  .arity = 2,
                                                  .bytes = blocks[i],
                                                  .commutative = true};
                const struct cohort__algorithm *row =
                    cohort__algorithm_find(COHORT__REDUCE, "linear");
                struct call call;
                if (i > 0 && root % 3 != 0)
                    continue;
                call_init_row(&call, &request, row, call_sizes_collective, seed);
                call_expect(&call, row->name, call_check(&call), seed);
                call_verify(&call, row->name, call_op_hash, seed);
                CHECK(call.plans[root]->tmp_bytes <= (i == 0 ? 6 * 64 : 2 * blocks[1]));
                call_fini(&call);
            }
}

/* The result of a tree has the same bits, whatever message comes first. */
TEST(same_bits)
{
    for (uint32_t a = 0; a < NUM_ARITIES; a++)
        for (uint32_t num_sites = 2; num_sites <= LAST_SITES;
             num_sites = call_next_sites(num_sites)) {
            struct cohort__request request = {.collective = COHORT__ALL_REDUCE,
                                              .num_sites = num_sites,
                                              .arity = arities[a],
                                              .bytes = 8,
                                              .commutative = true};
            const struct cohort__algorithm *row =
                cohort__algorithm_find(COHORT__ALL_REDUCE, "hierarchical");
            struct call call;
            uint8_t first[8];
            call_init_row(&call, &request, row, call_sizes_collective, 1);
            for (uint64_t seed = 1; seed <= 4; seed++) {
                call_expect(&call, row->name, call_run(&call, call_op_hash, seed), seed);
                if (seed == 1)
                    memcpy(first, call.out[0], sizeof(first));
                for (uint32_t site = 0; site < num_sites; site++)
                    CHECK(memcmp(call.out[site], first, sizeof(first)) == 0);
            }
            call_fini(&call);
        }
}
