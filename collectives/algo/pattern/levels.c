/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/levels.h"

#include <stdlib.h>

#include "collectives/algo/pattern/vector.h"
#include "collectives/plan/embed.h"
#include "collectives/plan/plan.h"
#include "collectives/plan/tag.h"

/* Of the phases of a part, and of a part that is one of several pieces, which come behind it: few
 * tags, so that there may be COHORT__LEVELS_MOST_PIECES. */
enum { TAGS_PER_PHASE = 1 << 20, NUM_PHASES = COHORT__LAST_PHASE + 1 };
enum { PIECE_TAGS_PER_PHASE = 1 << 16, TAGS_PER_PIECE = NUM_PHASES * PIECE_TAGS_PER_PHASE };
_Static_assert(NUM_PHASES *TAGS_PER_PHASE + COHORT__LEVELS_MOST_PIECES * TAGS_PER_PIECE <=
                   1 << COHORT__TAG_BITS,
               "each piece has tags of its own");

const char cohort__levels_needs[] =
    "subgroups of several sites; for scans and ordered reductions, of consecutive ones";

/* The levels whose tiers have more than one member somewhere. Of levels with the same subgroups the
 * coarsest, except that a locality stays one: its sites can meet; and so does a host, and what is
 * above it: localities of a host can leave each other notes. */
static uint32_t find_used(const struct cohort__machine *machine,
                          uint32_t ret_used[COHORT__LEVELS_MAX])
{
    uint32_t num_used = 0, num_members = cohort__machine_num_sites(machine);
    uint32_t hosts = cohort__machine_find(machine, "host");
    for (uint32_t level = 0; level < cohort__machine_num_levels(machine); level++) {
        uint32_t num = cohort__machine_num_subgroups(machine, level);
        if (num_used > 0 && num == num_members && num > 1 && level <= hosts &&
            ret_used[num_used - 1] != COHORT__LEVEL_LOCALITY)
            ret_used[num_used - 1] = level;
        if (num == 1 || num == num_members || num_used == COHORT__LEVELS_MAX)
            continue;
        ret_used[num_used++] = level;
        num_members = num;
    }
    return num_used;
}

static bool keeps_order(const struct cohort__machine *machine, const uint32_t *used,
                        uint32_t num_used)
{
    bool keeps = true;
    for (uint32_t i = 0; i < num_used; i++)
        keeps = keeps && cohort__machine_keeps_order(machine, used[i]);
    return keeps;
}

/* Whether the sites of a subgroup, with the lowest one as its leader, must follow each other. */
static bool needs_order(const struct cohort__request *request)
{
    return request->collective == COHORT__SCAN || request->collective == COHORT__EXCLUSIVE_SCAN ||
           (cohort__collective_reduces(request->collective) && !request->commutative);
}

bool cohort__levels_accepts(const struct cohort__request *request)
{
    uint32_t used[COHORT__LEVELS_MAX];
    uint32_t num_used = request->machine ? find_used(request->machine, used) : 0;
    return num_used > 0 && (!needs_order(request) || keeps_order(request->machine, used, num_used));
}

/* Stages ------------------------------------------------------------------------------------ */

uint32_t cohort__levels_level(const struct cohort__request *request)
{
    uint32_t used[COHORT__LEVELS_MAX];
    uint32_t num_used = find_used(request->machine, used);
    return used[num_used - 1];
}

uint32_t cohort__levels_largest(const struct cohort__request *request)
{
    return cohort__machine_largest(request->machine, cohort__levels_level(request));
}

uint32_t cohort__levels_num_used(const struct cohort__request *request)
{
    uint32_t used[COHORT__LEVELS_MAX];
    return find_used(request->machine, used);
}

/* The most members that a tier between LEVEL, or all sites, and the level FINER has. */
static uint32_t largest_tier(const struct cohort__machine *machine, uint32_t level, uint32_t finer)
{
    uint32_t largest = 0;
    bool is_all = level == cohort__machine_num_levels(machine);
    for (uint32_t i = 0; i < (is_all ? 1 : cohort__machine_num_subgroups(machine, level)); i++) {
        struct cohort__children children = cohort__machine_children(machine, level, i, finer);
        largest = children.num > largest ? children.num : largest;
    }
    return largest;
}

