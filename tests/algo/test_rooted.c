/* SPDX-License-Identifier: Apache-2.0 */
/* What is special about rows of the rooted collectives: blocks of different sizes, strict order,
 * elements that are not cut, segments. */
#include <string.h>

#include "tests/algo/call.h"
#include "tests/support/test.h"

enum { MAX_SITES = 17, GAP = 3, RUBBISH = 0x5a };

/* The blocks of a ragged call in the root's buffer. They are not in the order of the sites, there
 * are gaps before them, and some are empty. */
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

/* The request of one site. Only the root knows all parts. */
static cohort_status build_ragged(const struct cohort__request *request,
                                  struct cohort__plan **ret_plan)
{
    struct cohort__request own = *request;
    bool gathers = request->collective == COHORT__GATHER;
    own.bytes = parts[request->this_site].bytes;
    if (request->this_site == request->root) {
        own.bytes = 0; /* not used */
        *(gathers ? &own.out_parts : &own.in_parts) = parts;
        *(gathers ? &own.num_out_parts : &own.num_in_parts) = request->num_sites;
    }
    return cohort__algorithm_build(cohort__algorithm_find(request->collective, "linear"), &own,
                                   ret_plan);
}

static void sizes_ragged(const struct cohort__request *request, uint32_t site, size_t *ret_in,
                         size_t *ret_out)
{
    bool gathers = request->collective == COHORT__GATHER;
    size_t at_root = site == request->root ? parts_end : 0;
    *ret_in = gathers ? parts[site].bytes : at_root;
    *ret_out = gathers ? at_root : parts[site].bytes;
}

/* All blocks are at their places, and the gaps are unchanged. */
static void expect_ragged(const struct call *call)
{
    bool gathers = call->request.collective == COHORT__GATHER;
    uint32_t root = call->request.root;
    uint8_t *const *one = gathers ? call->in : call->out;
    const uint8_t *all = gathers ? call->out[root] : call->in[root];
    for (uint32_t site = 0; site < call->request.num_sites; site++) {
        struct cohort__part part = parts[site];
        CHECK(part.bytes == 0 || memcmp(one[site], all + part.offset, part.bytes) == 0);
        for (size_t i = 1; gathers && i <= GAP; i++)
            CHECK_INT(all[part.offset - i], RUBBISH);
    }
}

static void check_ragged(enum cohort__collective collective)
{
    for (uint32_t num_sites = 1; num_sites <= MAX_SITES; num_sites++)
        for (uint32_t root = 0; root < num_sites; root++) {
            struct cohort__request request = {
                .collective = collective, .num_sites = num_sites, .root = root, .arity = 2};
            struct call call;
            parts_fill(num_sites);
            call_init(&call, &request, build_ragged, sizes_ragged, root + 1);
            call_expect(&call, "ragged", call_check(&call), num_sites);
            call_expect(&call, "ragged", call_run(&call, NULL, num_sites), num_sites);
            expect_ragged(&call);
            call_fini(&call);
        }
}

TEST(ragged)
{
    CHECK(cohort__algorithm_find(COHORT__GATHER, "linear")->ragged);
    CHECK(cohort__algorithm_find(COHORT__SCATTER, "linear")->ragged);
    check_ragged(COHORT__GATHER);
    check_ragged(COHORT__SCATTER);
}

static void check_order(const struct cohort__algorithm *row, uint32_t num_sites, uint32_t root,
                        size_t bytes)
{
    struct cohort__request request = {.collective = row->collective,
                                      .num_sites = num_sites,
                                      .root = root,
                                      .arity = 3,
                                      .bytes = bytes,
                                      .commutative = true};
    struct call call;
    if (cohort__algorithm_refuses(row, &request))
        return;
    call_init_row(&call, &request, row, call_sizes_collective, root + 1);
    call_expect(&call, row->name, call_check(&call), root + 1);
    call_verify(&call, row->name, call_op_hash, root + 1);
    call_fini(&call);
}

