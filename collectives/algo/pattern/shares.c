/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/shares.h"

#include <stdlib.h>

#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/vector.h"
#include "collectives/plan/plan.h"

/* More would only be smaller messages. */
enum { MOST_SHARES = 16 };

const char cohort__shares_needs[] =
    "subgroups of several localities; for ordered reductions, of consecutive sites";

static uint32_t num_shares(const struct cohort__request *request)
{
    uint32_t fewest = cohort__levels_fewest_members(request);
    return fewest < MOST_SHARES ? fewest : MOST_SHARES;
}

bool cohort__shares_accepts(const struct cohort__request *request)
{
    return cohort__levels_accepts(request) &&
           cohort__levels_level(request) != COHORT__LEVEL_LOCALITY && num_shares(request) > 1;
}

/* Stages ------------------------------------------------------------------------------------ */

static bool moves_shares(enum cohort__collective collective)
{
    return collective != COHORT__BROADCAST;
}

/* What the last tier does: with a block, or with a share of it for each member. A member that
 * reduces leaves the whole block as a note. */
static void set_last(const struct cohort__request *request, enum cohort__collective collective,
                     size_t share_bytes, bool is_segment, struct cohort__stage *stage)
{
    bool is_whole = collective == COHORT__BROADCAST || collective == COHORT__REDUCE_SCATTER;
    stage->collective = collective;
    stage->bytes = moves_shares(collective) ? share_bytes : request->bytes;
    stage->is_noted =
        !is_segment && cohort__levels_notes_fit(request, cohort__levels_level(request), collective,
                                                is_whole ? request->bytes : share_bytes);
    stage->is_ragged = moves_shares(collective) && !stage->is_noted;
}

void cohort__shares_stages(const struct cohort__request *call,
                           const struct cohort__shares_ways *ways,
                           struct cohort__stages *ret_stages)
{
    const struct cohort__request segment = cohort__levels_longest_segment(call),
                                 *request = &segment;
    const uint32_t num_segments = cohort__levels_num_segments(call);
    const uint32_t num = num_shares(request), last = cohort__levels_num_used(request) - 1;
    const size_t bytes = cohort__cut_bytes(request->bytes, request->element, num, 0, 1);
    const struct cohort__levels_way whole = {.collective = COHORT__BROADCAST,
                                             .bytes = request->bytes};
    struct cohort__stages all;
    cohort__levels_stages(request, whole,
                          (struct cohort__levels_way){.collective = ways->top, .bytes = bytes},
                          whole, &all);
    *ret_stages = (struct cohort__stages){.num_segments = num_segments};
    for (uint32_t i = 0; i < all.num; i++) {
        struct cohort__stage *stage = &all.stages[i];
        enum cohort__collective collective = i < last        ? ways->below_up
                                             : i == last     ? ways->up
                                             : i == last + 1 ? ways->top
                                             : i == last + 2 ? ways->down
                                                             : ways->below_down;
        if (collective == COHORT__NUM_COLLECTIVES)
            continue;
        if (i == last || i == last + 2)
            set_last(request, collective, bytes, num_segments > 1, stage);
        else if (stage->is_top)
            stage->at_once = stage->num_all = num;
        else
            stage->collective = collective;
        ret_stages->stages[ret_stages->num++] = *stage;
    }
    /* Two shares instead of a block have one more end that is aligned. */
    ret_stages->memory =
        num_segments * (cohort__cost_tmp(1, 1) +
                        cohort__cost_tmp(cohort__levels_num_used(request), request->bytes));
}

/* Shares ------------------------------------------------------------------------------------ */

/* The rank of the member of NUM that leads SHARE. And the share of member RANK; if it has none, the
 * next one. */
static uint32_t leader_of(const struct cohort__shares *shares, uint32_t share, uint32_t num)
{
    return (uint32_t)((uint64_t)share * num / shares->num);
}

static uint32_t share_of(const struct cohort__shares *shares, uint32_t rank, uint32_t num)
{
    return (uint32_t)(((uint64_t)rank * shares->num + num - 1) / num);
}

/* The byte where SHARE begins. */
static size_t begin_of(const struct cohort__shares *shares, uint32_t share)
{
    const struct cohort__request *request = shares->levels->request;
    return cohort__cut(request->bytes, request->element, shares->num, share);
}

