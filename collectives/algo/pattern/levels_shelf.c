/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of all sites, in the machine's order, on the way up, at the top and on the way down. */
#include "collectives/algo/pattern/levels.h"

#include <stdlib.h>

/* The sites of the subgroups that the members of TIER lead. */
static struct cohort__slice slice_of_all(const struct cohort__levels *levels, uint32_t tier)
{
    struct cohort__slice first = cohort__levels_slice(levels, tier, 0);
    struct cohort__slice last = cohort__levels_slice(levels, tier, levels->tiers[tier].num - 1);
    return (struct cohort__slice){.first = first.first, .num = last.first + last.num - first.first};
}

/* Whether some tier of this site below TIER has more than one member. If not, its part in TIER is
 * just its own block. */
static bool has_below(const struct cohort__levels *levels, uint32_t tier)
{
    bool has = false;
    for (uint32_t i = 0; i < tier; i++)
        has = has || levels->tiers[i].num > 1;
    return has;
}

/* The bytes of the blocks of SLICE. */
static size_t sum_of(const struct cohort__lengths *lengths, struct cohort__slice slice)
{
    const size_t *before = lengths->before;
    return before ? before[slice.first + slice.num] - before[slice.first]
                  : slice.num * lengths->bytes;
}

size_t *cohort__levels_before(struct cohort__levels *levels, const struct cohort__part *parts)
{
    uint32_t num_sites = levels->request->num_sites;
    size_t *before = calloc(num_sites + (size_t)1, sizeof(*before));
    if (!before)
        cohort__plan_builder_fail(levels->builder);
    for (uint32_t place = 0; before && place < num_sites; place++)
        before[place + 1] = before[place] + parts[cohort__levels_site_at(levels, place)].bytes;
    return before;
}

/* A new one for PLACES. */
static struct cohort__shelf make_shelf(struct cohort__levels *levels,
                                       struct cohort__lengths lengths, struct cohort__slice places)
{
    size_t bytes = sum_of(&lengths, places);
    return (struct cohort__shelf){.area = places.num > 1 ? cohort__levels_tmp(levels, bytes)
                                                         : (struct cohort__area){0},
                                  .places = places,
                                  .lengths = lengths};
}

struct cohort__shelf cohort__levels_shelf(struct cohort__levels *levels,
                                          struct cohort__lengths lengths, bool is_all)
{
    if (!is_all)
        return cohort__levels_shelf_below(levels, levels->num_used, lengths);
    return make_shelf(levels, lengths, (struct cohort__slice){0, levels->request->num_sites});
}

struct cohort__shelf cohort__levels_shelf_below(struct cohort__levels *levels, uint32_t top,
                                                struct cohort__lengths lengths)
{
    uint32_t height = levels->height < top ? levels->height : top;
    return make_shelf(levels, lengths,
                      height > 0 ? slice_of_all(levels, height - 1)
                                 : cohort__levels_slice(levels, 0, levels->tiers[0].this_rank));
}

struct cohort__area cohort__shelf_at(const struct cohort__shelf *shelf, uint32_t place)
{
    uint32_t first = shelf->places.first;
    struct cohort__slice before = {.first = first, .num = place - first};
    struct cohort__area area = shelf->area;
    area.offset += sum_of(&shelf->lengths, before);
    return area;
}

size_t cohort__shelf_bytes(const struct cohort__shelf *shelf)
{
    return sum_of(&shelf->lengths, shelf->places);
}

bool cohort__levels_parts(const struct cohort__levels *levels, uint32_t tier,
                          struct cohort__lengths lengths, struct cohort__part *ret_parts)
{
    size_t offset = 0;
    for (uint32_t rank = 0; rank < levels->tiers[tier].num; rank++) {
        size_t bytes = sum_of(&lengths, cohort__levels_slice(levels, tier, rank));
        ret_parts[rank] = (struct cohort__part){rank, offset, bytes};
        offset += bytes;
    }
    return lengths.before ||
           (tier > 0 && cohort__levels_is_uneven(levels->machine, levels->used[tier - 1]));
}

static size_t most_bytes(const struct cohort__part *parts, uint32_t num)
{
    size_t most = 0;
    for (uint32_t i = 0; i < num; i++)
        most = parts[i].bytes > most ? parts[i].bytes : most;
    return most;
}

