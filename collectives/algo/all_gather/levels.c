/* SPDX-License-Identifier: Apache-2.0 */
/* All-gather that follows the machine: a gather to the leader of each subgroup, level by level
 * (phase 1), an all_gather among the leaders of the largest subgroups (phase 2), and a broadcast
 * back (phase 3). See pattern/levels.h. Where blocks have different sizes, the sites of a locality
 * gather by messages, too. Much goes back in pieces, each as soon as it has come, unless the blocks
 * of a subgroup are in several places of OUT.
 * Cost: that of its parts; less where pieces go back while the leaders still exchange others. TMP:
 * none; if the sites of a subgroup are not next to each other, at a leader the blocks of its
 * subgroup, at the top all blocks. With blocks of different sizes: none at a site that wants them
 * in the machine's order, else all blocks.
 * Source: Graham et al., Cheetah (CCGrid 2011); Luo et al., HAN (CLUSTER 2020). */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/levels.h"

/* Blocks of different sizes, which are in other places of OUT at each site, go in the machine's
 * order. */
static void append_ragged(struct cohort__levels *levels, const size_t *before)
{
    const struct cohort__request *request = levels->request;
    const struct cohort__part *parts = request->out_parts;
    const uint32_t num_sites = request->num_sites;
    struct cohort__lengths lengths = {.before = before};
    struct cohort__area own = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0};
    struct cohort__area first = {COHORT__SPACE_OUT,
                                 parts[cohort__levels_site_at(levels, 0)].offset};
    bool is_there = cohort__levels_row(levels, &lengths, parts, 0) == num_sites;
    struct cohort__shelf shelf = {.area = first, .places.num = num_sites, .lengths = lengths};
    struct cohort__piece pieces[COHORT__LEVELS_PIECES];
    uint32_t num_pieces = cohort__levels_num_pieces(levels, before[num_sites]);
    if (!is_there)
        shelf = cohort__levels_shelf(levels, lengths, true);
    uint32_t end = cohort__levels_gather_up(levels, &own, &shelf);
    cohort__levels_blocks_top(levels, COHORT__ALL_GATHER, own, shelf.area, lengths, end);
    cohort__levels_cut(levels, &shelf, num_pieces, end, pieces);
    for (uint32_t i = 0; i < num_pieces; i++) {
        end = cohort__levels_broadcast_shelf(levels, &pieces[i].shelf, pieces[i].come);
        if (!is_there)
            cohort__levels_sort(levels, COHORT__LEVELS_DOWN, &pieces[i].shelf, out, parts, false,
                                end);
    }
    cohort__plan_set_gaps(levels->builder);
}

static void append_parts(struct cohort__levels *levels)
{
    size_t *before = cohort__levels_before(levels, levels->request->out_parts);
    if (before)
        append_ragged(levels, before);
    free(before);
}

/* Blocks of one size. Where those of a subgroup are not next to each other in OUT, all of OUT is
 * one piece, when the members of the top have sorted it. */
static void append(struct cohort__levels *levels)
{
    const struct cohort__request *request = levels->request;
    const size_t all_bytes = request->num_sites * request->bytes;
    bool is_top = cohort__levels_is_at_top(levels);
    struct cohort__area own = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0};
    struct cohort__lengths lengths = {.bytes = request->bytes};
    const struct cohort__shelf all = {
        .area = out, .places.num = request->num_sites, .lengths = lengths};
    struct cohort__shelf shelf =
        levels->keeps_order ? all : cohort__levels_shelf(levels, lengths, is_top);
    struct cohort__piece pieces[COHORT__LEVELS_PIECES];
    uint32_t num_pieces = levels->keeps_order ? cohort__levels_num_pieces(levels, all_bytes) : 1;
    uint32_t up = cohort__levels_gather_up(levels, &own, &shelf);
    uint32_t top =
        cohort__levels_blocks_top(levels, COHORT__ALL_GATHER, own, shelf.area, lengths, up);
    if (is_top && !levels->keeps_order)
        cohort__levels_sort(levels, COHORT__LEVELS_TOP, &shelf, out, NULL, false, top);
    cohort__levels_cut(levels, &all, num_pieces, up, pieces);
    for (uint32_t i = 0; i < num_pieces; i++)
        cohort__levels_broadcast_shelf(levels, &pieces[i].shelf, pieces[i].come);
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__levels levels;
    cohort__levels_init(&levels, builder, request);
    if (request->out_parts)
        append_parts(&levels);
    else
        append(&levels);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    cohort__levels_stages(
        request,
        (struct cohort__levels_way){
            .collective = COHORT__GATHER, .bytes = request->bytes, .is_for_each = true},
        (struct cohort__levels_way){
            .collective = COHORT__ALL_GATHER, .bytes = request->bytes, .is_for_each = true},
        (struct cohort__levels_way){.collective = COHORT__BROADCAST,
                                    .bytes = request->num_sites * request->bytes},
        ret_stages);
    ret_stages->memory = cohort__cost_tmp(1, request->num_sites * request->bytes);
}

const struct cohort__algorithm cohort__all_gather_levels = {
    .collective = COHORT__ALL_GATHER,
    .name = "levels",
    .ragged = true,
    .needs = cohort__levels_needs,
    .accepts = cohort__levels_accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__ALL_GATHER,
};
