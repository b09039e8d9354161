/* SPDX-License-Identifier: Apache-2.0 */
/* Scan that follows the machine: the leader of each subgroup, its lowest site, gets the sums of
 * those below it, level by level, and adds them up (phase 1). The leaders of the largest subgroups
 * find what is before theirs, by an exclusive_scan (phase 2). Then each leader tells those below it
 * what is before them (phase 3). See pattern/levels.h.
 * Cost: that of its parts, and two reductions for each sum. TMP: at a leader a block for each of
 * those below it, and one more, for each level; and that of the parts.
 * Source: Blelloch, Prefix sums and their applications (1990), for up and down. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/levels.h"

struct scan {
    struct cohort__levels levels;
    size_t bytes;
    /* Of the tiers that this site leads: slot 0 is for what is before the tier. Slot r has the sum
     * of ranks 0 to r - 1, and on the way down that of all sites before rank r. */
    struct cohort__area slots[COHORT__LEVELS_MAX];
    bool has_before; /* there are sites before those that this one leads */
};

static struct cohort__area slot(const struct scan *self, uint32_t tier, uint32_t index)
{
    struct cohort__area area = self->slots[tier];
    area.offset += index * self->bytes;
    return area;
}

static uint32_t reduce(struct scan *self, unsigned phase, struct cohort__area to,
                       struct cohort__area left, struct cohort__area right, uint32_t after)
{
    struct cohort__plan_builder *builder = self->levels.builder;
    uint32_t blocks[] = {cohort__plan_range(builder, to.space, to.offset, self->bytes),
                         cohort__plan_range(builder, left.space, left.offset, self->bytes),
                         cohort__plan_range(builder, right.space, right.offset, self->bytes)};
    uint32_t step = cohort__plan_reduce(builder, phase, blocks[0], blocks[1], blocks[2]);
    cohort__plan_after(builder, step, after);
    return step;
}

static bool leads(const struct scan *self, uint32_t tier)
{
    return self->levels.height > tier;
}

/* Sets *SUM to where the sum of the largest subgroup is that this site leads. */
static uint32_t go_up(struct scan *self, struct cohort__area *sum)
{
    struct cohort__levels *levels = &self->levels;
    uint32_t end = COHORT__NO_STEP;
    for (uint32_t tier = 0; tier < cohort__levels_below(levels); tier++) {
        uint32_t num = levels->tiers[tier].num;
        if (num == 1)
            continue;
        if (leads(self, tier))
            self->slots[tier] = cohort__levels_tmp(levels, (num + 1) * self->bytes);
        end = cohort__levels_append(levels, tier,
                                    &(struct cohort__tier_part){.collective = COHORT__GATHER,
                                                                .phase = COHORT__LEVELS_UP,
                                                                .bytes = self->bytes,
                                                                .in = *sum,
                                                                .out = slot(self, tier, 1)},
                                    end);
        for (uint32_t i = 2; leads(self, tier) && i <= num; i++)
            end = reduce(self, COHORT__LEVELS_UP, slot(self, tier, i), slot(self, tier, i - 1),
                         slot(self, tier, i), end);
        if (leads(self, tier))
            *sum = slot(self, tier, num);
    }
    return end;
}

/* Where what is before this site's subgroup in TIER goes: to the tier below that it leads, or to
 * OUT. */
static struct cohort__area before_at(const struct scan *self, uint32_t tier)
{
    while (tier-- > 0)
        if (self->levels.tiers[tier].num > 1)
            return slot(self, tier, 0);
    return (struct cohort__area){COHORT__SPACE_OUT, 0};
}

/* There is nothing before this site, but it scatters that slot with the others, to itself. */
static uint32_t clear(struct scan *self, struct cohort__area area, uint32_t after)
{
    struct cohort__plan_builder *builder = self->levels.builder;
    uint32_t block = cohort__plan_range(builder, area.space, area.offset, self->bytes);
    uint32_t step = cohort__plan_zero(builder, COHORT__LEVELS_DOWN, block);
    cohort__plan_after(builder, step, after);
    return step;
}

static uint32_t tell_tier(struct scan *self, uint32_t tier, uint32_t end)
{
    struct cohort__levels *levels = &self->levels;
    struct cohort__area own = before_at(self, tier);
    uint32_t num = levels->tiers[tier].num;
    for (uint32_t i = 1; leads(self, tier) && self->has_before && i < num; i++)
        end = reduce(self, COHORT__LEVELS_DOWN, slot(self, tier, i), slot(self, tier, 0),
                     slot(self, tier, i), end);
    if (!leads(self, tier)) {
        self->has_before = true;
    } else if (!self->has_before) {
        own = slot(self, tier, 0);
        end = clear(self, own, end);
    }
    return cohort__levels_append(levels, tier,
                                 &(struct cohort__tier_part){.collective = COHORT__SCATTER,
                                                             .phase = COHORT__LEVELS_DOWN,
                                                             .bytes = self->bytes,
                                                             .in = slot(self, tier, 0),
                                                             .out = own},
                                 end);
}

static void append(struct scan *self)
{
    struct cohort__levels *levels = &self->levels;
    struct cohort__area in = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0}, sum = in;
    uint32_t top = levels->num_used;
    uint32_t end = go_up(self, &sum);
    if (cohort__levels_is_at_top(levels)) {
        self->has_before = levels->tiers[top].this_rank > 0;
        end = cohort__levels_at_top(levels, COHORT__EXCLUSIVE_SCAN, sum, before_at(self, top),
                                    self->bytes, end);
    }
    for (uint32_t tier = cohort__levels_below(levels); tier-- > 0;)
        if (levels->tiers[tier].num > 1)
            end = tell_tier(self, tier, end);
    if (levels->request->collective == COHORT__EXCLUSIVE_SCAN)
        return;
    if (self->has_before)
        reduce(self, COHORT__LEVELS_DOWN, out, out, in, end);
    else
        cohort__levels_copy(levels, COHORT__LEVELS_DOWN, out, in, self->bytes, end);
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct scan self = {.bytes = request->bytes};
    cohort__levels_init(&self.levels, builder, request);
    append(&self);
}

static void scan_stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    cohort__levels_stages(
        request, (struct cohort__levels_way){.collective = COHORT__GATHER, .bytes = request->bytes},
        (struct cohort__levels_way){.collective = COHORT__EXCLUSIVE_SCAN, .bytes = request->bytes},
        (struct cohort__levels_way){.collective = COHORT__SCATTER, .bytes = request->bytes},
        ret_stages);
    for (uint32_t i = 0; i < cohort__levels_num_used(request); i++)
        ret_stages->memory +=
            cohort__cost_tmp(1, (ret_stages->stages[i].num_sites + (size_t)1) * request->bytes);
}

const struct cohort__algorithm cohort__scan_levels = {
    .collective = COHORT__SCAN,
    .name = "levels",
    .needs = cohort__levels_needs,
    .accepts = cohort__levels_accepts,
    .build = build,
    .stages = scan_stages,
    .top = COHORT__EXCLUSIVE_SCAN,
};

const struct cohort__algorithm cohort__exclusive_scan_levels = {
    .collective = COHORT__EXCLUSIVE_SCAN,
    .name = "levels",
    .needs = cohort__levels_needs,
    .accepts = cohort__levels_accepts,
    .build = build,
    .stages = scan_stages,
    .top = COHORT__EXCLUSIVE_SCAN,
};
