/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, linear. In the i-th of N-1 rounds a site sends to the i-th site after it and receives
 * from the i-th site before it. So no site is the first target of all. Rounds do not wait for each
 * other.
 * Cost: (t_s + t_w m)(N-1); N-1 messages out of and into each site, one block each. TMP: none.
 * Source: pairwise exchange by offset. */
#include "collectives/algo/pattern/all_to_all_direct.h"
#include "collectives/algo/pattern/linear.h"
#include "collectives/algo/table.h"

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
    cohort_status status = cohort__plan_builder_create(&builder, "all_to_all_linear",
                                                       request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    blocks_append(builder, request, weights, COHORT__SPACE_IN);
    blocks_append(builder, request, weights, COHORT__SPACE_OUT);
    cohort__all_to_all_direct_append(builder, request->num_sites, request->this_site,
                                     COHORT__PARTNERS_BY_OFFSET, request->num_sites);
    return cohort__plan_finish(builder, ret_plan);
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    return cohort__all_to_all_direct(request, "all_to_all_linear", COHORT__PARTNERS_BY_OFFSET,
                                     request->num_sites, ret_plan);
}

const struct cohort__algorithm cohort__all_to_all_linear = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "linear",
    .hierarchical = false,
    .ragged = true,
    .build = build,
    .cost = cohort__all_to_all_direct_cost,
};
