/* SPDX-License-Identifier: Apache-2.0 */
/* Shares that are blocks: each member of the last tier leads with the blocks of the sites below it.
 * At the top those who have the same rank in their subgroups carry them from one of the largest
 * subgroups to another. Within a subgroup there is a part for each of these, a *piece*: so blocks
 * need not be sorted, and pieces go on while the top still carries others. */
#include <stdlib.h>

#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/shares.h"
#include "collectives/plan/writers.h"

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
