/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce, linear: everybody sends its block to the root, which reduces strictly in the order of the
 * sites, each block as soon as it and those before it are there. So the result has the same bits
 * whatever comes first, also for operations that do not commute.
 * Cost: 1 step of N-1 messages into the root, N-1 blocks through its link, N-1 reductions.
 * TMP: at the root N-1 blocks, but not more than TMP_BYTES or two blocks: a block is received when
 * the one that had its place has been reduced. Source: folklore. */
#include "collectives/algo/linear.h"
#include "collectives/algo/table.h"

enum { PHASE = 1, TAG = 0, OWN = 0, RESULT = 1, FIRST_TMP = 2 };
enum { TMP_BYTES = 4 << 20 };

static uint32_t count_buffers(const struct cohort__request *request)
{
    size_t affordable = request->bytes > 0 ? TMP_BYTES / request->bytes : SIZE_MAX;
    uint32_t useful = request->num_sites - 1;
    if (affordable >= useful)
        return useful;
    return affordable > 2 ? (uint32_t)affordable : 2;
}

/* The i-th RECV is for the i-th rank besides the root; the i-th REDUCE adds rank i + 1, but the
 * first one takes ranks 0 and 1 together. */
static void root_append(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    uint32_t num_ranks = request->num_sites;
    uint32_t root = request->root;
    uint32_t num_buffers = count_buffers(request);
    for (uint32_t i = 0; i < num_buffers; i++)
        cohort__plan_tmp(builder, request->bytes);
    uint32_t first_reduce = num_ranks - 1;
    for (uint32_t i = 0; i < num_ranks - 1; i++) {
        uint32_t block = FIRST_TMP + i % num_buffers;
        cohort__plan_recv(builder, PHASE, i + (i >= root), TAG, &block, 1);
    }
    uint32_t left = RESULT;
    for (uint32_t rank = 0; rank < num_ranks; rank++) {
        uint32_t recv = rank - (rank > root);
        uint32_t block = rank == root ? OWN : FIRST_TMP + recv % num_buffers;
        uint32_t reduce = first_reduce + (rank > 0 ? rank - 1 : 0);
        if (rank == 0)
            left = block;
        else
            cohort__plan_reduce(builder, PHASE, RESULT, rank == 1 ? left : RESULT, block);
        if (rank > 1)
            cohort__plan_after(builder, reduce, reduce - 1);
        if (rank != root)
            cohort__plan_after(builder, reduce, recv);
        if (rank != root && recv + num_buffers < num_ranks - 1)
            cohort__plan_after(builder, recv + num_buffers, reduce);
    }
}

cohort_status cohort__reduce_linear_fragment(const struct cohort__request *request,
                                             struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    cohort_status status = cohort__plan_builder_create(&builder, "reduce_linear",
                                                       request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    if (request->this_site != request->root) {
        cohort__plan_send(builder, PHASE, request->root, TAG, &own, 1);
        return cohort__plan_finish(builder, ret_plan);
    }
    uint32_t result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
    if (request->num_sites > 1)
        root_append(builder, request);
    else
        cohort__plan_copy(builder, PHASE, result, own);
    return cohort__plan_finish(builder, ret_plan);
}

const struct cohort__algorithm cohort__reduce_linear = {
    .collective = COHORT__REDUCE,
    .name = "linear",
    .hierarchical = false,
    .build = cohort__reduce_linear_fragment,
};