/* Whom the members of the last tier lead in SUBGROUP, one of the largest. */
static struct cohort__slice children_in(const struct cohort__machine *machine, const uint32_t *used,
                                        uint32_t num_used, uint32_t subgroup)
{
    uint32_t level = used[num_used - 1];
    if (num_used > 1) {
        struct cohort__children children =
            cohort__machine_children(machine, level, subgroup, used[num_used - 2]);
        return (struct cohort__slice){.first = children.first, .num = children.num};
    }
    struct cohort__members members = cohort__machine_members(machine, level, subgroup);
    return (struct cohort__slice){.first = cohort__machine_place(machine, members.sites[0]),
                                  .num = members.num};
}

uint32_t cohort__levels_fewest_members(const struct cohort__request *request)
{
    uint32_t used[COHORT__LEVELS_MAX], fewest = UINT32_MAX;
    uint32_t num_used = find_used(request->machine, used);
    for (uint32_t i = 0; i < cohort__machine_num_subgroups(request->machine, used[num_used - 1]);
         i++) {
        uint32_t num = children_in(request->machine, used, num_used, i).num;
        fewest = num < fewest ? num : fewest;
    }
    return fewest;
}

static struct cohort__stage stage_of(const struct cohort__request *request, const uint32_t *used,
                                     uint32_t num_used, uint32_t tier)
{
    const struct cohort__machine *machine = request->machine;
    bool is_top = tier == num_used;
    uint32_t hosts = cohort__machine_find(machine, "host");
    uint32_t level = is_top ? cohort__machine_num_levels(machine) : used[tier];
    bool has_hosts = hosts < cohort__machine_num_levels(machine);
    uint32_t num_hosts = has_hosts ? cohort__machine_num_subgroups(machine, hosts) : 1;
    uint32_t num = is_top ? 1 : cohort__machine_num_subgroups(machine, level);
    /* The last level is that of the hosts, or like it, or above it. */
    bool crosses = is_top ? num_hosts > 1 : level > hosts;
    return (struct cohort__stage){
        .distance = crosses                           ? COHORT__DISTANCE_HOSTS
                    : level == COHORT__LEVEL_LOCALITY ? COHORT__DISTANCE_TASKS
                                                      : COHORT__DISTANCE_LOCALITIES,
        .level = is_top ? NULL : cohort__machine_name(machine, level),
        .num_sites = tier == 0 ? cohort__machine_largest(machine, level)
                               : largest_tier(machine, level, used[tier - 1]),
        .at_once = (num + num_hosts - 1) / num_hosts,
        .num_all = num,
        .is_top = is_top,
    };
}

/* Whether the subgroups of LEVEL have different numbers of sites, anywhere: all tiers of a level
 * use the same row, as its price says. */
static bool levels_is_uneven(const struct cohort__machine *machine, uint32_t level)
{
    uint64_t num = cohort__machine_num_subgroups(machine, level);
    return num * cohort__machine_largest(machine, level) != cohort__machine_num_sites(machine);
}

bool cohort__levels_is_regular(const struct cohort__request *request)
{
    uint32_t used[COHORT__LEVELS_MAX];
    uint32_t num_used = find_used(request->machine, used);
    bool is_regular = keeps_order(request->machine, used, num_used);
    for (uint32_t i = 0; i < num_used; i++)
        is_regular = is_regular && !levels_is_uneven(request->machine, used[i]);
    return is_regular;
}

/* Appends what TIER does in one direction. */
static void add_stage(const struct cohort__request *request, const uint32_t *used,
                      uint32_t num_used, uint32_t tier, struct cohort__levels_way way,
                      struct cohort__stages *stages)
{
    struct cohort__stage stage = stage_of(request, used, num_used, tier);
    if (way.collective == COHORT__NUM_COLLECTIVES || stages->num == COHORT__MAX_STAGES)
        return;
    uint32_t num_below = 1;
    if (way.is_for_each && tier > 0) {
        num_below = cohort__machine_largest(request->machine, used[tier - 1]);
        stage.is_ragged = levels_is_uneven(request->machine, used[tier - 1]);
    }
    stage.collective = way.collective;
    stage.bytes = way.bytes * num_below;
    stage.is_noted = tier < num_used &&
                     cohort__levels_notes_fit(
                         request, used[tier], way.collective,
                         stage.bytes * (way.collective == COHORT__SCATTER ? stage.num_sites : 1));
    stage.is_ragged = stage.is_ragged && !stage.is_noted;
    stages->stages[stages->num++] = stage;
}

