/* SPDX-License-Identifier: Apache-2.0 */
/* Gather that follows the machine: to the leader of each subgroup, level by level (phase 1), then
 * among the leaders of the largest subgroups (phase 2). The root leads all subgroups that it is in.
 * If the sites of a subgroup are not next to each other, it sorts what has come (phase 3). See
 * pattern/levels.h.
 * Cost: that of its parts. TMP: at a leader the blocks of its subgroup; at the root all blocks if
 * the sites of a subgroup are not next to each other, else none.
 * Source: Graham et al., Cheetah (CCGrid 2011); Luo et al., HAN (CLUSTER 2020). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/levels.h"

/* In as many pieces as may be, since here they are no messages: a row is there as soon as its piece
 * has come. */
static void sort(struct cohort__levels *levels, const struct cohort__shelf *shelf,
                 struct cohort__area out)
{
    struct cohort__piece pieces[COHORT__LEVELS_PIECES];
    uint32_t num = cohort__levels_num_pieces(levels, SIZE_MAX);
    cohort__levels_cut(levels, shelf, num, COHORT__NO_STEP, pieces);
    for (uint32_t i = 0; i < num; i++)
        cohort__levels_sort(levels, COHORT__LEVELS_DOWN, &pieces[i].shelf, out, NULL, false,
                            pieces[i].come);
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__levels levels;
    bool is_root = request->this_site == request->root;
    cohort__levels_init(&levels, builder, request);
    struct cohort__area own = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0};
    struct cohort__lengths lengths = {.bytes = request->bytes};
    struct cohort__shelf shelf = {
        .area = out, .places.num = request->num_sites, .lengths = lengths};
    if (!is_root || !levels.keeps_order)
        shelf = cohort__levels_shelf(&levels, lengths, is_root);
    uint32_t end = cohort__levels_gather_up(&levels, &own, &shelf);
    cohort__levels_gather_top(&levels, own, &shelf, end);
    if (is_root && !levels.keeps_order)
        sort(&levels, &shelf, out);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    cohort__levels_stages(
        request,
        (struct cohort__levels_way){
            .collective = COHORT__GATHER, .bytes = request->bytes, .is_for_each = true},
        (struct cohort__levels_way){
            .collective = COHORT__GATHER, .bytes = request->bytes, .is_for_each = true},
        (struct cohort__levels_way){.collective = COHORT__NUM_COLLECTIVES}, ret_stages);
    ret_stages->memory = cohort__cost_tmp(1, request->num_sites * request->bytes);
}

const struct cohort__algorithm cohort__gather_levels = {
    .collective = COHORT__GATHER,
    .name = "levels",
    .needs = cohort__levels_needs,
    .accepts = cohort__levels_accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__GATHER,
};