/* Gathers or scatters, in TIER, the blocks on the leader's shelf. OWN: where this site has its
 * part. */
static uint32_t move_blocks(struct cohort__levels *levels, uint32_t tier,
                            enum cohort__collective collective, struct cohort__area own,
                            const struct cohort__shelf *shelf, uint32_t after)
{
    bool is_up = collective == COHORT__GATHER;
    bool leads = levels->tiers[tier].this_rank == levels->tiers[tier].leader;
    struct cohort__slice mine = cohort__levels_slice(levels, tier, levels->tiers[tier].this_rank);
    struct cohort__slice all = slice_of_all(levels, tier);
    struct cohort__area whole = leads ? cohort__shelf_at(shelf, all.first) : own;
    struct cohort__part *parts = calloc(levels->tiers[tier].num, sizeof(*parts));
    if (!parts) {
        cohort__plan_builder_fail(levels->builder);
        return COHORT__NO_STEP;
    }
    struct cohort__tier_part part = {
        .collective = collective,
        .phase = tier == levels->num_used ? COHORT__LEVELS_TOP
                 : is_up                  ? COHORT__LEVELS_UP
                                          : COHORT__LEVELS_DOWN,
        .piece = shelf->piece,
        .bytes = sum_of(&shelf->lengths, mine),
        .is_ragged = cohort__levels_parts(levels, tier, shelf->lengths, parts),
        .most_bytes =
            is_up ? most_bytes(parts, levels->tiers[tier].num) : sum_of(&shelf->lengths, all),
        .own_offset = parts[levels->tiers[tier].this_rank].offset,
        .in = is_up ? own : whole,
        .out = is_up ? whole : own,
        .in_parts = leads && !is_up ? parts : NULL,
        .out_parts = leads && is_up ? parts : NULL,
    };
    after = cohort__levels_append(levels, tier, &part, after);
    free(parts);
    return after;
}

struct cohort__area cohort__levels_part_at(const struct cohort__levels *levels, uint32_t tier,
                                           struct cohort__area own,
                                           const struct cohort__shelf *shelf)
{
    uint32_t rank = levels->tiers[tier].this_rank;
    return has_below(levels, tier)
               ? cohort__shelf_at(shelf, cohort__levels_slice(levels, tier, rank).first)
               : own;
}

uint32_t cohort__levels_gather_up(struct cohort__levels *levels, struct cohort__area *area,
                                  const struct cohort__shelf *shelf)
{
    return cohort__levels_gather_below(levels, levels->num_used, area, shelf);
}

uint32_t cohort__levels_gather_below(struct cohort__levels *levels, uint32_t top,
                                     struct cohort__area *area, const struct cohort__shelf *shelf)
{
    uint32_t end = COHORT__NO_STEP;
    for (uint32_t tier = 0; tier < top && tier < cohort__levels_below(levels); tier++)
        if (levels->tiers[tier].num > 1)
            end = move_blocks(levels, tier, COHORT__GATHER,
                              cohort__levels_part_at(levels, tier, *area, shelf), shelf, end);
    if (levels->height >= top)
        *area = cohort__levels_part_at(levels, top, *area, shelf);
    return end;
}

uint32_t cohort__levels_broadcast_shelf(struct cohort__levels *levels,
                                        const struct cohort__shelf *shelf, uint32_t after)
{
    return cohort__levels_broadcast_below(levels, levels->num_used, shelf->piece, shelf->area,
                                          cohort__shelf_bytes(shelf), after);
}

uint32_t cohort__levels_scatter_down(struct cohort__levels *levels, struct cohort__area own,
                                     const struct cohort__shelf *shelf, uint32_t after)
{
    return cohort__levels_scatter_below(levels, levels->num_used, own, shelf, after);
}

uint32_t cohort__levels_scatter_below(struct cohort__levels *levels, uint32_t top,
                                      struct cohort__area own, const struct cohort__shelf *shelf,
                                      uint32_t after)
{
    uint32_t below = cohort__levels_below(levels);
    for (uint32_t tier = below < top ? below : top; tier-- > 0;)
        if (levels->tiers[tier].num > 1)
            after = move_blocks(levels, tier, COHORT__SCATTER,
                                cohort__levels_part_at(levels, tier, own, shelf), shelf, after);
    return after;
}