bool cohort__shares_init(struct cohort__shares *shares, struct cohort__levels *levels)
{
    const uint32_t tier = levels->num_used - 1, num = levels->tiers[tier].num;
    *shares = (struct cohort__shares){.levels = levels,
                                      .tier = tier,
                                      .level = levels->used[tier],
                                      .num = num_shares(levels->request),
                                      .parts = calloc(num, sizeof(*shares->parts))};
    if (!shares->parts)
        cohort__plan_builder_fail(levels->builder);
    for (uint32_t rank = 0; shares->parts && rank < num; rank++) {
        size_t begin = begin_of(shares, share_of(shares, rank, num));
        size_t end = begin_of(shares, share_of(shares, rank + 1, num));
        shares->parts[rank] = (struct cohort__part){rank, begin, end - begin};
    }
    return shares->parts != NULL;
}

void cohort__shares_fini(struct cohort__shares *shares)
{
    free(shares->parts);
}

const struct cohort__part *cohort__shares_own(const struct cohort__shares *shares)
{
    return &shares->parts[shares->levels->tiers[shares->tier].this_rank];
}

static uint32_t subgroup_of(const struct cohort__shares *shares, uint32_t site)
{
    return cohort__machine_subgroup(shares->levels->machine, shares->level, site);
}

bool cohort__shares_is_with_root(const struct cohort__shares *shares)
{
    const struct cohort__request *request = shares->levels->request;
    return subgroup_of(shares, request->root) == subgroup_of(shares, request->this_site);
}

/* Appends PART for those who lead SHARE. */
static uint32_t append_top(const struct cohort__shares *shares, uint32_t share,
                           const struct cohort__tier_part *part, uint32_t *sites, uint32_t after)
{
    struct cohort__levels *levels = shares->levels;
    const struct cohort__request *request = levels->request;
    const uint32_t num = cohort__machine_num_subgroups(levels->machine, shares->level);
    for (uint32_t i = 0; i < num; i++) {
        struct cohort__slice children = cohort__levels_children(levels, i);
        uint32_t rank = leader_of(shares, share, children.num);
        sites[i] = cohort__levels_leader(levels, shares->tier, children.first + rank);
    }
    const bool is_rooted = cohort__collective_is_rooted(part->collective);
    struct cohort__party party = {
        .num = num,
        .this_rank = subgroup_of(shares, request->this_site),
        .leader = is_rooted ? subgroup_of(shares, request->root) : 0,
        .sites = sites,
        .row = request->inner > 0 ? cohort__algorithms[request->inner - 1]
                                  : cohort__algorithm_find(part->collective, "linear"),
    };
    return cohort__levels_append_party(levels, &party, part, after);
}

uint32_t cohort__shares_top(const struct cohort__shares *shares, enum cohort__collective collective,
                            struct cohort__area in, struct cohort__area out, uint32_t after)
{
    struct cohort__levels *levels = shares->levels;
    const struct cohort__tier *tier = &levels->tiers[shares->tier];
    const uint32_t share = share_of(shares, tier->this_rank, tier->num);
    if (share == share_of(shares, tier->this_rank + 1, tier->num))
        return after; /* it leads none */
    uint32_t *sites =
        calloc(cohort__machine_num_subgroups(levels->machine, shares->level), sizeof(*sites));
    if (!sites) {
        cohort__plan_builder_fail(levels->builder);
        return after;
    }
    after = append_top(shares, share,
                       &(struct cohort__tier_part){.collective = collective,
                                                   .phase = COHORT__LEVELS_TOP,
                                                   .bytes = cohort__shares_own(shares)->bytes,
                                                   .in = in,
                                                   .out = out},
                       sites, after);
    free(sites);
    return after;
}

uint32_t cohort__shares_reduce_scatter(const struct cohort__shares *shares, struct cohort__area in,
                                       struct cohort__area *ret_own, uint32_t after)
{
    const size_t bytes = cohort__shares_own(shares)->bytes;
    *ret_own = shares->levels->tiers[shares->tier].num > 1
                   ? cohort__levels_tmp(shares->levels, bytes)
                   : in;
    return cohort__levels_append(
        shares->levels, shares->tier,
        &(struct cohort__tier_part){.collective = COHORT__REDUCE_SCATTER,
                                    .phase = COHORT__LEVELS_UP,
                                    .bytes = bytes,
                                    .is_ragged = true,
                                    .most_bytes = shares->levels->request->bytes,
                                    .in = in,
                                    .out = *ret_own,
                                    .in_parts = shares->parts},
        after);
}

