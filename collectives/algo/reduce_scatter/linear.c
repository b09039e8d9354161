/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce-scatter, linear. In the i-th of N-1 rounds a site sends to the i-th site after it the
 * block that is for that site. Each site reduces strictly in the order of the sites, as in
 * reduce/linear.c.
 * Cost: (t_s + (t_w + t_r) m)(N-1): a site that gets the block of site 0 last reduces all of them
 * after that. TMP: as the root of reduce/linear.c.
 * Source: folklore; the direct exchange. */
#include "collectives/algo/pattern/subplans.h"

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/wrap.h"

enum { PHASE = 1, TAG = 0 };

uint32_t cohort__reduce_scatter_direct(struct cohort__plan_builder *builder,
                                       const struct cohort__request *request,
                                       const struct cohort__vector *in, uint32_t result)
{
    uint32_t num_sites = request->num_sites;
    uint32_t this_site = request->this_site;
    struct cohort__request reduce = {.num_sites = num_sites,
                                     .this_site = this_site,
                                     .root = this_site,
                                     .bytes = cohort__vector_bytes(in, this_site, 1)};
    uint32_t own = cohort__vector_block(builder, in, this_site, 1);
    uint32_t end = cohort__reduce_linear_append(builder, &reduce, own, result);
    for (uint32_t round = 1; round < num_sites; round++) {
        uint32_t target = cohort__wrap_after(this_site, round, num_sites);
        uint32_t block = cohort__vector_block(builder, in, target, 1);
        cohort__plan_send(builder, PHASE, target, TAG, &block, 1);
    }
    return end;
}

static double memory_of(const struct cohort__vector *in, uint32_t piece)
{
    enum { ALIGNMENT = 64 };
    size_t bytes = cohort__vector_bytes(in, piece, 1);
    return cohort__reduce_buffers(bytes, in->num_pieces - 1) * (double)(bytes + ALIGNMENT);
}

/* The first piece is the largest and the last one the smallest. There may be more buffers for
 * smaller pieces, so either may need more memory. */
struct cohort__cost cohort__reduce_scatter_direct_cost(const struct cohort__vector *in)
{
    double size = (double)cohort__vector_bytes(in, 0, 1);
    double largest = memory_of(in, 0), smallest = memory_of(in, in->num_pieces - 1);
    double others = in->num_pieces - 1.0;
    return (struct cohort__cost){.startups = others,
                                 .bytes = others * size,
                                 .reduced = others * size,
                                 .messages = in->num_pieces * others,
                                 .moved = others * (double)in->bytes,
                                 .combined = others * (double)in->bytes,
                                 .memory = largest > smallest ? largest : smallest};
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__vector in =
        cohort__vector_of_blocks(request, COHORT__SPACE_IN, request->in_parts);
    size_t bytes = cohort__vector_bytes(&in, request->this_site, 1);
    uint32_t result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, bytes);
    cohort__reduce_scatter_direct(builder, request, &in, result);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__vector in = cohort__vector_of_blocks(request, COHORT__SPACE_IN, NULL);
    return cohort__reduce_scatter_direct_cost(&in);
}

const struct cohort__algorithm cohort__reduce_scatter_linear = {
    .collective = COHORT__REDUCE_SCATTER,
    .name = "linear",
    .ragged = true,
    .ordered = true,
    .build = build,
    .cost = cost,
};