void cohort__levels_stages(const struct cohort__request *request, struct cohort__levels_way up,
                           struct cohort__levels_way top, struct cohort__levels_way down,
                           struct cohort__stages *ret_stages)
{
    uint32_t used[COHORT__LEVELS_MAX];
    uint32_t num_used = find_used(request->machine, used);
    *ret_stages = (struct cohort__stages){.num = 0};
    for (uint32_t tier = 0; tier < num_used; tier++)
        add_stage(request, used, num_used, tier, up, ret_stages);
    add_stage(request, used, num_used, num_used, top, ret_stages);
    for (uint32_t tier = num_used; tier-- > 0;)
        add_stage(request, used, num_used, tier, down, ret_stages);
}

/* Tiers ------------------------------------------------------------------------------------- */

uint32_t cohort__levels_site_at(const struct cohort__levels *levels, uint32_t place)
{
    return cohort__machine_order(levels->machine)[place];
}

uint32_t cohort__levels_leader(const struct cohort__levels *levels, uint32_t tier, uint32_t child)
{
    return tier == 0 ? cohort__levels_site_at(levels, child)
                     : cohort__machine_leader(levels->machine, levels->used[tier - 1], child,
                                              levels->root, levels->turn);
}

struct cohort__slice cohort__levels_children(const struct cohort__levels *levels, uint32_t subgroup)
{
    return children_in(levels->machine, levels->used, levels->num_used, subgroup);
}

uint32_t cohort__levels_member(const struct cohort__levels *levels, uint32_t tier, uint32_t rank)
{
    return cohort__levels_leader(levels, tier, levels->tiers[tier].first_child + rank);
}

/* The number of SITE's subgroup among those that TIER's members lead. */
static uint32_t child_of(const struct cohort__levels *levels, uint32_t tier, uint32_t site)
{
    return tier == 0 ? cohort__machine_place(levels->machine, site)
                     : cohort__machine_subgroup(levels->machine, levels->used[tier - 1], site);
}

uint32_t cohort__levels_rank(const struct cohort__levels *levels, uint32_t tier, uint32_t site)
{
    return child_of(levels, tier, site) - levels->tiers[tier].first_child;
}

/* This site's tier NUMBER. Returns the site that goes on from there. */
static uint32_t find_tier(struct cohort__levels *levels, uint32_t number)
{
    const struct cohort__machine *machine = levels->machine;
    struct cohort__tier *tier = &levels->tiers[number];
    uint32_t site = levels->request->this_site;
    bool is_top = number == levels->num_used;
    uint32_t level = is_top ? cohort__machine_num_levels(machine) : levels->used[number];
    uint32_t subgroup = is_top ? 0 : cohort__machine_subgroup(machine, level, site);
    if (number == 0) {
        struct cohort__members members = cohort__machine_members(machine, level, subgroup);
        tier->first_child = cohort__machine_place(machine, members.sites[0]);
        tier->num = members.num;
    } else {
        struct cohort__children children =
            cohort__machine_children(machine, level, subgroup, levels->used[number - 1]);
        tier->first_child = children.first;
        tier->num = children.num;
    }
    uint32_t leader =
        is_top ? cohort__levels_site_at(levels, 0)
               : cohort__machine_leader(machine, level, subgroup, levels->root, levels->turn);
    if (is_top && cohort__collective_is_rooted(levels->request->collective))
        leader = levels->request->root;
    tier->this_rank = cohort__levels_rank(levels, number, site);
    tier->leader = cohort__levels_rank(levels, number, leader);
    return leader;
}

