/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/sparse.h"

#include "collectives/algo/pattern/levels.h"

static const struct cohort__area in = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0};

/* The slots of FROM are sorted into NUM slots at TO. By copies, if others may still read the
 * objects when their targets have been given them. */
static uint32_t route(struct cohort__levels *levels, bool copies, uint32_t level, uint32_t first,
                      struct cohort__area to, uint32_t num, struct cohort__area from,
                      uint32_t num_from, uint32_t after)
{
    struct cohort__plan_builder *builder = levels->builder;
    uint32_t step =
        cohort__plan_route(builder, COHORT__LEVELS_TOP, copies, level, first,
                           cohort__plan_range(builder, to.space, to.offset, num),
                           cohort__plan_range(builder, from.space, from.offset, num_from));
    cohort__plan_after(builder, step, after);
    return step;
}

/* Site 0 sorts the bundles of all. */
static void append_shared(struct cohort__levels *levels)
{
    enum { ROOT = 0 };
    const struct cohort__request *request = levels->request;
    struct cohort__plan_builder *builder = levels->builder;
    const uint32_t num = request->this_site == ROOT ? request->num_sites : 0;
    const struct cohort__area brought = cohort__levels_tmp(levels, num);
    const struct cohort__area sorted = cohort__levels_tmp(levels, num);
    cohort__plan_set_members(builder, NULL, request->num_sites, request->this_site);
    uint32_t step =
        cohort__plan_meet(builder, COHORT__LEVELS_UP, COHORT__GATHER, ROOT, 1,
                          cohort__plan_range(builder, brought.space, brought.offset, num),
                          cohort__plan_range(builder, in.space, in.offset, 1));
    if (num > 0)
        step = route(levels, false, COHORT__BY_PLACE, 0, sorted, num, brought, num, step);
    uint32_t down =
        cohort__plan_meet(builder, COHORT__LEVELS_DOWN, COHORT__SCATTER, ROOT, 1,
                          cohort__plan_range(builder, out.space, out.offset, 1),
                          cohort__plan_range(builder, sorted.space, sorted.offset, num));
    cohort__plan_after(builder, down, step);
}

/* Whether the row of the leaders replicates. */
static bool replicates(const struct cohort__request *request)
{
    return request->inner > 0 && cohort__algorithms[request->inner - 1]->replicates;
}

/* What a leader of a largest subgroup does: FROM has the bundles of its sites, and TO gets those
 * for them. */
static uint32_t exchange(struct cohort__levels *levels, struct cohort__area from,
                         struct cohort__area to, uint32_t after)
{
    const uint32_t top = levels->num_used;
    const struct cohort__tier *leaders = &levels->tiers[top];
    const struct cohort__slice own = cohort__levels_slice(levels, top, leaders->this_rank);
    const struct cohort__area sent = cohort__levels_tmp(levels, leaders->num);
    const struct cohort__area received = cohort__levels_tmp(levels, leaders->num);
    uint32_t end =
        route(levels, false, levels->used[top - 1], 0, sent, leaders->num, from, own.num, after);
    end = cohort__levels_at_top(levels, COHORT__ALL_TO_ALL, sent, received, 1, end);
    return route(levels, replicates(levels->request), COHORT__BY_PLACE, own.first, to, own.num,
                 received, leaders->num, end);
}

static void append_levels(struct cohort__levels *levels)
{
    const struct cohort__lengths lengths = {.bytes = 1};
    const bool is_leader = cohort__levels_is_at_top(levels);
    const struct cohort__shelf up = cohort__levels_shelf(levels, lengths, false);
    const struct cohort__shelf down = cohort__levels_shelf(levels, lengths, false);
    struct cohort__area brought = in;
    uint32_t end = cohort__levels_gather_up(levels, &brought, &up);
    if (is_leader)
        end = exchange(levels, brought,
                       cohort__levels_part_at(levels, levels->num_used, out, &down), end);
    cohort__levels_scatter_down(levels, out, &down, end);
}

/* All sites, in the order of their places, by ROW. */
static void append_flat(struct cohort__levels *levels, const struct cohort__algorithm *row)
{
    const struct cohort__request *request = levels->request;
    const uint32_t num = request->num_sites;
    const uint32_t place = cohort__machine_place(levels->machine, request->this_site);
    const struct cohort__area sent = cohort__levels_tmp(levels, num);
    const struct cohort__area received = cohort__levels_tmp(levels, num);
    uint32_t end = route(levels, false, COHORT__BY_PLACE, 0, sent, num, in, 1, COHORT__NO_STEP);
    end = cohort__levels_append_party(
        levels,
        &(struct cohort__party){.num = num,
                                .this_rank = place,
                                .sites = cohort__machine_order(levels->machine),
                                .row = row},
        &(struct cohort__tier_part){.collective = COHORT__ALL_TO_ALL,
                                    .phase = COHORT__LEVELS_TOP,
                                    .bytes = 1,
                                    .in = sent,
                                    .out = received},
        end);
    route(levels, row->replicates, COHORT__BY_PLACE, place, out, 1, received, num, end);
}

cohort_status cohort__sparse_build(const struct cohort__algorithm *row,
                                   const struct cohort__request *request,
                                   struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    cohort_status status = cohort__plan_builder_create(&builder, "all_to_all_sparse",
                                                       request->num_sites, request->this_site);
    if (status)
        return status;
    struct cohort__levels levels = {
        .builder = builder, .request = request, .machine = request->machine};
    /* The tiers are those of the levels that are used, and the other rows use none. */
    if (row->stages)
        cohort__levels_init(&levels, builder, request);
    if (row->shared)
        append_shared(&levels);
    else if (row->stages)
        append_levels(&levels);
    else
        append_flat(&levels, row);
    return cohort__plan_finish(builder, ret_plan);
}

const struct cohort__algorithm *cohort__sparse_row(const struct cohort__request *request)
{
    return request->can_meet                 ? cohort__algorithm_find(COHORT__ALL_TO_ALL, "shared")
           : cohort__levels_accepts(request) ? cohort__algorithm_find(COHORT__ALL_TO_ALL, "levels")
                                             : NULL;
}
