/* SPDX-License-Identifier: Apache-2.0 */
/* What is special about all_gather, reduce_scatter, all_reduce and the scans: blocks of different
 * sizes, vectors that are cut only between elements, and results whose bits do not depend on
 * timing. */
#include <string.h>

#include "tests/algo/call.h"
#include "tests/support/plan_check.h"
#include "tests/support/test.h"

enum { MAX_SITES = 21, GAP = 3, RUBBISH = 0x5a };

/* The blocks of a ragged call. They are not in the order of the sites, there are gaps before them,
 * and some are empty. */
static struct cohort__part parts[MAX_SITES];
static size_t parts_end;

static void parts_fill(uint32_t num_sites)
{
    size_t offset = 0;
    for (uint32_t i = 0; i < num_sites; i++) {
        uint32_t site = num_sites - 1 - i;
        size_t bytes = site % 3 == 1 ? 0 : 5 * site + 1;
        offset += GAP;
        parts[site] = (struct cohort__part){site, offset, bytes};
        offset += bytes;
    }
    parts_end = parts[0].offset + parts[0].bytes;
}

static const struct cohort__algorithm *row_under_test;

static cohort_status build_ragged(const struct cohort__request *request,
                                  struct cohort__plan **ret_plan)
{
    struct cohort__request own = *request;
    bool gathers = request->collective == COHORT__ALL_GATHER;
    *(gathers ? &own.out_parts : &own.in_parts) = parts;
    *(gathers ? &own.num_out_parts : &own.num_in_parts) = request->num_sites;
    return cohort__algorithm_build(row_under_test, &own, ret_plan);
}

static void sizes_ragged(const struct cohort__request *request, uint32_t site, size_t *ret_in,
                         size_t *ret_out)
{
    bool gathers = request->collective == COHORT__ALL_GATHER;
    *ret_in = gathers ? parts[site].bytes : parts_end;
    *ret_out = gathers ? parts_end : parts[site].bytes;
}

static void expect_gathered(const struct call *call)
{
    for (uint32_t site = 0; site < call->request.num_sites; site++)
        for (uint32_t from = 0; from < call->request.num_sites; from++) {
            const uint8_t *block = call->out[site] + parts[from].offset;
            CHECK(parts[from].bytes == 0 || memcmp(block, call->in[from], parts[from].bytes) == 0);
            for (size_t i = 1; i <= GAP; i++)
                CHECK_INT(call->out[site][parts[from].offset - i], RUBBISH);
        }
}

static void expect_reduced(const struct call *call)
{
    for (uint32_t site = 0; site < call->request.num_sites; site++)
        for (size_t i = 0; i < parts[site].bytes; i++) {
            uint8_t sum = 0;
            for (uint32_t from = 0; from < call->request.num_sites; from++)
                sum = (uint8_t)(sum + call->in[from][parts[site].offset + i]);
            CHECK_INT(call->out[site][i], sum);
        }
}

static void check_ragged(uint32_t num_sites)
{
    struct cohort__request request = {.collective = row_under_test->collective,
                                      .num_sites = num_sites,
                                      .arity = 2,
                                      .commutative = true};
    struct call call;
    parts_fill(num_sites);
    call_init(&call, &request, build_ragged, sizes_ragged, num_sites);
    call_expect(&call, row_under_test->name, plan_check(call.plans, num_sites), num_sites);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        call_expect(&call, row_under_test->name, call_run(&call, call_op_add, seed), seed);
        if (request.collective == COHORT__ALL_GATHER)
            expect_gathered(&call);
        else
            expect_reduced(&call);
    }
    call_fini(&call);
}

TEST(ragged)
{
    uint32_t num_rows = 0;
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        row_under_test = cohort__algorithms[i];
        if (!row_under_test->ragged || row_under_test->stages ||
            (row_under_test->collective != COHORT__ALL_GATHER &&
             row_under_test->collective != COHORT__REDUCE_SCATTER))
            continue;
        num_rows++;
        for (uint32_t num_sites = 1; num_sites <= MAX_SITES; num_sites++)
            check_ragged(num_sites);
    }
    CHECK_INT(num_rows, 4);
}

/* No step begins or ends inside an element. */
static void expect_whole(const struct cohort__plan *plan, size_t element)
{
    for (uint32_t i = 0; i < plan->num_block_refs; i++) {
        const struct cohort__block *block = &plan->blocks[plan->block_refs[i]];
        CHECK_INT(block->bytes % element, 0);
        CHECK(block->space == COHORT__SPACE_TMP || block->offset % element == 0);
    }
}

/* Vectors of few 24-byte elements: fewer than there are sites, as many, and some more. */
static void check_elements(const struct cohort__algorithm *row, uint32_t num_sites, int commutative)
{
    for (size_t count = 0; count <= num_sites + 2; count++) {
        struct cohort__request request = {.collective = row->collective,
                                          .num_sites = num_sites,
                                          .arity = 3,
                                          .bytes = 24 * count,
                                          .element = 24,
                                          .commutative = commutative};
        struct call call;
        if (cohort__algorithm_refuses(row, &request))
            return;
        call_init_row(&call, &request, row, call_sizes_collective, count);
        call_expect(&call, row->name, call_check(&call), count);
        call_verify(&call, row->name, commutative ? call_op_add : call_op_affine, count);
        for (uint32_t site = 0; site < num_sites; site++)
            expect_whole(call.plans[site], 24);
        call_fini(&call);
    }
}

TEST(elements)
{
    for (uint32_t i = 0; i < cohort__num_algorithms; i++)
        for (uint32_t num_sites = 1; num_sites <= MAX_SITES; num_sites++)
            for (int commutative = 0; commutative <= 1; commutative++)
                if (cohort__algorithms[i]->collective == COHORT__ALL_REDUCE)
                    check_elements(cohort__algorithms[i], num_sites, commutative);
}

/* With an operation that is not associative, every run has the bits of the first run, whatever
 * message comes first. The bits of an all_reduce are the same at all sites. */
static void check_bits(const struct cohort__algorithm *row, uint32_t num_sites)
{
    enum { BYTES = 40 };
    static uint8_t first[MAX_SITES][BYTES];
    struct cohort__request request = {.collective = row->collective,
                                      .num_sites = num_sites,
                                      .arity = 3,
                                      .bytes = BYTES,
                                      .element = 8,
                                      .commutative = true};
    struct call call;
    if (cohort__algorithm_refuses(row, &request))
        return;
    call_init_row(&call, &request, row, call_sizes_collective, 1);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        call_expect(&call, row->name, call_run(&call, call_op_hash, seed), seed);
        for (uint32_t site = 0; site < num_sites; site++) {
            bool is_same = row->collective == COHORT__ALL_REDUCE;
            if (seed == 1 && call.out_bytes[site] > 0)
                memcpy(first[site], call.out[site], BYTES);
            if (call.out_bytes[site] > 0)
                CHECK(memcmp(call.out[site], first[is_same ? 0 : site], BYTES) == 0);
        }
    }
    call_fini(&call);
}

TEST(bits)
{
    for (uint32_t i = 0; i < cohort__num_algorithms; i++)
        for (uint32_t num_sites = 1; num_sites <= MAX_SITES; num_sites++)
            if (cohort__collective_reduces(cohort__algorithms[i]->collective) &&
                !cohort__collective_is_rooted(cohort__algorithms[i]->collective))
                check_bits(cohort__algorithms[i], num_sites);
}
