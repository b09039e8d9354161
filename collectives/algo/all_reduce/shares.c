/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce that follows the machine, with many leaders: as all_reduce/levels.c, but the members
 * of the last tier reduce_scatter the block to those who lead (phase 1), all who lead the same
 * share all_reduce that one (phase 2), and then the members all_gather the shares (phase 3). See
 * pattern/shares.h.
 * Cost: that of its parts. TMP: a share, a block for each level below, and that of the parts.
 * Source: Bayatpour et al., Scalable Reduction Collectives with Data Partitioning-based
 * Multi-Leader Design (SC 2017). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/shares.h"

/* By the members of the last tier, with their subgroups' partial results at IN. */
static uint32_t append_leaders(struct cohort__levels *levels, struct cohort__area in,
                               struct cohort__area out, uint32_t *is_up)
{
    struct cohort__shares shares;
    struct cohort__area own;
    if (!cohort__shares_init(&shares, levels))
        return *is_up;
    *is_up = cohort__shares_reduce_scatter(&shares, in, &own, *is_up);
    struct cohort__area place = {out.space, out.offset + cohort__shares_own(&shares)->offset};
    uint32_t end = cohort__shares_top(&shares, COHORT__ALL_REDUCE, own, place, *is_up);
    end = cohort__shares_all_gather(&shares, out, end);
    cohort__shares_fini(&shares);
    return end;
}

static uint32_t append(struct cohort__levels *levels, size_t offset, uint32_t after)
{
    const size_t bytes = levels->request->bytes;
    const uint32_t tier = levels->num_used - 1;
    struct cohort__area in = {COHORT__SPACE_IN, offset}, out = {COHORT__SPACE_OUT, offset};
    uint32_t is_up = cohort__levels_reduce_below(levels, tier, &in, bytes, after), end = is_up;
    if (levels->height >= tier)
        end = append_leaders(levels, in, out, &is_up);
    cohort__levels_broadcast_below(levels, tier, 0, out, bytes, end);
    return is_up;
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    cohort__levels_build_segments(builder, request, append);
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
