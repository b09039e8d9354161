/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce-scatter that follows the machine, with many leaders: as reduce_scatter/levels.c, but the
 * members of the last tier reduce_scatter all blocks to those who lead the same ranks (phase 1),
 * these reduce_scatter them among the largest subgroups (phase 2), and each has what the sites
 * below it get (phase 3). See pattern/shares.c. Cost: that of its parts. TMP: at a member of
 * the last tier a share for each of the largest subgroups and one more, and all blocks for each
 * level below. Source: Bayatpour et al., Scalable Reduction Collectives with Data
 * Partitioning-based Multi-Leader Design (SC 2017). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/shares.h"

/* By the members of the last tier, with what the sites below them have at IN, reduced. */
static uint32_t append_leaders(struct cohort__levels *levels, struct cohort__area in,
                               struct cohort__area out, uint32_t after)
{
    struct cohort__shares shares;
    if (!cohort__shares_init_blocks(&shares, levels))
        return after;
    struct cohort__area at =
        cohort__levels_tmp(levels, cohort__shares_blocks_top_bytes(levels->request));
    after = cohort__shares_scatter_blocks(&shares, in, at, after);
    after = cohort__shares_top(&shares, COHORT__REDUCE_SCATTER, at, out, after);
    cohort__shares_fini(&shares);
    return after;
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__levels levels;
    cohort__levels_init(&levels, builder, request);
    const uint32_t tier = levels.num_used - 1;
    struct cohort__area in = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0};
    struct cohort__lengths lengths = {.bytes = request->bytes};
    uint32_t end = cohort__levels_reduce_below(
        &levels, tier, &in, request->num_sites * request->bytes, COHORT__NO_STEP);
    struct cohort__shelf shelf = cohort__levels_shelf_below(&levels, tier, lengths);
    if (levels.height >= tier)
        end = append_leaders(&levels, in, cohort__levels_part_at(&levels, tier, out, &shelf), end);
    cohort__levels_scatter_below(&levels, tier, out, &shelf, end);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    const size_t all_bytes = request->num_sites * request->bytes;
    cohort__shares_blocks_stages(
        request, (struct cohort__levels_way){.collective = COHORT__REDUCE, .bytes = all_bytes},
        (struct cohort__levels_way){
            .collective = COHORT__SCATTER, .bytes = request->bytes, .is_for_each = true},
        ret_stages);
    ret_stages->memory = cohort__cost_tmp(cohort__levels_num_used(request), all_bytes) +
                         cohort__cost_tmp(1, cohort__shares_blocks_top_bytes(request)) +
                         cohort__cost_tmp(1, cohort__shares_blocks_bytes(request));
}

const struct cohort__algorithm cohort__reduce_scatter_shares = {
    .collective = COHORT__REDUCE_SCATTER,
    .name = "shares",
    .needs = cohort__shares_blocks_needs,
    .accepts = cohort__shares_blocks_accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__REDUCE_SCATTER,
};
