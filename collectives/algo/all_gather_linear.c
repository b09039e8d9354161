/* SPDX-License-Identifier: Apache-2.0 */
/* All-gather, linear: a direct exchange. In the i-th of N-1 rounds a site sends its block to the
 * i-th one after it and receives from the i-th one before it, into its place. Rounds do not wait
 * for each other.
 * Cost: N-1 messages out of and into each site, N-1 blocks each. TMP: none.
 * Source: folklore; the "spread" exchange. */
#include "collectives/algo/table.h"

enum { PHASE = 1, TAG = 0 };

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    uint32_t num_sites = request->num_sites;
    uint32_t this_site = request->this_site;
    cohort_status status =
        cohort__plan_builder_create(&builder, "all_gather_linear", num_sites, this_site);
    if (status != COHORT_OK)
        return status;
    for (uint32_t site = 0; site < num_sites; site++)
        cohort__plan_range(builder, COHORT__SPACE_OUT, site * request->bytes, request->bytes);
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    for (uint32_t round = 1; round < num_sites; round++) {
        uint32_t source = this_site >= round ? this_site - round : this_site + num_sites - round;
        cohort__plan_recv(builder, PHASE, source, TAG, &source, 1);
    }
    for (uint32_t round = 1; round < num_sites; round++) {
        uint32_t before_end = num_sites - this_site;
        uint32_t target = round < before_end ? this_site + round : round - before_end;
        cohort__plan_send(builder, PHASE, target, TAG, &own, 1);
    }
    cohort__plan_copy(builder, PHASE, this_site, own);
    return cohort__plan_finish(builder, ret_plan);
}

const struct cohort__algorithm cohort__all_gather_linear = {
    .collective = COHORT__ALL_GATHER,
    .name = "linear",
    .hierarchical = false,
    .build = build,
};
