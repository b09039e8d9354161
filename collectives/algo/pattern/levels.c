/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/levels.h"

#include <stdlib.h>

#include "collectives/plan/embed.h"
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
        .scope = crosses                           ? COHORT__SCOPE_HOSTS
                 : level == COHORT__LEVEL_LOCALITY ? COHORT__SCOPE_TASKS
                                                   : COHORT__SCOPE_LOCALITIES,
        .level = is_top ? NULL : cohort__machine_name(machine, level),
        .num_sites = tier == 0 ? cohort__machine_largest(machine, level)
                               : largest_tier(machine, level, used[tier - 1]),
        .at_once = (num + num_hosts - 1) / num_hosts,
        .num_all = num,
        .is_top = is_top,
    };
}

bool cohort__levels_is_uneven(const struct cohort__machine *machine, uint32_t level)
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
        is_regular = is_regular && !cohort__levels_is_uneven(request->machine, used[i]);
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
        stage.is_ragged = cohort__levels_is_uneven(request->machine, used[tier - 1]);
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

cohort_status cohort__levels_init(struct cohort__levels *levels,
                                  const struct cohort__request *request, const char *name)
{
    bool is_rooted = cohort__collective_is_rooted(request->collective);
    bool has_order = needs_order(request);
    *levels = (struct cohort__levels){
        .request = request,
        .machine = request->machine,
        .root = is_rooted && !has_order ? request->root : COHORT__NO_ROOT,
        .turn = has_order ? 0 : request->turn,
    };
    cohort_status status =
        cohort__plan_builder_create(&levels->builder, name, request->num_sites, request->this_site);
    if (status)
        return status;
    levels->num_used = find_used(request->machine, levels->used);
    levels->keeps_order = keeps_order(request->machine, levels->used, levels->num_used);
    while (find_tier(levels, levels->height) == request->this_site &&
           levels->height < levels->num_used)
        levels->height++; /* at the top nobody goes on */
    return COHORT_OK;
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

/* The block that stands for BLOCK of a part. */
static uint32_t block_of(struct cohort__levels *levels, const struct cohort__tier_part *part,
                         struct cohort__block block)
{
    struct cohort__area area = block.space == COHORT__SPACE_IN ? part->in : part->out;
    block.space = area.space;
    block.offset += area.offset;
    return cohort__plan_block(levels->builder, block);
}

static uint32_t first_tag(uint32_t piece)
{
    return piece == 0 ? 0 : NUM_PHASES * TAGS_PER_PHASE + (piece - 1) * TAGS_PER_PIECE;
}

static uint32_t embed(struct cohort__levels *levels, const struct cohort__party *party,
                      const struct cohort__tier_part *part, const struct cohort__plan *fragment,
                      uint32_t after)
{
    const uint32_t piece = cohort__levels_piece(levels, part);
    uint32_t end = COHORT__NO_STEP;
    uint32_t *blocks = calloc(fragment->num_blocks + (size_t)1, sizeof(*blocks));
    struct cohort__block_list *lists = calloc(fragment->num_blocks + (size_t)1, sizeof(*lists));
    if (blocks && lists) {
        for (uint32_t i = 0; i < fragment->num_blocks; i++) {
            if (fragment->blocks[i].space != COHORT__SPACE_TMP)
                blocks[i] = block_of(levels, part, fragment->blocks[i]);
            lists[i] = (struct cohort__block_list){.blocks = &blocks[i], .num_blocks = 1};
        }
        struct cohort__embedding embedding = {.sites = party->sites,
                                              .block_map = lists,
                                              .phase = part->phase,
                                              .tag = first_tag(piece),
                                              .tags_per_phase =
                                                  piece > 0 ? PIECE_TAGS_PER_PHASE : TAGS_PER_PHASE,
                                              .after = after,
                                              .recv_after = after};
        end = cohort__plan_embed(levels->builder, fragment, &embedding);
    } else {
        cohort__plan_builder_fail(levels->builder);
    }
    free(lists);
    free(blocks);
    return end;
}

uint32_t cohort__levels_append_party(struct cohort__levels *levels,
                                     const struct cohort__party *party,
                                     const struct cohort__tier_part *part, uint32_t after)
{
    struct cohort__plan *fragment = NULL;
    cohort_status status = build_part(levels, party, part, &fragment);
    if (status) {
        cohort__plan_builder_fail_too(levels->builder, status);
        return COHORT__NO_STEP;
    }
    uint32_t end = embed(levels, party, part, fragment, after);
    cohort__plan_unref(fragment);
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

static enum cohort__step_meeting meeting_of(enum cohort__collective collective)
{
    switch (collective) {
    case COHORT__GATHER:
        return COHORT__MEETING_GATHER;
    case COHORT__SCATTER:
        return COHORT__MEETING_SCATTER;
    case COHORT__REDUCE:
        return COHORT__MEETING_REDUCE;
    default:
        return COHORT__MEETING_BROADCAST;
    }
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
    uint32_t step = cohort__plan_meet(levels->builder, part->phase, meeting_of(part->collective),
                                      tier->leader, part->bytes, to, from);
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