void cohort__levels_init(struct cohort__levels *levels, struct cohort__plan_builder *builder,
                         const struct cohort__request *request)
{
    bool is_rooted = cohort__collective_is_rooted(request->collective);
    bool has_order = needs_order(request);
    *levels = (struct cohort__levels){
        .builder = builder,
        .request = request,
        .machine = request->machine,
        .root = is_rooted && !has_order ? request->root : COHORT__NO_ROOT,
        .turn = has_order ? 0 : request->turn,
    };
    levels->num_used = find_used(request->machine, levels->used);
    levels->keeps_order = keeps_order(request->machine, levels->used, levels->num_used);
    while (find_tier(levels, levels->height) == request->this_site &&
           levels->height < levels->num_used)
        levels->height++; /* at the top nobody goes on */
}

struct cohort__slice cohort__levels_slice(const struct cohort__levels *levels, uint32_t tier,
                                          uint32_t rank)
{
    uint32_t child = levels->tiers[tier].first_child + rank;
    if (tier == 0)
        return (struct cohort__slice){.first = child, .num = 1};
    struct cohort__members members =
        cohort__machine_members(levels->machine, levels->used[tier - 1], child);
    return (struct cohort__slice){.first = cohort__machine_place(levels->machine, members.sites[0]),
                                  .num = members.num};
}

/* Parts ------------------------------------------------------------------------------------- */

/* The row that carries out a part: at the top the one that was chosen, below a tree. */
static const struct cohort__algorithm *row_of(const struct cohort__levels *levels, uint32_t tier,
                                              const struct cohort__tier_part *part)
{
    const struct cohort__request *request = levels->request;
    if (tier == levels->num_used && request->inner > 0)
        return cohort__algorithms[request->inner - 1];
    bool is_linear = part->is_ragged || tier == levels->num_used;
    return cohort__algorithm_find(part->collective, is_linear ? "linear" : "hierarchical");
}

static cohort_status build_part(const struct cohort__levels *levels,
                                const struct cohort__party *party,
                                const struct cohort__tier_part *part,
                                struct cohort__plan **ret_plan)
{
    const bool is_rooted = cohort__collective_is_rooted(part->collective);
    struct cohort__request request = {
        .collective = part->collective,
        .num_sites = party->num,
        .this_site = party->this_rank,
        .root = is_rooted ? party->leader : 0,
        .arity = levels->request->arity,
        .bytes = part->bytes,
        .element = levels->request->element,
        .commutative = levels->request->commutative,
    };
    bool is_exchange = part->collective == COHORT__EXCHANGE;
    if (part->is_ragged && part->in_parts) {
        request.in_parts = part->in_parts;
        request.num_in_parts = is_exchange ? part->num_in_parts : party->num;
    }
    if (part->is_ragged && part->out_parts) {
        request.out_parts = part->out_parts;
        request.num_out_parts = is_exchange ? part->num_out_parts : party->num;
    }
    return cohort__algorithm_build(party->row, &request, ret_plan);
}

uint32_t cohort__levels_piece(const struct cohort__levels *levels,
                              const struct cohort__tier_part *part)
{
    return part->piece > 0 ? part->piece : levels->segment;
}

/* The block that stands for BLOCK of a part, which is CONTEXT. */
static struct cohort__block moved(const void *context, struct cohort__block block)
{
    const struct cohort__tier_part *part = context;
    struct cohort__area area = block.space == COHORT__SPACE_IN ? part->in : part->out;
    block.space = area.space;
    block.offset += area.offset;
    return block;
}

static uint32_t first_tag(uint32_t piece)
{
    return piece == 0 ? 0 : NUM_PHASES * TAGS_PER_PHASE + (piece - 1) * TAGS_PER_PIECE;
}

uint32_t cohort__levels_append_party(struct cohort__levels *levels,
                                     const struct cohort__party *party,
                                     const struct cohort__tier_part *part, uint32_t after)
{
    struct cohort__plan *subplan = NULL;
    cohort_status status = build_part(levels, party, part, &subplan);
    if (status) {
        cohort__plan_builder_fail_too(levels->builder, status);
        return COHORT__NO_STEP;
    }
    const uint32_t piece = cohort__levels_piece(levels, part);
    const uint32_t tags = piece > 0 ? PIECE_TAGS_PER_PHASE : TAGS_PER_PHASE;
    uint32_t end = cohort__plan_embed_moved(levels->builder, subplan, moved, part,
                                            (struct cohort__embedding){.sites = party->sites,
                                                                       .phase = part->phase,
                                                                       .tag = first_tag(piece),
                                                                       .tags_per_phase = tags,
                                                                       .after = after,
                                                                       .recv_after = after});
    cohort__plan_unref(subplan);
    return end;
}

