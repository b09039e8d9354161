/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce that follows the machine, with many leaders: as all_reduce/levels.c, but in each of
 * the largest subgroups several members of the last tier lead. The block is cut into shares. The
 * members of a tier reduce_scatter it to those who lead (phase 1), all who lead the same share
 * all_reduce that one (phase 2), and then the members all_gather the shares (phase 3). So the
 * localities of a host work and send at the same time. There are as many shares as the smallest
 * tier has members, so nobody leads two. Cost: that of its parts. TMP: a share, a block for each
 * level below, and that of the parts. Source: Bayatpour et al., Scalable Reduction Collectives with
 * Data Partitioning-based Multi-Leader Design (SC 2017). */
#include <stdlib.h>

#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/cut.h"
#include "collectives/algo/pattern/levels.h"
#include "collectives/algo/table.h"

/* More would only be smaller messages. */
enum { MOST_SHARES = 16 };

static uint32_t num_shares(const struct cohort__request *request)
{
    uint32_t fewest = cohort__levels_fewest_members(request);
    return fewest < MOST_SHARES ? fewest : MOST_SHARES;
}

struct shares {
    struct cohort__levels *levels;
    uint32_t tier;  /* whose members lead */
    uint32_t level; /* of the subgroups in each of which they are */
    uint32_t num;
};

/* The rank of the member of NUM that leads SHARE. And the share of member RANK; if it has none, the
 * next one. */
static uint32_t leader_of(const struct shares *shares, uint32_t share, uint32_t num)
{
    return (uint32_t)((uint64_t)share * num / shares->num);
}

static uint32_t share_of(const struct shares *shares, uint32_t rank, uint32_t num)
{
    return (uint32_t)(((uint64_t)rank * shares->num + num - 1) / num);
}

/* The byte where SHARE begins. */
static size_t begin_of(const struct shares *shares, uint32_t share)
{
    const struct cohort__request *request = shares->levels->request;
    return cohort__cut(request->bytes, request->element, shares->num, share);
}

/* The share of each member of this site's subgroup; of some, nothing. */
static void set_parts(const struct shares *shares, struct cohort__part *parts)
{
    uint32_t num = shares->levels->tiers[shares->tier].num;
    for (uint32_t rank = 0; rank < num; rank++) {
        size_t begin = begin_of(shares, share_of(shares, rank, num));
        size_t end = begin_of(shares, share_of(shares, rank + 1, num));
        parts[rank] = (struct cohort__part){rank, begin, end - begin};
    }
}

/* Reduces what the members of this site's subgroup have at IN. Sets *RET_OWN to where this site's
 * share is. */
static uint32_t reduce_scatter(struct shares *shares, struct cohort__area in,
                               const struct cohort__part *parts, struct cohort__area *ret_own,
                               uint32_t after)
{
    const struct cohort__tier *tier = &shares->levels->tiers[shares->tier];
    size_t bytes = parts[tier->this_rank].bytes;
    *ret_own = tier->num > 1 ? cohort__levels_tmp(shares->levels, bytes) : in;
    return cohort__levels_append(
        shares->levels, shares->tier,
        &(struct cohort__tier_part){.collective = COHORT__REDUCE_SCATTER,
                                    .phase = COHORT__LEVELS_UP,
                                    .bytes = bytes,
                                    .is_ragged = true,
                                    .most_bytes = shares->levels->request->bytes,
                                    .in = in,
                                    .out = *ret_own,
                                    .in_parts = parts},
        after);
}

static uint32_t all_gather(struct shares *shares, const struct cohort__part *parts, uint32_t after)
{
    const struct cohort__part *own = &parts[shares->levels->tiers[shares->tier].this_rank];
    return cohort__levels_append(shares->levels, shares->tier,
                                 &(struct cohort__tier_part){.collective = COHORT__ALL_GATHER,
                                                             .phase = COHORT__LEVELS_DOWN,
                                                             .bytes = own->bytes,
                                                             .is_ragged = true,
                                                             .in = {COHORT__SPACE_OUT, own->offset},
                                                             .out = {COHORT__SPACE_OUT, 0},
                                                             .out_parts = parts},
                                 after);
}

