/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/all_to_all_phases.h"

#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/tree.h"

struct cohort__range cohort__all_to_all_group(const struct cohort__all_to_all *self, uint32_t index)
{
    struct cohort__range all = {.first = 0, .count = self->request->num_sites};
    return cohort__partition_group(all, self->request->arity, index);
}

/* Below a representative, columns arrive only after the rows there have been sent. So both fit in
 * the same place. */
static void layouts_init(struct cohort__all_to_all *self)
{
    uint32_t row = cohort__plan_range(self->builder, COHORT__SPACE_IN, 0, self->row_bytes);
    uint32_t column = cohort__plan_range(self->builder, COHORT__SPACE_OUT, 0, self->row_bytes);
    self->rows = cohort__layout_in_tmp(self->builder, &self->tree, row, self->row_bytes);
    self->columns = self->rows;
    if (self->is_representative)
        self->columns = cohort__layout_in_tmp(self->builder, &self->tree, column, self->row_bytes);
    self->columns.own = column;
}

void cohort__all_to_all_init(struct cohort__all_to_all *self, const struct cohort__request *request,
                             struct cohort__plan_builder *builder)
{
    struct cohort__range all = {.first = 0, .count = request->num_sites};
    *self = (struct cohort__all_to_all){
        .request = request,
        .builder = builder,
        .num_groups = cohort__partition_count(all.count, request->arity),
        .this_group = cohort__partition_find(all, request->arity, request->this_site),
        .row_bytes = request->num_sites * request->bytes};
    self->group = cohort__all_to_all_group(self, self->this_group);
    self->is_representative = self->group.first == request->this_site;
    cohort__tree_init(&self->tree, self->group, request->arity, self->group.first,
                      request->this_site);
    layouts_init(self);
}

uint32_t cohort__all_to_all_gather(struct cohort__all_to_all *self)
{
    return cohort__gather_up(self->builder, &self->tree, &self->rows, COHORT__ALL_TO_ALL_GATHER,
                             COHORT__NO_STEP);
}

uint32_t cohort__all_to_all_row_pieces(struct cohort__all_to_all *self, struct cohort__range range)
{
    size_t bytes = self->request->bytes;
    struct cohort__block pieces = {.space = self->rows.space,
                                   .count = self->group.count - 1,
                                   .offset = self->rows.offset + range.first * bytes,
                                   .bytes = range.count * bytes,
                                   .stride = self->row_bytes};
    return cohort__plan_block(self->builder, pieces);
}

void cohort__all_to_all_compose(struct cohort__plan_builder *builder,
                                const struct cohort__request *request,
                                cohort__all_to_all_exchange *exchange)
{
    struct cohort__all_to_all self;
    cohort__all_to_all_init(&self, request, builder);
    uint32_t after = cohort__all_to_all_gather(&self);
    if (self.is_representative)
        after = exchange(&self, after);
    else if (!cohort__tree_has_children(&self.tree))
        after = COHORT__NO_STEP; /* rows are sent from IN, the column goes to OUT */
    cohort__scatter_down(builder, &self.tree, &self.columns, COHORT__ALL_TO_ALL_SCATTER, after);
}

/* The top-level groups have two sizes: *RET_NUM_LARGER of them have *RET_SIZE + 1 sites. */
static void group_sizes(const struct cohort__request *request, uint32_t *ret_size,
                        uint32_t *ret_num_larger, uint32_t *ret_num_groups)
{
    *ret_num_groups = cohort__partition_count(request->num_sites, request->arity);
    *ret_size = request->num_sites / *ret_num_groups;
    *ret_num_larger = request->num_sites % *ret_num_groups;
}

struct cohort__cost cohort__all_to_all_subtrees_cost(const struct cohort__request *request)
{
    uint32_t size, num_larger, num_groups;
    size_t row_bytes = request->num_sites * request->bytes;
    group_sizes(request, &size, &num_larger, &num_groups);
    struct cohort__cost smaller = cohort__cost_at_once(
        cohort__cost_scatter(size, request->arity, row_bytes), num_groups - (double)num_larger);
    struct cohort__cost larger =
        cohort__cost_at_once(cohort__cost_scatter(size + 1, request->arity, row_bytes), num_larger);
    struct cohort__cost cost = num_larger > 0 ? larger : smaller;
    cost.messages = smaller.messages + larger.messages;
    cost.moved = smaller.moved + larger.moved;
    cost.memory = 2 * cohort__cost_tmp(1, (size - (num_larger == 0)) * row_bytes);
    return cost;
}

double cohort__all_to_all_between_groups(const struct cohort__request *request)
{
    uint32_t size, num_larger, num_groups;
    double num_sites = request->num_sites;
    group_sizes(request, &size, &num_larger, &num_groups);
    double smaller = (num_groups - num_larger) * (double)size * size;
    double larger = num_larger * (size + 1.0) * (size + 1.0);
    return num_sites * num_sites - smaller - larger;
}
