/* SPDX-License-Identifier: Apache-2.0 */
/* Barrier that follows the machine: the leader of each subgroup is told that all its sites are
 * there, level by level (phase 1), then there is a barrier among the leaders of the largest
 * subgroups (phase 2), and then all are told (phase 3). See pattern/levels.h.
 * Cost: that of its parts. TMP: none.
 * Source: Graham et al., Cheetah (CCGrid 2011); Luo et al., HAN (CLUSTER 2020). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/levels.h"

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__levels levels;
    cohort__levels_init(&levels, builder, request);
    struct cohort__area nothing = {COHORT__SPACE_OUT, 0};
    struct cohort__shelf shelf = {.area = nothing};
    struct cohort__area own = nothing;
    uint32_t end = cohort__levels_gather_up(&levels, &own, &shelf);
    end = cohort__levels_at_top(&levels, COHORT__BARRIER, nothing, nothing, 0, end);
    cohort__levels_broadcast_down(&levels, nothing, 0, end);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    cohort__levels_stages(
        request, (struct cohort__levels_way){.collective = COHORT__GATHER, .bytes = 0},
        (struct cohort__levels_way){.collective = COHORT__BARRIER, .bytes = 0},
        (struct cohort__levels_way){.collective = COHORT__BROADCAST, .bytes = 0}, ret_stages);
}

const struct cohort__algorithm cohort__barrier_levels = {
    .collective = COHORT__BARRIER,
    .name = "levels",
    .needs = cohort__levels_needs,
    .accepts = cohort__levels_accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__BARRIER,
};