/* The sites of a locality do a part without messages, if blocks are of one size. */
static bool meets(const struct cohort__levels *levels, uint32_t tier)
{
    return levels->request->meets && tier == 0 && levels->num_used > 0 &&
           levels->used[0] == COHORT__LEVEL_LOCALITY;
}

/* The bytes of an area that only the root has, or only the others, or all. */
static uint32_t range_if(struct cohort__levels *levels, bool has, struct cohort__area area,
                         size_t bytes)
{
    return cohort__plan_range(levels->builder, area.space, area.offset, has ? bytes : 0);
}

static uint32_t meet(struct cohort__levels *levels, const struct cohort__tier_part *part,
                     uint32_t after)
{
    const struct cohort__tier *tier = &levels->tiers[0];
    bool is_root = tier->this_rank == tier->leader;
    bool is_gather = part->collective == COHORT__GATHER;
    bool is_scatter = part->collective == COHORT__SCATTER;
    bool is_broadcast = part->collective == COHORT__BROADCAST;
    size_t all = tier->num * part->bytes;
    uint32_t from = range_if(levels, is_root || !(is_scatter || is_broadcast), part->in,
                             is_scatter ? all : part->bytes);
    bool is_there = is_scatter && is_root && part->out.space == part->in.space &&
                    part->out.offset == part->in.offset + tier->this_rank * part->bytes;
    bool gets = is_broadcast ? !is_root : is_root || is_scatter;
    uint32_t to = range_if(levels, gets && !is_there, part->out, is_gather ? all : part->bytes);
    const uint32_t *sites = cohort__machine_order(levels->machine) + tier->first_child;
    cohort__plan_set_members(levels->builder, sites, tier->num, tier->this_rank);
    uint32_t step = cohort__plan_meet(levels->builder, part->phase, part->collective, tier->leader,
                                      part->bytes, to, from);
    cohort__plan_after(levels->builder, step, after);
    return step;
}

uint32_t cohort__levels_append(struct cohort__levels *levels, uint32_t tier,
                               const struct cohort__tier_part *part, uint32_t after)
{
    const struct cohort__tier *members = &levels->tiers[tier];
    if (members->num == 1)
        return after;
    if (meets(levels, tier) && !part->is_ragged)
        return meet(levels, part, after);
    if (cohort__levels_notes_can(levels, tier, part))
        return cohort__levels_notes(levels, tier, part, after);
    uint32_t *sites = calloc(members->num, sizeof(*sites));
    if (!sites) {
        cohort__plan_builder_fail(levels->builder);
        return COHORT__NO_STEP;
    }
    for (uint32_t rank = 0; rank < members->num; rank++)
        sites[rank] = cohort__levels_member(levels, tier, rank);
    uint32_t end =
        cohort__levels_append_party(levels,
                                    &(struct cohort__party){.num = members->num,
                                                            .this_rank = members->this_rank,
                                                            .leader = members->leader,
                                                            .sites = sites,
                                                            .row = row_of(levels, tier, part)},
                                    part, after);
    free(sites);
    return end;
}

struct cohort__area cohort__levels_tmp(struct cohort__levels *levels, size_t bytes)
{
    uint32_t block = cohort__plan_tmp(levels->builder, bytes);
    return (struct cohort__area){.space = COHORT__SPACE_TMP,
                                 .offset = cohort__plan_get_block(levels->builder, block).offset};
}

uint32_t cohort__levels_copy(struct cohort__levels *levels, unsigned phase, struct cohort__area to,
                             struct cohort__area from, size_t bytes, uint32_t after)
{
    struct cohort__plan_builder *builder = levels->builder;
    uint32_t blocks[] = {cohort__plan_range(builder, to.space, to.offset, bytes),
                         cohort__plan_range(builder, from.space, from.offset, bytes)};
    uint32_t copy = cohort__plan_copy(builder, phase, blocks[0], blocks[1]);
    cohort__plan_after(builder, copy, after);
    return copy;
}

uint32_t cohort__levels_below(const struct cohort__levels *levels)
{
    return levels->height < levels->num_used ? levels->height + 1 : levels->num_used;
}

