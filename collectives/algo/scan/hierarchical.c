/* SPDX-License-Identifier: Apache-2.0 */
/* Scan, hierarchical. Phase 1, up the tree: in each level the first representative gets the totals
 * of the other groups, adds them up from the left, and keeps the sums. It sends the last sum, which
 * is the total of the whole range, on. Phase 3, down: each representative knows what is before its
 * own group, and tells the representatives below it what is before theirs. A total that no site
 * comes after is not sent.
 * Cost: 2 L levels of at most arity - 1 messages at each parent. TMP: a block for each group whose
 * total a site receives, and one.
 * Source: Strack et al., Hierarchical Collective Operations for HPX (IPTW 2025), for the levels;
 * Blelloch, Prefix sums and their applications (1990), for up and down. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/tree.h"

enum { UP = 1, DOWN = 3, TAG = 0 };

/* The sum of some groups: a block, and the step after which it is there. */
struct sum {
    uint32_t block;
    uint32_t step;
    uint32_t read; /* the step that reads it on the way up; COHORT__NO_STEP: none */
};

struct scan {
    struct cohort__plan_builder *builder;
    const struct cohort__request *request;
    bool is_exclusive;
    struct cohort__tree tree;
    /* By level: the sum of this site's own group. It is the last one of the level below, or IN. */
    struct sum sums[COHORT__TREE_MAX_LEVELS];
    /* By level, where its steps RECV, REDUCE, RECV, ... and their blocks begin. The last level
     * comes first. */
    uint32_t first_recvs[COHORT__TREE_MAX_LEVELS];
    uint32_t first_blocks[COHORT__TREE_MAX_LEVELS];
    uint32_t counts[COHORT__TREE_MAX_LEVELS]; /* of the totals that are received */
};

/* Whether there are sites after those that RANK of a level represents. */
static bool is_passed_on(const struct scan *self, uint32_t level, uint32_t rank)
{
    struct cohort__range group = cohort__tree_group(&self->tree, level, rank);
    return group.first + group.count < self->request->num_sites;
}

static uint32_t site_of(const struct scan *self, uint32_t level, uint32_t rank)
{
    return cohort__tree_site(&self->tree, cohort__tree_group(&self->tree, level, rank).first);
}

/* The sum of the groups 0 to RANK of a level. */
static struct sum sum_of(const struct scan *self, uint32_t level, uint32_t rank)
{
    struct sum sum = self->sums[level];
    if (rank > 0) {
        sum.block = self->first_blocks[level] + rank - 1;
        sum.step = self->first_recvs[level] + 2 * rank - 1;
    }
    sum.read =
        rank < self->counts[level] ? self->first_recvs[level] + 2 * rank + 1 : COHORT__NO_STEP;
    return sum;
}

/* Returns the sum of the level's whole range, or of the part that is needed. */
static struct sum level_up(struct scan *self, uint32_t level)
{
    struct cohort__plan_builder *builder = self->builder;
    uint32_t num_ranks = self->tree.levels[level].num_ranks;
    uint32_t count = num_ranks - 1 - !is_passed_on(self, level, num_ranks - 1);
    self->counts[level] = count;
    self->first_recvs[level] = cohort__plan_num_steps(builder);
    for (uint32_t rank = 1; rank <= count; rank++) {
        uint32_t block = cohort__plan_tmp(builder, self->request->bytes);
        if (rank == 1)
            self->first_blocks[level] = block;
    }
    for (uint32_t rank = 1; rank <= count; rank++) {
        struct sum left = sum_of(self, level, rank - 1);
        uint32_t block = self->first_blocks[level] + rank - 1;
        uint32_t recv = cohort__plan_recv(builder, UP, site_of(self, level, rank), TAG, &block, 1);
        uint32_t reduce = cohort__plan_reduce(builder, UP, block, left.block, block);
        cohort__plan_after(builder, reduce, recv);
        cohort__plan_after(builder, reduce, left.step);
    }
    return sum_of(self, level, count);
}

static void go_up(struct scan *self)
{
    const struct cohort__tree *tree = &self->tree;
    struct sum sum = {
        .block = cohort__plan_range(self->builder, COHORT__SPACE_IN, 0, self->request->bytes),
        .step = COHORT__NO_STEP};
    for (uint32_t level = tree->num_levels; level-- > 0;) {
        self->sums[level] = sum;
        if (tree->levels[level].this_rank == 0) {
            sum = level_up(self, level);
        } else if (is_passed_on(self, level, tree->levels[level].this_rank)) {
            uint32_t send =
                cohort__plan_send(self->builder, UP, site_of(self, level, 0), TAG, &sum.block, 1);
            cohort__plan_after(self->builder, send, sum.step);
        }
    }
}

/* The sum of all sites before RANK of a level. BEFORE is the sum of those before the level. It is
 * reduced in place. But if it is reduced with IN, the result is in THROUGH. */
static struct sum before_rank(struct scan *self, uint32_t level, uint32_t rank, struct sum before,
                              uint32_t through)
{
    struct cohort__plan_builder *builder = self->builder;
    struct sum sum = sum_of(self, level, rank - 1);
    bool is_in = rank == 1 && level + 1 == self->tree.num_levels;
    uint32_t block = is_in ? through : sum.block;
    if (before.step == COHORT__NO_STEP)
        return sum;
    uint32_t reduce = cohort__plan_reduce(builder, DOWN, block, before.block, sum.block);
    cohort__plan_after(builder, reduce, before.step);
    if (!is_in) {
        cohort__plan_after(builder, reduce, sum.step);
        cohort__plan_after(builder, reduce, sum.read);
    }
    return (struct sum){.block = block, .step = reduce};
}

