/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction that follows the machine, with many leaders: the members of the last tier
 * reduce_scatter the block to those who lead (phase 1), all who lead the same share reduce it to
 * the one in the root's subgroup (phase 2), and there the root gathers the shares (phase 3). The
 * root leads all subgroups that it is in, so the operation has to commute. See pattern/shares.h.
 * Cost: that of its parts. TMP: two shares, a block for each level below, and that of the parts.
 * Source: Bayatpour et al., Scalable Reduction Collectives with Data Partitioning-based
 * Multi-Leader Design (SC 2017). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/shares.h"

/* Where the leader of a share has its result: the root where it belongs. */
static struct cohort__area place_of(const struct cohort__shares *shares, struct cohort__area out)
{
    const struct cohort__request *request = shares->levels->request;
    const struct cohort__part *own = cohort__shares_own(shares);
    return request->this_site == request->root
               ? (struct cohort__area){out.space, out.offset + own->offset}
               : cohort__levels_tmp(shares->levels, own->bytes);
}

/* By the members of the last tier, with their subgroups' partial results at IN. */
static uint32_t append_leaders(struct cohort__levels *levels, struct cohort__area in,
                               struct cohort__area out, uint32_t after)
{
    struct cohort__shares shares;
    struct cohort__area own, result;
    if (!cohort__shares_init(&shares, levels))
        return after;
    const bool is_with_root = cohort__shares_is_with_root(&shares);
    const uint32_t is_up = cohort__shares_reduce_scatter(&shares, in, &own, after);
    result = is_with_root ? place_of(&shares, out) : own; /* elsewhere nothing is written there */
    const uint32_t end = cohort__shares_top(&shares, COHORT__REDUCE, own, result, is_up);
    if (is_with_root)
        cohort__shares_gather(&shares, result, out, end);
    cohort__shares_fini(&shares);
    return is_up;
}

static uint32_t append(struct cohort__levels *levels, size_t offset, uint32_t after)
{
    const uint32_t tier = levels->num_used - 1;
    struct cohort__area in = {COHORT__SPACE_IN, offset}, out = {COHORT__SPACE_OUT, offset};
    after = cohort__levels_reduce_below(levels, tier, &in, levels->request->bytes, after);
    return levels->height < tier ? after : append_leaders(levels, in, out, after);
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
                                                        .top = COHORT__REDUCE,
                                                        .down = COHORT__GATHER,
                                                        .below_down = COHORT__NUM_COLLECTIVES},
                          ret_stages);
}

static bool accepts(const struct cohort__request *request)
{
    return request->commutative && cohort__shares_accepts(request);
}

const struct cohort__algorithm cohort__reduce_shares = {
    .collective = COHORT__REDUCE,
    .name = "shares",
    .needs = "subgroups of several localities, and an operation that commutes",
    .accepts = accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__REDUCE,
};
