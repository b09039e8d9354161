/* SPDX-License-Identifier: Apache-2.0 */
/* Scatter that follows the machine: among the leaders of the largest subgroups (phase 2), then from
 * the leader of each subgroup, level by level (phase 3). The root leads all subgroups that it is
 * in. See pattern/levels.h.
 * Cost: that of its parts. TMP: at a leader the blocks of its subgroup; at the root all blocks if
 * the sites of a subgroup are not next to each other, else none.
 * Source: Graham et al., Cheetah (CCGrid 2011); Luo et al., HAN (CLUSTER 2020). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/levels.h"

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__levels levels;
    bool is_root = request->this_site == request->root;
    cohort__levels_init(&levels, builder, request);
    struct cohort__area own = {COHORT__SPACE_OUT, 0}, in = {COHORT__SPACE_IN, 0};
    struct cohort__lengths lengths = {.bytes = request->bytes};
    struct cohort__shelf shelf = {.area = in, .places.num = request->num_sites, .lengths = lengths};
    uint32_t end = COHORT__NO_STEP;
    if (!is_root || !levels.keeps_order)
        shelf = cohort__levels_shelf(&levels, lengths, is_root);
    if (is_root && !levels.keeps_order)
        end = cohort__levels_sort(&levels, COHORT__LEVELS_UP, &shelf, in, NULL, true, end);
    end = cohort__levels_scatter_top(&levels, own, &shelf, end);
    cohort__levels_scatter_down(&levels, own, &shelf, end);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    cohort__levels_stages(
        request, (struct cohort__levels_way){.collective = COHORT__NUM_COLLECTIVES},
        (struct cohort__levels_way){
            .collective = COHORT__SCATTER, .bytes = request->bytes, .is_for_each = true},
        (struct cohort__levels_way){
            .collective = COHORT__SCATTER, .bytes = request->bytes, .is_for_each = true},
        ret_stages);
    ret_stages->memory = cohort__cost_tmp(1, request->num_sites * request->bytes);
}

const struct cohort__algorithm cohort__scatter_levels = {
    .collective = COHORT__SCATTER,
    .name = "levels",
    .needs = cohort__levels_needs,
    .accepts = cohort__levels_accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__SCATTER,
};