uint32_t cohort__shares_all_gather(const struct cohort__shares *shares, struct cohort__area out,
                                   uint32_t after)
{
    const struct cohort__part *own = cohort__shares_own(shares);
    return cohort__levels_append(
        shares->levels, shares->tier,
        &(struct cohort__tier_part){.collective = COHORT__ALL_GATHER,
                                    .phase = COHORT__LEVELS_DOWN,
                                    .bytes = own->bytes,
                                    .is_ragged = true,
                                    .in = {out.space, out.offset + own->offset},
                                    .out = out,
                                    .out_parts = shares->parts},
        after);
}

uint32_t cohort__shares_gather(const struct cohort__shares *shares, struct cohort__area own,
                               struct cohort__area out, uint32_t after)
{
    const struct cohort__tier *tier = &shares->levels->tiers[shares->tier];
    const bool leads = tier->this_rank == tier->leader;
    size_t most_bytes = 0;
    for (uint32_t rank = 0; rank < tier->num; rank++)
        if (shares->parts[rank].bytes > most_bytes)
            most_bytes = shares->parts[rank].bytes;
    return cohort__levels_append(
        shares->levels, shares->tier,
        &(struct cohort__tier_part){.collective = COHORT__GATHER,
                                    .phase = COHORT__LEVELS_DOWN,
                                    .bytes = cohort__shares_own(shares)->bytes,
                                    .is_ragged = true,
                                    .most_bytes = most_bytes,
                                    .own_offset = cohort__shares_own(shares)->offset,
                                    .in = own,
                                    .out = leads ? out : own,
                                    .out_parts = leads ? shares->parts : NULL},
        after);
}

/* Shares that are blocks: each member of the last tier leads with the blocks of the sites below it.
 * At the top those who have the same rank in their subgroups carry them from one of the largest
 * subgroups to another. Within a subgroup there is a part for each of these, a *piece*: so blocks
 * need not be sorted, and pieces go on while the top still carries others. */

const char cohort__shares_blocks_needs[] =
    "up to 1,000 subgroups of several localities, all alike and of consecutive sites";

static uint32_t num_subgroups(const struct cohort__request *request)
{
    return cohort__machine_num_subgroups(request->machine, cohort__levels_level(request));
}

/* The sites whose blocks are a share. */
static uint32_t num_below(const struct cohort__request *request)
{
    return cohort__levels_largest(request) / cohort__levels_fewest_members(request);
}

bool cohort__shares_blocks_accepts(const struct cohort__request *request)
{
    return cohort__shares_accepts(request) && cohort__levels_is_regular(request) &&
           num_subgroups(request) <= COHORT__LEVELS_MOST_PIECES;
}

size_t cohort__shares_blocks_bytes(const struct cohort__request *request)
{
    return num_below(request) * request->bytes;
}

size_t cohort__shares_blocks_top_bytes(const struct cohort__request *request)
{
    return num_subgroups(request) * cohort__shares_blocks_bytes(request);
}

void cohort__shares_blocks_stages(const struct cohort__request *request,
                                  struct cohort__levels_way below_up,
                                  struct cohort__levels_way below_down,
                                  struct cohort__stages *ret_stages)
{
    const bool gathers = request->collective == COHORT__ALL_GATHER;
    const uint32_t last = cohort__levels_num_used(request) - 1;
    struct cohort__stages all;
    cohort__levels_stages(request, below_up,
                          (struct cohort__levels_way){.collective = request->collective},
                          below_down, &all);
    *ret_stages = (struct cohort__stages){.num = 0};
    for (uint32_t i = 0; i < all.num; i++) {
        struct cohort__stage *stage = &all.stages[i];
        if (i == (gathers ? last : last + 2))
            continue; /* a member brings its own share, or gets it, at the top */
        if (stage->is_top) {
            stage->bytes = cohort__shares_blocks_bytes(request);
            stage->at_once = stage->num_all = cohort__levels_fewest_members(request);
        } else if (i == last || i == last + 2) {
            stage->collective = request->collective;
            stage->bytes = cohort__shares_blocks_top_bytes(request);
            stage->is_ragged = true;
            stage->is_noted = false;
        }
        ret_stages->stages[ret_stages->num++] = *stage;
    }
}