/* With those who lead SHARE in the other subgroups. SITES has room for them. */
static uint32_t all_reduce(struct shares *shares, uint32_t share, struct cohort__area in,
                           uint32_t *sites, uint32_t after)
{
    struct cohort__levels *levels = shares->levels;
    const struct cohort__request *request = levels->request;
    uint32_t num = cohort__machine_num_subgroups(levels->machine, shares->level);
    size_t begin = begin_of(shares, share), bytes = begin_of(shares, share + 1) - begin;
    for (uint32_t i = 0; i < num; i++) {
        struct cohort__slice children = cohort__levels_children(levels, i);
        uint32_t rank = leader_of(shares, share, children.num);
        sites[i] = cohort__levels_leader(levels, shares->tier, children.first + rank);
    }
    struct cohort__party party = {
        .num = num,
        .this_rank = cohort__machine_subgroup(levels->machine, shares->level, request->this_site),
        .sites = sites,
        .row = request->inner > 0 ? cohort__algorithms[request->inner - 1]
                                  : cohort__algorithm_find(COHORT__ALL_REDUCE, "linear"),
    };
    return cohort__levels_append_party(
        levels, &party,
        &(struct cohort__tier_part){.collective = COHORT__ALL_REDUCE,
                                    .phase = COHORT__LEVELS_TOP,
                                    .bytes = bytes,
                                    .in = in,
                                    .out = {COHORT__SPACE_OUT, begin}},
        after);
}

/* By the members of the last tier, with their subgroups' partial results at IN. */
static uint32_t append_leaders(struct shares *shares, struct cohort__area in, uint32_t after)
{
    struct cohort__levels *levels = shares->levels;
    const struct cohort__tier *tier = &levels->tiers[shares->tier];
    uint32_t share = share_of(shares, tier->this_rank, tier->num);
    struct cohort__area own;
    struct cohort__part *parts = calloc(tier->num, sizeof(*parts));
    uint32_t *sites =
        calloc(cohort__machine_num_subgroups(levels->machine, shares->level), sizeof(*sites));
    if (parts && sites) {
        set_parts(shares, parts);
        after = reduce_scatter(shares, in, parts, &own, after);
        if (share < share_of(shares, tier->this_rank + 1, tier->num))
            after = all_reduce(shares, share, own, sites, after);
        after = all_gather(shares, parts, after);
    } else {
        cohort__plan_builder_fail(levels->builder);
    }
    free(sites);
    free(parts);
    return after;
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__levels levels;
    cohort_status status = cohort__levels_init(&levels, request, "all_reduce_shares");
    if (status)
        return status;
    uint32_t tier = levels.num_used - 1;
    struct shares shares = {
        .levels = &levels, .tier = tier, .level = levels.used[tier], .num = num_shares(request)};
    struct cohort__area in = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0};
    uint32_t end = cohort__levels_reduce_below(&levels, tier, &in, request->bytes, COHORT__NO_STEP);
    if (levels.height >= tier)
        end = append_leaders(&shares, in, end);
    cohort__levels_broadcast_below(&levels, tier, 0, out, request->bytes, end);
    return cohort__plan_finish(levels.builder, ret_plan);
}

/* Whether the members of the last tier do a part by leaving notes of BYTES. */
static bool fits_notes(const struct cohort__request *request, enum cohort__collective collective,
                       size_t bytes)
{
    return cohort__levels_notes_fit(request, cohort__levels_level(request), collective, bytes);
}

/* In the stages of levels, what the last tier does and the top does once for each share. */
static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    uint32_t num = num_shares(request);
    size_t bytes = cohort__cut_bytes(request->bytes, request->element, num, 0, 1);
    cohort__levels_stages(
        request, (struct cohort__levels_way){.collective = COHORT__REDUCE, .bytes = request->bytes},
        (struct cohort__levels_way){.collective = COHORT__ALL_REDUCE, .bytes = bytes},
        (struct cohort__levels_way){.collective = COHORT__BROADCAST, .bytes = request->bytes},
        ret_stages);
    struct cohort__stage *up = &ret_stages->stages[cohort__levels_num_used(request) - 1],
                         *top = up + 1, *down = top + 1;
    up->collective = COHORT__REDUCE_SCATTER;
    down->collective = COHORT__ALL_GATHER;
    up->bytes = down->bytes = bytes;
    up->is_noted = fits_notes(request, COHORT__REDUCE_SCATTER, request->bytes);
    down->is_noted = fits_notes(request, COHORT__ALL_GATHER, bytes);
    up->is_ragged = !up->is_noted;
    down->is_ragged = !down->is_noted;
    top->at_once = top->num_all = num;
    ret_stages->memory = cohort__cost_tmp(cohort__levels_num_used(request), request->bytes);
}

static bool accepts(const struct cohort__request *request)
{
    return cohort__levels_accepts(request) &&
           cohort__levels_level(request) != COHORT__LEVEL_LOCALITY && num_shares(request) > 1;
}

const struct cohort__algorithm cohort__all_reduce_shares = {
    .collective = COHORT__ALL_REDUCE,
    .name = "shares",
    .needs = "subgroups of several localities; for ordered reductions, of consecutive sites",
    .accepts = accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__ALL_REDUCE,
};