static bool is_at_top(const struct cohort__levels *levels)
{
    return levels->height == levels->num_used;
}

uint32_t cohort__levels_gather_top(struct cohort__levels *levels, struct cohort__area own,
                                   const struct cohort__shelf *shelf, uint32_t after)
{
    return is_at_top(levels)
               ? move_blocks(levels, levels->num_used, COHORT__GATHER, own, shelf, after)
               : after;
}

uint32_t cohort__levels_scatter_top(struct cohort__levels *levels, struct cohort__area own,
                                    const struct cohort__shelf *shelf, uint32_t after)
{
    return is_at_top(levels)
               ? move_blocks(levels, levels->num_used, COHORT__SCATTER,
                             cohort__levels_part_at(levels, levels->num_used, own, shelf), shelf,
                             after)
               : after;
}

uint32_t cohort__levels_blocks_top(struct cohort__levels *levels,
                                   enum cohort__collective collective, struct cohort__area in,
                                   struct cohort__area out, struct cohort__lengths lengths,
                                   uint32_t after)
{
    const struct cohort__tier *top = &levels->tiers[levels->num_used];
    if (!is_at_top(levels))
        return after;
    struct cohort__part *parts = calloc(top->num, sizeof(*parts));
    if (!parts) {
        cohort__plan_builder_fail(levels->builder);
        return COHORT__NO_STEP;
    }
    bool is_ragged = cohort__levels_parts(levels, levels->num_used, lengths, parts);
    struct cohort__tier_part part = {
        .collective = collective,
        .phase = COHORT__LEVELS_TOP,
        .bytes = parts[top->this_rank].bytes,
        .is_ragged = is_ragged,
        .in = in,
        .out = out,
        .in_parts = collective == COHORT__REDUCE_SCATTER ? parts : NULL,
        .out_parts = collective == COHORT__ALL_GATHER ? parts : NULL,
    };
    after = cohort__levels_append(levels, levels->num_used, &part, after);
    free(parts);
    return after;
}

uint32_t cohort__levels_run(const struct cohort__levels *levels, uint32_t place, uint32_t end)
{
    uint32_t num = 1;
    while (place + num < end && cohort__levels_site_at(levels, place + num) ==
                                    cohort__levels_site_at(levels, place) + num)
        num++;
    return num;
}

/* Where the block at PLACE is among those of PARTS, or of the sites in their order. */
static size_t offset_of(const struct cohort__levels *levels, const struct cohort__lengths *lengths,
                        const struct cohort__part *parts, uint32_t place)
{
    uint32_t site = cohort__levels_site_at(levels, place);
    return parts ? parts[site].offset : site * lengths->bytes;
}

uint32_t cohort__levels_row(const struct cohort__levels *levels,
                            const struct cohort__lengths *lengths, const struct cohort__part *parts,
                            uint32_t place)
{
    struct cohort__slice row = {.first = place, .num = 1};
    size_t first = offset_of(levels, lengths, parts, place);
    while (place + row.num < levels->request->num_sites &&
           offset_of(levels, lengths, parts, place + row.num) == first + sum_of(lengths, row))
        row.num++;
    return row.num;
}

uint32_t cohort__levels_sort(struct cohort__levels *levels, unsigned phase,
                             const struct cohort__shelf *shelf, struct cohort__area sites,
                             const struct cohort__part *parts, bool is_to_shelf, uint32_t after)
{
    uint32_t end = cohort__plan_join(levels->builder, phase);
    struct cohort__slice row = {.first = shelf->places.first};
    uint32_t last = row.first + shelf->places.num;
    cohort__plan_after(levels->builder, end, after);
    for (; row.first < last; row.first += row.num) {
        row.num = cohort__levels_row(levels, &shelf->lengths, parts, row.first);
        row.num = row.num < last - row.first ? row.num : last - row.first;
        struct cohort__area machine = cohort__shelf_at(shelf, row.first), site = sites;
        site.offset += offset_of(levels, &shelf->lengths, parts, row.first);
        uint32_t copy =
            cohort__levels_copy(levels, phase, is_to_shelf ? machine : site,
                                is_to_shelf ? site : machine, sum_of(&shelf->lengths, row), after);
        cohort__plan_after(levels->builder, end, copy);
    }
    return end;
}
