/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce that follows the machine, with many leaders: as all_reduce/levels.c, but the members
 * of the last tier reduce_scatter the block to those who lead (phase 1), all who lead the same
 * share all_reduce that one (phase 2), and then the members all_gather the shares (phase 3). See
 * pattern/shares.h.
 * Cost: that of its parts. TMP: a share, a block for each level below, and that of the parts.
 * Source: Bayatpour et al., Scalable Reduction Collectives with Data Partitioning-based
 * Multi-Leader Design (SC 2017). */
#include "collectives/algo/pattern/shares.h"
#include "collectives/algo/table.h"

/* By the members of the last tier, with their subgroups' partial results at IN. */
static uint32_t append_leaders(struct cohort__levels *levels, struct cohort__area in,
                               uint32_t after)
{
    struct cohort__shares shares;
    struct cohort__area own, out = {COHORT__SPACE_OUT, 0};
    if (!cohort__shares_init(&shares, levels))
        return after;
    after = cohort__shares_reduce_scatter(&shares, in, &own, after);
    struct cohort__area place = {out.space, cohort__shares_own(&shares)->offset};
    after = cohort__shares_top(&shares, COHORT__ALL_REDUCE, own, place, after);
    after = cohort__shares_all_gather(&shares, out, after);
    cohort__shares_fini(&shares);
    return after;
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__levels levels;
    cohort_status status = cohort__levels_init(&levels, request, "all_reduce_shares");
    if (status)
        return status;
    uint32_t tier = levels.num_used - 1;
    struct cohort__area in = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0};
    uint32_t end = cohort__levels_reduce_below(&levels, tier, &in, request->bytes, COHORT__NO_STEP);
    if (levels.height >= tier)
        end = append_leaders(&levels, in, end);
    cohort__levels_broadcast_below(&levels, tier, 0, out, request->bytes, end);
    return cohort__plan_finish(levels.builder, ret_plan);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    cohort__shares_stages(request,
                          &(struct cohort__shares_ways){.below_up = COHORT__REDUCE,
                                                        .up = COHORT__REDUCE_SCATTER,
                                                        .top = COHORT__ALL_REDUCE,
                                                        .down = COHORT__ALL_GATHER,
                                                        .below_down = COHORT__BROADCAST},
                          ret_stages);
}

const struct cohort__algorithm cohort__all_reduce_shares = {
    .collective = COHORT__ALL_REDUCE,
    .name = "shares",
    .needs = cohort__shares_needs,
    .accepts = cohort__shares_accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__ALL_REDUCE,
};
