/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, hierarchical, ragged: see all_to_all_phases.h. In phase 2 R_k sends to R_d the
 * sub-matrix of its rows and G_d's columns as it is: |G_k| x |G_d| blocks, row by row, a piece of
 * each row. R_d receives each row in pieces, a block for each of its columns.
 * Cost, with m groups of g sites: 2 (N-m) + m (m-1) messages instead of N (N-1); a representative
 * moves O(g N) blocks. TMP: at R_k 2 (g-1) N blocks, at representatives below it the rows of their
 * subtrees, except their own.
 * Source: HPX discussion #7200; Träff, Rougier (EuroMPI 2014); Chochia et al. (EuroMPI/USA 2022),
 * matrix block aggregation. */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/all_to_all_phases.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/subplans.h"

/* What embedding the exchange needs. */
struct arrays {
    uint32_t *sites;   /* for each group */
    uint32_t *weights; /* for each group */
    uint32_t *to;      /* two blocks for each group: of this site's own row, of the other rows */
    uint32_t *from;    /* two blocks for each site: of the own column, of the other columns */
    /* For each group what goes there, then what comes from there. */
    struct cohort__block_list *lists;
};

static bool arrays_init(struct arrays *arrays, const struct cohort__all_to_all *self)
{
    size_t num_groups = self->num_groups;
    *arrays = (struct arrays){
        .sites = calloc(num_groups, sizeof(*arrays->sites)),
        .weights = calloc(num_groups, sizeof(*arrays->weights)),
        .to = calloc(2 * num_groups, sizeof(*arrays->to)),
        .from = calloc(2 * (size_t)self->request->num_sites, sizeof(*arrays->from)),
        .lists = calloc(2 * num_groups, sizeof(*arrays->lists)),
    };
    return arrays->sites && arrays->weights && arrays->to && arrays->from && arrays->lists;
}

static void arrays_fini(struct arrays *arrays)
{
    free(arrays->sites);
    free(arrays->weights);
    free(arrays->to);
    free(arrays->from);
    free(arrays->lists);
}

/* Where row SITE of our columns is received: block SITE of each column. Returns how many blocks. */
static uint32_t row_of_columns(struct cohort__all_to_all *self, uint32_t site, uint32_t *ret_blocks)
{
    size_t bytes = self->request->bytes;
    struct cohort__block others = {.space = self->columns.space,
                                   .count = self->group.count - 1,
                                   .offset = self->columns.offset + site * bytes,
                                   .bytes = bytes,
                                   .stride = self->row_bytes};
    ret_blocks[0] = cohort__plan_range(self->builder, COHORT__SPACE_OUT, site * bytes, bytes);
    if (others.count == 0)
        return 1;
    ret_blocks[1] = cohort__plan_block(self->builder, others);
    return 2;
}

static void arrays_fill(struct arrays *arrays, struct cohort__all_to_all *self)
{
    size_t bytes = self->request->bytes;
    for (uint32_t index = 0; index < self->num_groups; index++) {
        struct cohort__range group = cohort__all_to_all_group(self, index);
        struct cohort__block_list to = {.blocks = &arrays->to[2 * index], .num_blocks = 1};
        struct cohort__block_list from = {.blocks = &arrays->from[2 * group.first]};
        arrays->sites[index] = group.first;
        arrays->weights[index] = group.count;
        arrays->to[2 * index] = cohort__plan_range(self->builder, COHORT__SPACE_IN,
                                                   group.first * bytes, group.count * bytes);
        if (self->group.count > 1)
            arrays->to[2 * index + to.num_blocks++] = cohort__all_to_all_row_pieces(self, group);
        for (uint32_t i = 0; i < group.count; i++)
            from.num_blocks += row_of_columns(self, group.first + i,
                                              &arrays->from[2 * group.first + from.num_blocks]);
        arrays->lists[index] = to;
        arrays->lists[self->num_groups + index] = from;
    }
}

static uint32_t exchange(struct cohort__all_to_all *self, uint32_t after)
{
    struct cohort__request request = {.num_sites = self->num_groups,
                                      .this_site = self->this_group,
                                      .bytes = self->request->bytes};
    struct cohort__plan *subplan = NULL;
    struct arrays arrays;
    if (arrays_init(&arrays, self)) {
        arrays_fill(&arrays, self);
        cohort__all_to_all_linear_subplan(&request, arrays.weights, &subplan);
    }
    if (subplan) {
        struct cohort__embedding embedding = {.sites = arrays.sites,
                                              .block_map = arrays.lists,
                                              .phase = COHORT__ALL_TO_ALL_EXCHANGE,
                                              .after = after,
                                              .recv_after = COHORT__NO_STEP};
        after = cohort__plan_embed(self->builder, subplan, &embedding);
    } else {
        cohort__plan_builder_fail(self->builder);
    }
    cohort__plan_unref(subplan);
    arrays_fini(&arrays);
    return after;
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    cohort__all_to_all_compose(builder, request, exchange);
}

/* The representatives of the largest groups are busiest in all phases. */
static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__cost phase = cohort__all_to_all_subtrees_cost(request);
    struct cohort__range all = {.first = 0, .count = request->num_sites};
    double num_groups = cohort__partition_count(request->num_sites, request->arity);
    double largest = cohort__partition_group(all, request->arity, 0).count;
    double bytes = (double)request->bytes;
    struct cohort__cost exchange = {.startups = num_groups - 1,
                                    .bytes = largest * (request->num_sites - largest) * bytes,
                                    .messages = num_groups * (num_groups - 1),
                                    .moved = cohort__all_to_all_between_groups(request) * bytes};
    struct cohort__cost cost = cohort__cost_then(cohort__cost_then(phase, exchange), phase);
    cost.memory = phase.memory;
    return cost;
}

const struct cohort__algorithm cohort__all_to_all_hierarchical = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "hierarchical",
    .hierarchical = true,
    .build = build,
    .cost = cost,
};