/* Reductions, broadcasts -------------------------------------------------------------------- */

uint32_t cohort__levels_reduce_up(struct cohort__levels *levels, struct cohort__area *area,
                                  size_t bytes, uint32_t after)
{
    return cohort__levels_reduce_below(levels, levels->num_used, area, bytes, after);
}

uint32_t cohort__levels_reduce_below(struct cohort__levels *levels, uint32_t top,
                                     struct cohort__area *area, size_t bytes, uint32_t after)
{
    uint32_t end = after;
    for (uint32_t tier = 0; tier < top && tier < cohort__levels_below(levels); tier++) {
        bool leads = levels->height > tier;
        if (levels->tiers[tier].num == 1)
            continue;
        struct cohort__area result = leads ? cohort__levels_tmp(levels, bytes) : *area;
        end = cohort__levels_append(levels, tier,
                                    &(struct cohort__tier_part){.collective = COHORT__REDUCE,
                                                                .phase = COHORT__LEVELS_UP,
                                                                .bytes = bytes,
                                                                .in = *area,
                                                                .out = result},
                                    end);
        *area = result;
    }
    return end;
}

uint32_t cohort__levels_broadcast_down(struct cohort__levels *levels, struct cohort__area area,
                                       size_t bytes, uint32_t after)
{
    return cohort__levels_broadcast_below(levels, levels->num_used, 0, area, bytes, after);
}

uint32_t cohort__levels_broadcast_below(struct cohort__levels *levels, uint32_t top, uint32_t piece,
                                        struct cohort__area area, size_t bytes, uint32_t after)
{
    uint32_t below = cohort__levels_below(levels);
    for (uint32_t tier = below < top ? below : top; tier-- > 0;)
        after = cohort__levels_append(levels, tier,
                                      &(struct cohort__tier_part){.collective = COHORT__BROADCAST,
                                                                  .phase = COHORT__LEVELS_DOWN,
                                                                  .piece = piece,
                                                                  .bytes = bytes,
                                                                  .in = area,
                                                                  .out = area},
                                      after);
    return after;
}

/* The shelf: blocks of all sites, in the machine's order ------------------------------------ */

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
           (tier > 0 && levels_is_uneven(levels->machine, levels->used[tier - 1]));
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

bool cohort__levels_is_at_top(const struct cohort__levels *levels)
{
    return levels->height == levels->num_used;
}

uint32_t cohort__levels_at_top(struct cohort__levels *levels, enum cohort__collective collective,
                               struct cohort__area in, struct cohort__area out, size_t bytes,
                               uint32_t after)
{
    return cohort__levels_is_at_top(levels)
               ? cohort__levels_append(levels, levels->num_used,
                                       &(struct cohort__tier_part){.collective = collective,
                                                                   .phase = COHORT__LEVELS_TOP,
                                                                   .bytes = bytes,
                                                                   .in = in,
                                                                   .out = out},
                                       after)
               : after;
}

uint32_t cohort__levels_gather_top(struct cohort__levels *levels, struct cohort__area own,
                                   const struct cohort__shelf *shelf, uint32_t after)
{
    return cohort__levels_is_at_top(levels)
               ? move_blocks(levels, levels->num_used, COHORT__GATHER, own, shelf, after)
               : after;
}