/* Rows that promise it reduce strictly from the left, even if the operation may be applied in any
 * order. The operation here is not even associative. The longer vector is cut into segments and
 * pieces. */
TEST(ordered)
{
    uint32_t num_rows = 0;
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        const struct cohort__algorithm *row = cohort__algorithms[i];
        if (!row->ordered)
            continue;
        num_rows++;
        for (uint32_t num_sites = 1; num_sites <= MAX_SITES; num_sites++)
            for (uint32_t root = 0; root < num_sites; root++)
                if (root == 0 || cohort__collective_is_rooted(row->collective)) {
                    check_order(row, num_sites, root, 24);
                    check_order(row, num_sites, root, 40000);
                }
    }
    CHECK(num_rows >= 3);
}

/* No message and no reduction begins or ends inside one of the 24-byte elements. */
static void check_elements(const char *name, uint32_t num_sites, uint32_t root, size_t count)
{
    const struct cohort__algorithm *row = cohort__algorithm_find(COHORT__REDUCE, name);
    struct cohort__request request = {.collective = COHORT__REDUCE,
                                      .num_sites = num_sites,
                                      .root = root,
                                      .arity = 2,
                                      .bytes = 24 * count,
                                      .element = 24};
    struct call call;
    call_init_row(&call, &request, row, call_sizes_collective, 1);
    call_expect(&call, name, call_check(&call), 1);
    call_verify(&call, name, call_op_affine, 1);
    for (uint32_t site = 0; site < num_sites; site++) {
        const struct cohort__plan *plan = call.plans[site];
        for (uint32_t i = 0; i < plan->num_blocks; i++) {
            const struct cohort__block *block = &plan->blocks[i];
            CHECK_INT(block->bytes % 24, 0);
            CHECK(block->space == COHORT__SPACE_TMP || block->offset % 24 == 0);
        }
    }
    call_fini(&call);
}

TEST(elements)
{
    for (uint32_t num_sites = 1; num_sites <= MAX_SITES; num_sites++)
        for (uint32_t root = 0; root < num_sites; root += 3)
            for (size_t count = 0; count <= 600; count = 5 * count + 1) {
                check_elements("scatter_gather", num_sites, root, count);
                check_elements("chain", num_sites, root, count);
            }
}

static uint32_t count_messages(enum cohort__collective collective, uint32_t num_sites, size_t bytes,
                               size_t element)
{
    struct cohort__request request = {.collective = collective,
                                      .num_sites = num_sites,
                                      .arity = 2,
                                      .bytes = bytes,
                                      .element = element};
    struct cohort__plan *plan = NULL;
    uint32_t num_sends = 0;
    CHECK_OK(cohort__algorithm_build(cohort__algorithm_find(collective, "chain"), &request, &plan));
    for (uint32_t i = 0; i < plan->num_steps; i++)
        if (plan->steps[i].kind == COHORT__STEP_SEND)
            CHECK_INT(plan->steps[i].tag, num_sends++);
    cohort__plan_unref(plan);
    return num_sends;
}

/* sqrt((hops - 1) bytes / 4096), rounded up, and its bounds. */
TEST(segments)
{
    CHECK_INT(count_messages(COHORT__BROADCAST, 2, 1 << 20, 1), 1); /* a single hop */
    CHECK_INT(count_messages(COHORT__BROADCAST, 3, 4096, 1), 1);
    CHECK_INT(count_messages(COHORT__BROADCAST, 3, 4097, 1), 2);
    CHECK_INT(count_messages(COHORT__BROADCAST, 6, 1 << 20, 1), 32);
    CHECK_INT(count_messages(COHORT__BROADCAST, 6, 1 << 30, 1), 64);
    CHECK_INT(count_messages(COHORT__BROADCAST, 6, 0, 1), 1);
    CHECK_INT(count_messages(COHORT__REDUCE, 5, 1 << 20, 1), 32); /* one hop more, to site 0 */
    CHECK_INT(count_messages(COHORT__REDUCE, 5, 1 << 20, 1 << 18), 4);
}
