/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce, linear. All others send their block to the root, which reduces strictly in the order of
 * the sites. It reduces a block as soon as that block and those before it are there. So the result
 * has the same bits in whatever order blocks arrive, also for operations that do not commute.
 * Cost: 1 step of N-1 messages into the root, N-1 blocks through its link, N-1 reductions. TMP: at
 * the root N-1 blocks, but not more than TMP_BYTES or two blocks: a block is received when the one
 * that had its place has been reduced.
 * Source: folklore. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/subplans.h"

enum { PHASE = 1, TAG = 0 };
enum { TMP_BYTES = 4 << 20 };

uint32_t cohort__reduce_buffers(size_t bytes, uint32_t num)
{
    size_t affordable = bytes > 0 ? TMP_BYTES / bytes : SIZE_MAX;
    if (affordable < 2)
        affordable = 2;
    return affordable < num ? (uint32_t)affordable : num;
}

/* The i-th RECV is for the i-th rank other than the root. The i-th REDUCE adds rank i + 1. The
 * first one reduces ranks 0 and 1. */
uint32_t cohort__reduce_linear_append(struct cohort__plan_builder *builder,
                                      const struct cohort__request *request, uint32_t own,
                                      uint32_t result)
{
    uint32_t num_ranks = request->num_sites;
    uint32_t root = request->root;
    uint32_t num_buffers = cohort__reduce_buffers(request->bytes, num_ranks - 1);
    uint32_t first_buffer = 0;
    for (uint32_t i = 0; i < num_buffers; i++) {
        uint32_t buffer = cohort__plan_tmp(builder, request->bytes);
        first_buffer = i == 0 ? buffer : first_buffer;
    }
    uint32_t first_recv = cohort__plan_num_steps(builder);
    uint32_t first_reduce = first_recv + num_ranks - 1;
    for (uint32_t i = 0; i < num_ranks - 1; i++) {
        uint32_t block = first_buffer + i % num_buffers;
        cohort__plan_recv(builder, PHASE, i + (i >= root), TAG, &block, 1);
    }
    uint32_t left = result;
    for (uint32_t rank = 0; rank < num_ranks; rank++) {
        uint32_t recv = rank - (rank > root);
        uint32_t block = rank == root ? own : first_buffer + recv % num_buffers;
        uint32_t reduce = first_reduce + (rank > 0 ? rank - 1 : 0);
        if (rank == 0)
            left = block;
        else
            cohort__plan_reduce(builder, PHASE, result, rank == 1 ? left : result, block);
        if (rank > 1)
            cohort__plan_after(builder, reduce, reduce - 1);
        if (rank != root)
            cohort__plan_after(builder, reduce, first_recv + recv);
        if (rank != root && recv + num_buffers < num_ranks - 1)
            cohort__plan_after(builder, first_recv + recv + num_buffers, reduce);
    }
    return first_reduce + num_ranks - 2;
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    if (request->this_site != request->root) {
        cohort__plan_send(builder, PHASE, request->root, TAG, &own, 1);
        return;
    }
    uint32_t result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
    cohort__reduce_linear_append(builder, request, own, result);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    uint32_t num_sites = request->num_sites;
    struct cohort__cost cost = cohort__cost_reduce(num_sites, num_sites, request->bytes);
    /* The root's own block comes after all others. */
    if (num_sites > 2 && request->root == num_sites - 1)
        cost.reduced += (double)request->bytes;
    if (num_sites > 1)
        cost.memory =
            cohort__cost_tmp(cohort__reduce_buffers(request->bytes, num_sites - 1), request->bytes);
    return cost;
}

const struct cohort__algorithm cohort__reduce_linear = {
    .collective = COHORT__REDUCE,
    .name = "linear",
    .ordered = true,
    .build = build,
    .cost = cost,
};