uint32_t cohort__levels_scatter_top(struct cohort__levels *levels, struct cohort__area own,
                                    const struct cohort__shelf *shelf, uint32_t after)
{
    return cohort__levels_is_at_top(levels)
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
    if (!cohort__levels_is_at_top(levels))
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

/* The way down, in pieces ------------------------------------------------------------------- */

/* A piece goes through a locality in one meeting, and on the way up there is one, too. */
_Static_assert(COHORT__LEVELS_PIECES + 3 <= COHORT__PLAN_MEETINGS,
               "a meeting on the way up, one for each piece, and two of an agreement in front");

static uint32_t num_subgroups(const struct cohort__levels *levels)
{
    return cohort__machine_num_subgroups(levels->machine, levels->used[levels->num_used - 1]);
}

uint32_t cohort__levels_num_pieces(const struct cohort__levels *levels, size_t bytes)
{
    size_t notes = bytes / COHORT__LEVELS_NOTE_BYTES + (bytes % COHORT__LEVELS_NOTE_BYTES > 0);
    uint32_t num = num_subgroups(levels);
    num = num < COHORT__LEVELS_PIECES ? num : COHORT__LEVELS_PIECES;
    num = notes < num ? (uint32_t)notes : num;
    return num > 0 ? num : 1;
}

/* The sites of piece INDEX of NUM: those of consecutive subgroups. */
static struct cohort__slice places_of(const struct cohort__levels *levels, uint32_t index,
                                      uint32_t num)
{
    uint64_t all = num_subgroups(levels);
    struct cohort__slice first =
        cohort__levels_slice(levels, levels->num_used, (uint32_t)(index * all / num));
    struct cohort__slice last =
        cohort__levels_slice(levels, levels->num_used, (uint32_t)((index + 1) * all / num - 1));
    return (struct cohort__slice){.first = first.first, .num = last.first + last.num - first.first};
}

/* What a member of the top has to wait for. */
static void wait_for_writers(struct cohort__levels *levels, enum cohort__space space,
                             struct cohort__piece *pieces, uint32_t num)
{
    struct cohort__written ranges[COHORT__LEVELS_PIECES];
    for (uint32_t i = 0; i < num; i++) {
        pieces[i].come = cohort__plan_join(levels->builder, COHORT__LEVELS_TOP);
        ranges[i] = (struct cohort__written){.offset = pieces[i].shelf.area.offset,
                                             .bytes = cohort__shelf_bytes(&pieces[i].shelf),
                                             .step = pieces[i].come};
    }
    cohort__plan_after_writers(levels->builder, space, ranges, num);
}

void cohort__levels_cut(struct cohort__levels *levels, const struct cohort__shelf *shelf,
                        uint32_t num, uint32_t after,
                        struct cohort__piece ret_pieces[COHORT__LEVELS_PIECES])
{
    for (uint32_t i = 0; i < num; i++) {
        struct cohort__slice places = places_of(levels, i, num);
        ret_pieces[i] = (struct cohort__piece){
            .shelf = {.area = cohort__shelf_at(shelf, places.first),
                      .places = places,
                      .lengths = shelf->lengths,
                      .piece = num > 1 ? i + 1 : 0},
            .come = after,
        };
    }
    if (cohort__levels_is_at_top(levels))
        wait_for_writers(levels, shelf->area.space, ret_pieces, num);
}

/* Long blocks, in segments ------------------------------------------------------------------ */

enum { SEGMENT_BYTES = 128 * 1024 }; /* shorter ones would only be more messages */

/* Two meetings for each segment, and two of an agreement in front. */
_Static_assert(2 * COHORT__LEVELS_SEGMENTS + 2 <= COHORT__PLAN_MEETINGS, "room for all meetings");

uint32_t cohort__levels_num_segments(const struct cohort__request *request)
{
    const size_t element = cohort__request_element(request);
    const size_t least = element > SEGMENT_BYTES ? element : SEGMENT_BYTES;
    const size_t num = request->bytes / least;
    return num < 1 ? 1 : num < COHORT__LEVELS_SEGMENTS ? (uint32_t)num : COHORT__LEVELS_SEGMENTS;
}

struct cohort__request cohort__levels_longest_segment(const struct cohort__request *request)
{
    struct cohort__request segment = *request;
    segment.bytes = cohort__cut_bytes(request->bytes, request->element,
                                      cohort__levels_num_segments(request), 0, 1);
    return segment;
}

void cohort__levels_build_segments(struct cohort__plan_builder *builder,
                                   const struct cohort__request *request,
                                   cohort__levels_segment *append)
{
    struct cohort__levels levels;
    cohort__levels_init(&levels, builder, request);
    const size_t bytes = request->bytes, element = request->element;
    const uint32_t num = cohort__levels_num_segments(request);
    struct cohort__request segment = *request;
    levels.request = &segment;
    for (uint32_t i = 0, after = COHORT__NO_STEP; i < num; i++) {
        const size_t begin = cohort__cut(bytes, element, num, i);
        segment.bytes = cohort__cut(bytes, element, num, i + 1) - begin;
        levels.segment = num > 1 ? i + 1 : 0;
        after = append(&levels, begin, after);
    }
}
