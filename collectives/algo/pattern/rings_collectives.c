/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/alone.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/rings.h"

enum { UP = 1, DOWN = 3 };

static struct cohort__rings rings_of(const struct cohort__request *request,
                                     const struct cohort__mesh *mesh, unsigned phase)
{
    return (struct cohort__rings){.mesh = *mesh, .this_site = request->this_site, .phase = phase};
}

cohort_status cohort__all_gather_rings(const struct cohort__request *request,
                                       const struct cohort__mesh *mesh, const char *name,
                                       struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    struct cohort__rings rings = rings_of(request, mesh, UP);
    struct cohort__vector all =
        cohort__vector_of_blocks(request, COHORT__SPACE_OUT, request->out_parts);
    cohort_status status =
        cohort__plan_builder_create(&builder, name, request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    if (request->out_parts)
        cohort__plan_set_gaps(builder);
    uint32_t place = cohort__vector_block(builder, &all, request->this_site, 1);
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0,
                                      cohort__vector_bytes(&all, request->this_site, 1));
    uint32_t placed = cohort__plan_copy(builder, UP, place, own);
    cohort__rings_all_gather(builder, &rings, &all, own, COHORT__NO_STEP, placed);
    return cohort__plan_finish(builder, ret_plan);
}

cohort_status cohort__reduce_scatter_rings(const struct cohort__request *request,
                                           const struct cohort__mesh *mesh, const char *name,
                                           struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    struct cohort__rings rings = rings_of(request, mesh, UP);
    struct cohort__vector in =
        cohort__vector_of_blocks(request, COHORT__SPACE_IN, request->in_parts);
    cohort_status status =
        cohort__plan_builder_create(&builder, name, request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    uint32_t result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0,
                                         cohort__vector_bytes(&in, request->this_site, 1));
    if (request->num_sites > 1)
        cohort__rings_reduce_scatter(builder, &rings, &in, NULL, result);
    else
        cohort__plan_copy(builder, UP, result, cohort__vector_block(builder, &in, 0, 1));
    return cohort__plan_finish(builder, ret_plan);
}

static void all_reduce_append(struct cohort__plan_builder *builder,
                              const struct cohort__request *request,
                              const struct cohort__mesh *mesh)
{
    struct cohort__rings rings = rings_of(request, mesh, UP);
    struct cohort__vector in = cohort__vector_of_cut(request, COHORT__SPACE_IN);
    struct cohort__vector out = cohort__vector_of_cut(request, COHORT__SPACE_OUT);
    uint32_t own = cohort__vector_block(builder, &out, request->this_site, 1);
    uint32_t end = cohort__rings_reduce_scatter(builder, &rings, &in, &out, COHORT__NO_STEP);
    rings.phase = DOWN;
    cohort__rings_all_gather(builder, &rings, &out, own, end, end);
}

cohort_status cohort__all_reduce_rings(const struct cohort__request *request,
                                       const struct cohort__mesh *mesh, const char *name,
                                       struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    cohort_status status =
        cohort__plan_builder_create(&builder, name, request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    if (request->num_sites > 1)
        all_reduce_append(builder, request, mesh);
    else
        cohort__alone_append(builder, request->bytes);
    return cohort__plan_finish(builder, ret_plan);
}

struct cohort__cost cohort__rings_all_gather_cost(const struct cohort__mesh *mesh,
                                                  const struct cohort__vector *all)
{
    struct cohort__cost cost = {0};
    for (uint32_t d = 0; d < mesh->num_dimensions; d++) {
        uint32_t num_steps = mesh->extents[d] - 1;
        cost.startups += num_steps;
        cost.bytes +=
            num_steps * (double)cohort__vector_bytes(all, 0, cohort__mesh_stride(mesh, d));
    }
    cost.messages = all->num_pieces * cost.startups;
    cost.moved = (all->num_pieces - 1.0) * (double)all->bytes;
    return cost;
}

/* Buffers take turns, see cohort__rings_num_buffers. */
static double reduce_scatter_memory(const struct cohort__mesh *mesh,
                                    const struct cohort__vector *in, bool in_place)
{
    enum { ALIGNMENT = 64 };
    uint32_t first = cohort__mesh_last_dimension(mesh);
    double memory = 0;
    for (uint32_t d = 0; d <= first; d++) {
        bool has_result = !in_place && (d == 0 || d == first);
        uint32_t num_blocks = cohort__rings_num_buffers(mesh->extents[d], has_result);
        if (in_place && d == first)
            num_blocks = 0;
        if (!in_place && d == first && d > 0)
            num_blocks++;
        size_t bytes = cohort__vector_bytes(in, 0, cohort__mesh_stride(mesh, d));
        memory += num_blocks * (double)(bytes + ALIGNMENT);
    }
    return memory;
}

struct cohort__cost cohort__rings_reduce_scatter_cost(const struct cohort__mesh *mesh,
                                                      const struct cohort__vector *in,
                                                      bool in_place)
{
    struct cohort__cost cost = cohort__rings_all_gather_cost(mesh, in);
    cost.reduced = cost.bytes;
    cost.combined = cost.moved;
    if (in->num_pieces > 1)
        cost.memory = reduce_scatter_memory(mesh, in, in_place);
    return cost;
}

struct cohort__cost cohort__all_reduce_rings_cost(const struct cohort__request *request,
                                                  const struct cohort__mesh *mesh)
{
    struct cohort__vector vector = cohort__vector_of_cut(request, COHORT__SPACE_IN);
    return cohort__cost_then(cohort__rings_reduce_scatter_cost(mesh, &vector, true),
                             cohort__rings_all_gather_cost(mesh, &vector));
}
