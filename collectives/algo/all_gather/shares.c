/* SPDX-License-Identifier: Apache-2.0 */
/* All-gather that follows the machine, with many leaders: the blocks of a locality are gathered at
 * its leader (phase 1), leaders with the same rank in their subgroups all_gather theirs (phase 2),
 * and then those of a subgroup all_gather what has come, from one subgroup after the other, and
 * broadcast it to the sites below them (phase 3). See pattern/shares.c.
 * Cost: that of its parts; less where pieces go back while the leaders still exchange others. TMP:
 * at a leader a share for each of the largest subgroups.
 * Source: Bayatpour et al., Scalable Reduction Collectives with Data Partitioning-based
 * Multi-Leader Design (SC 2017), for the leaders. */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/shares.h"

/* By the members of the last tier, with the blocks of the sites below them at OWN. Lets the step
 * that PIECES have for their coming wait for those that belong to them. */
static void append_leaders(struct cohort__levels *levels, struct cohort__area own,
                           struct cohort__piece *pieces, uint32_t num_pieces, uint32_t after)
{
    struct cohort__shares shares;
    const struct cohort__request *request = levels->request;
    const uint32_t num =
        cohort__machine_num_subgroups(levels->machine, levels->used[levels->num_used - 1]);
    uint32_t *ends = calloc(num, sizeof(*ends));
    if (ends && cohort__shares_init_blocks(&shares, levels)) {
        struct cohort__area at =
            cohort__levels_tmp(levels, cohort__shares_blocks_top_bytes(request));
        cohort__shares_top(&shares, COHORT__ALL_GATHER, own, at, after);
        cohort__shares_gather_blocks(&shares, own, at, (struct cohort__area){COHORT__SPACE_OUT, 0},
                                     after, ends);
        cohort__shares_fini(&shares);
    }
    if (!ends)
        cohort__plan_builder_fail(levels->builder);
    for (uint32_t i = 0; i < num_pieces; i++) {
        const struct cohort__slice places = pieces[i].shelf.places;
        const uint32_t largest = cohort__levels_largest(request);
        pieces[i].come = cohort__plan_join(levels->builder, COHORT__LEVELS_DOWN);
        for (uint32_t k = places.first / largest; ends && k < (places.first + places.num) / largest;
             k++)
            cohort__plan_after(levels->builder, pieces[i].come, ends[k]);
    }
    free(ends);
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__levels levels;
    cohort__levels_init(&levels, builder, request);
    const uint32_t tier = levels.num_used - 1;
    struct cohort__area own = {COHORT__SPACE_IN, 0};
    struct cohort__piece pieces[COHORT__LEVELS_PIECES];
    const struct cohort__shelf all = {.area = {COHORT__SPACE_OUT, 0},
                                      .places.num = request->num_sites,
                                      .lengths = {.bytes = request->bytes}};
    uint32_t num_pieces = cohort__levels_num_pieces(&levels, request->num_sites * request->bytes);
    uint32_t up = cohort__levels_gather_below(&levels, tier, &own, &all);
    cohort__levels_cut(&levels, &all, num_pieces, up, pieces);
    if (levels.height >= tier)
        append_leaders(&levels, own, pieces, num_pieces, up);
    for (uint32_t i = 0; i < num_pieces; i++)
        cohort__levels_broadcast_below(&levels, tier, pieces[i].shelf.piece, pieces[i].shelf.area,
                                       cohort__shelf_bytes(&pieces[i].shelf), pieces[i].come);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    cohort__shares_blocks_stages(
        request,
        (struct cohort__levels_way){
            .collective = COHORT__GATHER, .bytes = request->bytes, .is_for_each = true},
        (struct cohort__levels_way){.collective = COHORT__BROADCAST,
                                    .bytes = request->num_sites * request->bytes},
        ret_stages);
    ret_stages->memory = cohort__cost_tmp(1, cohort__shares_blocks_top_bytes(request));
}

const struct cohort__algorithm cohort__all_gather_shares = {
    .collective = COHORT__ALL_GATHER,
    .name = "shares",
    .needs = cohort__shares_blocks_needs,
    .accepts = cohort__shares_blocks_accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__ALL_GATHER,
};