bool cohort__shares_init_blocks(struct cohort__shares *shares, struct cohort__levels *levels)
{
    const uint32_t tier = levels->num_used - 1, num = levels->tiers[tier].num;
    const size_t bytes = cohort__shares_blocks_bytes(levels->request);
    *shares = (struct cohort__shares){.levels = levels,
                                      .tier = tier,
                                      .level = levels->used[tier],
                                      .num = num,
                                      .parts = calloc(num, sizeof(*shares->parts))};
    if (!shares->parts)
        cohort__plan_builder_fail(levels->builder);
    for (uint32_t rank = 0; shares->parts && rank < num; rank++)
        shares->parts[rank] = (struct cohort__part){rank, rank * bytes, bytes};
    return shares->parts != NULL;
}

/* Where the blocks of SUBGROUP are among those of all sites at ALL. */
static struct cohort__area subgroup_at(const struct cohort__shares *shares, struct cohort__area all,
                                       uint32_t subgroup)
{
    const struct cohort__request *request = shares->levels->request;
    all.offset += subgroup * cohort__levels_largest(request) * request->bytes;
    return all;
}

/* Where the share of SUBGROUP is among those of all at AT. */
static struct cohort__area share_at(const struct cohort__shares *shares, struct cohort__area at,
                                    uint32_t subgroup)
{
    at.offset += subgroup * cohort__shares_own(shares)->bytes;
    return at;
}

/* Steps that are done when what has to come to each share at AT has come. NULL: no memory, and the
 * builder knows. The caller frees them. */
static struct cohort__written *find_writers(const struct cohort__shares *shares,
                                            struct cohort__area at, uint32_t num)
{
    struct cohort__levels *levels = shares->levels;
    struct cohort__written *come = calloc(num, sizeof(*come));
    for (uint32_t i = 0; come && i < num; i++)
        come[i] = (struct cohort__written){
            .offset = share_at(shares, at, i).offset,
            .bytes = cohort__shares_own(shares)->bytes,
            .step = cohort__plan_join(levels->builder, COHORT__LEVELS_TOP),
        };
    if (come)
        cohort__plan_after_writers(levels->builder, at.space, come, num); /* they stay in order */
    else
        cohort__plan_builder_fail(levels->builder);
    return come;
}

void cohort__shares_gather_blocks(const struct cohort__shares *shares, struct cohort__area own,
                                  struct cohort__area at, struct cohort__area out, uint32_t after,
                                  uint32_t *ret_ends)
{
    const struct cohort__request *request = shares->levels->request;
    const uint32_t num = num_subgroups(request);
    const uint32_t here =
        cohort__machine_subgroup(request->machine, shares->level, request->this_site);
    struct cohort__written *come = find_writers(shares, at, num);
    for (uint32_t i = 0; come && i < num; i++)
        ret_ends[i] = cohort__levels_append(
            shares->levels, shares->tier,
            &(struct cohort__tier_part){.collective = COHORT__ALL_GATHER,
                                        .phase = COHORT__LEVELS_DOWN,
                                        .piece = i + 1,
                                        .bytes = cohort__shares_own(shares)->bytes,
                                        .is_ragged = true,
                                        .in = i == here ? own : share_at(shares, at, i),
                                        .out = subgroup_at(shares, out, i),
                                        .out_parts = shares->parts},
            i == here ? after : come[i].step);
    free(come);
}

uint32_t cohort__shares_scatter_blocks(const struct cohort__shares *shares, struct cohort__area in,
                                       struct cohort__area at, uint32_t after)
{
    const uint32_t num = num_subgroups(shares->levels->request);
    uint32_t end = cohort__plan_join(shares->levels->builder, COHORT__LEVELS_UP);
    cohort__plan_after(shares->levels->builder, end, after);
    for (uint32_t i = 0; i < num; i++) {
        uint32_t part = cohort__levels_append(
            shares->levels, shares->tier,
            &(struct cohort__tier_part){.collective = COHORT__REDUCE_SCATTER,
                                        .phase = COHORT__LEVELS_UP,
                                        .piece = i + 1,
                                        .bytes = cohort__shares_own(shares)->bytes,
                                        .is_ragged = true,
                                        .in = subgroup_at(shares, in, i),
                                        .out = share_at(shares, at, i),
                                        .in_parts = shares->parts},
            after);
        cohort__plan_after(shares->levels->builder, end, part);
    }
    return end;
}
