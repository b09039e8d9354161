/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, linear: in the i-th of N-1 rounds a site sends to the i-th one after it and receives
 * from the i-th one before it, so that no site is everybody's first target. Rounds do not wait for
 * each other.
 * Cost: N-1 messages out of and into each site, N-1 blocks each. TMP: none.
 * Source: pairwise exchange by offset; the design's primitive for one group. */
#include "collectives/algo/linear.h"
#include "collectives/algo/table.h"

enum { PHASE = 1, TAG = 0 };

static void blocks_append(struct cohort__plan_builder *builder,
                          const struct cohort__request *request, const uint32_t *weights,
                          enum cohort__space space)
{
    size_t offset = 0;
    size_t row = request->bytes * (weights ? weights[request->this_site] : 1);
    for (uint32_t rank = 0; rank < request->num_sites; rank++) {
        size_t bytes = row * (weights ? weights[rank] : 1);
        cohort__plan_range(builder, space, offset, bytes);
        offset += bytes;
    }
}

cohort_status cohort__all_to_all_linear_fragment(const struct cohort__request *request,
                                                 const uint32_t *weights,
                                                 struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    uint32_t num_ranks = request->num_sites;
    uint32_t this_rank = request->this_site;
    cohort_status status =
        cohort__plan_builder_create(&builder, "all_to_all_linear", num_ranks, this_rank);
    if (status != COHORT_OK)
        return status;
    blocks_append(builder, request, weights, COHORT__SPACE_IN);
    blocks_append(builder, request, weights, COHORT__SPACE_OUT);
    for (uint32_t round = 1; round < num_ranks; round++) {
        uint32_t source = this_rank >= round ? this_rank - round : this_rank + num_ranks - round;
        uint32_t from = num_ranks + source;
        cohort__plan_recv(builder, PHASE, source, TAG, &from, 1);
    }
    for (uint32_t round = 1; round < num_ranks; round++) {
        uint32_t before_end = num_ranks - this_rank;
        uint32_t target = round < before_end ? this_rank + round : round - before_end;
        cohort__plan_send(builder, PHASE, target, TAG, &target, 1);
    }
    cohort__plan_copy(builder, PHASE, num_ranks + this_rank, this_rank);
    return cohort__plan_finish(builder, ret_plan);
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    return cohort__all_to_all_linear_fragment(request, NULL, ret_plan);
}

const struct cohort__algorithm cohort__all_to_all_linear = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "linear",
    .hierarchical = false,
    .build = build,
};
