/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcast that follows the machine, with many leaders: in the root's subgroup the members of the
 * last tier get the block (phase 1), each who leads a share broadcasts it to those who lead the
 * same one elsewhere (phase 2), and there the members all_gather the shares (phase 3). See
 * pattern/shares.h.
 * Cost: that of its parts. TMP: that of its parts.
 * Source: van de Geijn's scatter and all_gather (Barnett et al., SHPCC 1994), the scatter being the
 * shares that go to other hosts; Bayatpour et al. (SC 2017) for several leaders. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/shares.h"

/* By the members of the last tier. All that they get is in AREA. */
static uint32_t append_leaders(struct cohort__levels *levels, struct cohort__area area,
                               uint32_t after)
{
    struct cohort__shares shares;
    if (!cohort__shares_init(&shares, levels))
        return after;
    const bool is_with_root = cohort__shares_is_with_root(&shares);
    if (is_with_root)
        after = cohort__levels_append(levels, shares.tier,
                                      &(struct cohort__tier_part){.collective = COHORT__BROADCAST,
                                                                  .phase = COHORT__LEVELS_UP,
                                                                  .bytes = levels->request->bytes,
                                                                  .in = area,
                                                                  .out = area},
                                      after);
    struct cohort__area own = {area.space, area.offset + cohort__shares_own(&shares)->offset};
    after = cohort__shares_top(&shares, COHORT__BROADCAST, own, own, after);
    if (!is_with_root)
        after = cohort__shares_all_gather(&shares, area, after);
    cohort__shares_fini(&shares);
    return after;
}

static uint32_t append(struct cohort__levels *levels, size_t offset, uint32_t after)
{
    const struct cohort__request *request = levels->request;
    const bool is_root = request->this_site == request->root;
    const uint32_t tier = levels->num_used - 1;
    struct cohort__area area = {is_root ? COHORT__SPACE_IN : COHORT__SPACE_OUT, offset};
    uint32_t end = after;
    if (levels->height >= tier)
        end = append_leaders(levels, area, after);
    cohort__levels_broadcast_below(levels, tier, 0, area, request->bytes, end);
    return after; /* all of it may be under way at once */
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    cohort__levels_build_segments(builder, request, append);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    cohort__shares_stages(request,
                          &(struct cohort__shares_ways){.below_up = COHORT__NUM_COLLECTIVES,
                                                        .up = COHORT__BROADCAST,
                                                        .top = COHORT__BROADCAST,
                                                        .down = COHORT__ALL_GATHER,
                                                        .below_down = COHORT__BROADCAST},
                          ret_stages);
}

const struct cohort__algorithm cohort__broadcast_shares = {
    .collective = COHORT__BROADCAST,
    .name = "shares",
    .needs = cohort__shares_needs,
    .accepts = cohort__shares_accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__BROADCAST,
};