static void level_down(struct scan *self, uint32_t level, struct sum before, uint32_t through)
{
    for (uint32_t rank = 1; rank < self->tree.levels[level].num_ranks; rank++) {
        struct sum sum = before_rank(self, level, rank, before, through);
        uint32_t send =
            cohort__plan_send(self->builder, DOWN, site_of(self, level, rank), TAG, &sum.block, 1);
        cohort__plan_after(self->builder, send, sum.step);
    }
}

/* There is nothing before site 0, so it has nothing to add. */
static void go_down(struct scan *self)
{
    struct cohort__plan_builder *builder = self->builder;
    const struct cohort__tree *tree = &self->tree;
    size_t bytes = self->request->bytes;
    bool is_first = cohort__tree_is_root(tree);
    bool has_children = cohort__tree_has_children(tree);
    uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, bytes);
    uint32_t other = has_children && !is_first ? cohort__plan_tmp(builder, bytes) : out;
    struct sum before = {.block = self->is_exclusive ? out : other, .step = COHORT__NO_STEP};
    uint32_t through = self->is_exclusive ? other : out;
    if (!is_first)
        before.step = cohort__plan_recv(builder, DOWN, site_of(self, 0, 0), TAG, &before.block, 1);
    for (uint32_t level = is_first ? 0 : 1; level < tree->num_levels; level++)
        level_down(self, level, before, through);
    if (!self->is_exclusive && !is_first && !has_children) {
        uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, bytes);
        uint32_t reduce = cohort__plan_reduce(builder, DOWN, out, out, own);
        cohort__plan_after(builder, reduce, before.step);
    }
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct scan self = {.builder = builder,
                        .request = request,
                        .is_exclusive = request->collective == COHORT__EXCLUSIVE_SCAN,
                        .tree = cohort__tree_of(request, request->arity, 0)};
    go_up(&self);
    go_down(&self);
    if (!self.is_exclusive && request->this_site == 0)
        cohort__alone_append(builder, request);
}

/* The number of sites to which others send: each range of the lowest level has one. The ranges of a
 * level have two sizes, `size` and one more. A range of arity + 1 sites is not of the lowest level,
 * but has only one range of two sites in it. */
static double count_parents(uint32_t num_sites, uint32_t arity)
{
    uint32_t size = num_sites;
    double counts[2] = {1, 0};
    while (size > arity) {
        double larger = size % arity;
        double next = counts[0] * (arity - larger) + counts[1] * (arity - larger - 1);
        counts[1] = counts[0] * larger + counts[1] * (larger + 1);
        counts[0] = next;
        size /= arity;
    }
    return (size > 1 ? counts[0] : 0) + counts[1];
}

/* The number of sites other than site 0 that are first in a group that ends with the last site. No
 * site comes after these groups. */
static double count_last(uint32_t num_sites, uint32_t arity)
{
    struct cohort__range range = {.first = 0, .count = num_sites};
    double count = 0;
    for (; range.count > 1; count++)
        range =
            cohort__partition_group(range, arity, cohort__partition_count(range.count, arity) - 1);
    return count;
}

/* The group that is the last to be told what is before it. */
static struct cohort__range last_group(const struct cohort__request *request)
{
    struct cohort__range all = {.first = 0, .count = request->num_sites};
    uint32_t num_groups = cohort__partition_count(all.count, request->arity);
    return cohort__partition_group(all, request->arity, num_groups - 1);
}

/* The reductions on the longest path. Up to site 0, whose groups are the largest: in each level the
 * last reduction adds time, in the first one that of the last group but one. Then down to the last
 * group. */
static double count_reductions(const struct cohort__request *request)
{
    uint32_t last = last_group(request).count;
    double up = cohort__partition_levels(request->num_sites, request->arity) - 1.0;
    if (cohort__partition_count(request->num_sites, request->arity) > 2)
        up++;
    double down = last > 1 ? cohort__partition_levels(last, request->arity) : 0;
    return up + down + (request->collective == COHORT__SCAN);
}

/* Site 0 sends while it receives: a group is told as soon as the sum of those before it is
 * known. */
static struct cohort__cost scan_cost(const struct cohort__request *request)
{
    bool is_exclusive = request->collective == COHORT__EXCLUSIVE_SCAN;
    uint32_t num_sites = request->num_sites;
    uint32_t arity = request->arity;
    double size = (double)request->bytes;
    if (num_sites == 1)
        return (struct cohort__cost){0};
    struct cohort__cost first = cohort__cost_broadcast(num_sites, arity, request->bytes);
    struct cohort__cost last =
        cohort__cost_broadcast(last_group(request).count, arity, request->bytes);
    double up = first.messages - count_last(num_sites, arity);
    double reductions = up + first.messages - first.startups;
    if (!is_exclusive)
        reductions += num_sites - count_parents(num_sites, arity);
    struct cohort__cost cost = {.startups = first.startups + last.startups,
                                .reduced = count_reductions(request) * size,
                                .messages = up + first.messages,
                                .combined = reductions * size,
                                .memory = (first.startups - 1) * (size + 64)};
    cost.bytes = cost.startups * size;
    cost.moved = cost.messages * size;
    return cost;
}

const struct cohort__algorithm cohort__scan_hierarchical = {
    .collective = COHORT__SCAN,
    .name = "hierarchical",
    .hierarchical = true,
    .build = build,
    .cost = scan_cost,
};

/* Exclusive scan, hierarchical: the scan without a site's own block. Site 0 gets
 * nothing. The last site's block is not sent. */
const struct cohort__algorithm cohort__exclusive_scan_hierarchical = {
    .collective = COHORT__EXCLUSIVE_SCAN,
    .name = "hierarchical",
    .hierarchical = true,
    .build = build,
    .cost = scan_cost,
};
