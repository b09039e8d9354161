/* SPDX-License-Identifier: Apache-2.0 */
/* Exchange, linear: a message to its site for each part that is sent, and one from its site for
 * each part that is received. The k-th message to a site is the k-th one received there. Parts for
 * this site itself are copied. No step waits for another one.
 * Cost, seen from this site: max(s, r) messages with s parts that it sends and r that it receives,
 * and the larger one of the sums of their bytes; the totals are these times N. TMP: none.
 * Source: neighbourhood collectives of MPI-3, MPI_Neighbor_alltoallw. */
#include <stdlib.h>

#include "collectives/algo/table.h"

enum { PHASE = 1 };

static uint32_t part_block(struct cohort__plan_builder *builder, enum cohort__space space,
                           const struct cohort__part *part)
{
    return cohort__plan_range(builder, space, part->offset, part->bytes);
}

static void recvs_append(struct cohort__plan_builder *builder,
                         const struct cohort__request *request, uint32_t *next_tags)
{
    for (uint32_t i = 0; i < request->num_out_parts; i++) {
        const struct cohort__part *part = &request->out_parts[i];
        uint32_t block = part_block(builder, COHORT__SPACE_OUT, part);
        if (part->site != request->this_site)
            cohort__plan_recv(builder, PHASE, part->site, next_tags[part->site]++, &block, 1);
    }
}

static void sends_append(struct cohort__plan_builder *builder,
                         const struct cohort__request *request, uint32_t *next_tags)
{
    for (uint32_t i = 0; i < request->num_in_parts; i++) {
        const struct cohort__part *part = &request->in_parts[i];
        uint32_t block = part_block(builder, COHORT__SPACE_IN, part);
        if (part->site != request->this_site)
            cohort__plan_send(builder, PHASE, part->site, next_tags[part->site]++, &block, 1);
    }
}

/* There are as many such parts in IN as in OUT: cohort__algorithm_refuses has checked that. */
static void copies_append(struct cohort__plan_builder *builder,
                          const struct cohort__request *request)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < request->num_in_parts; i++) {
        if (request->in_parts[i].site != request->this_site)
            continue;
        while (request->out_parts[k].site != request->this_site)
            k++;
        uint32_t to = part_block(builder, COHORT__SPACE_OUT, &request->out_parts[k++]);
        uint32_t from = part_block(builder, COHORT__SPACE_IN, &request->in_parts[i]);
        cohort__plan_copy(builder, PHASE, to, from);
    }
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    uint32_t num_sites = request->num_sites;
    cohort_status status =
        cohort__plan_builder_create(&builder, "exchange_linear", num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    uint32_t *next_tags = calloc(2 * (size_t)num_sites, sizeof(*next_tags));
    if (next_tags) {
        recvs_append(builder, request, next_tags);
        sends_append(builder, request, next_tags + num_sites);
        copies_append(builder, request);
    } else {
        cohort__plan_builder_fail(builder);
    }
    free(next_tags);
    cohort__plan_set_gaps(builder);
    return cohort__plan_finish(builder, ret_plan);
}

/* How many of PARTS are for other sites, and their bytes. */
static uint32_t count_others(const struct cohort__request *request,
                             const struct cohort__part *parts, uint32_t num_parts,
                             double *ret_bytes)
{
    uint32_t num_others = 0;
    *ret_bytes = 0;
    for (uint32_t i = 0; i < num_parts; i++) {
        if (parts[i].site == request->this_site)
            continue;
        num_others++;
        *ret_bytes += (double)parts[i].bytes;
    }
    return num_others;
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    double in_bytes, out_bytes;
    uint32_t num_in = count_others(request, request->in_parts, request->num_in_parts, &in_bytes);
    uint32_t num_out =
        count_others(request, request->out_parts, request->num_out_parts, &out_bytes);
    struct cohort__cost cost = {.startups = num_in > num_out ? num_in : num_out,
                                .bytes = in_bytes > out_bytes ? in_bytes : out_bytes};
    cost.messages = cost.startups * request->num_sites;
    cost.moved = cost.bytes * request->num_sites;
    return cost;
}

const struct cohort__algorithm cohort__exchange_linear = {
    .collective = COHORT__EXCHANGE,
    .name = "linear",
    .ragged = true,
    .build = build,
    .cost = cost,
};
