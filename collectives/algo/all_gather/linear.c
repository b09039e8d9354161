/* SPDX-License-Identifier: Apache-2.0 */
/* All-gather, linear: a direct exchange. In the i-th of N-1 rounds a site sends its block to the
 * i-th site after it, and receives from the i-th site before it, each block in its place. Rounds do
 * not wait for each other.
 * Cost: (t_s + t_w m)(N-1). TMP: none.
 * Source: folklore; the "spread" exchange. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/vector.h"
#include "collectives/algo/pattern/wrap.h"

enum { PHASE = 1, TAG = 0 };

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    uint32_t num_sites = request->num_sites;
    uint32_t this_site = request->this_site;
    struct cohort__vector all =
        cohort__vector_of_blocks(request, COHORT__SPACE_OUT, request->out_parts);
    if (request->out_parts)
        cohort__plan_set_gaps(builder);
    for (uint32_t site = 0; site < num_sites; site++)
        cohort__vector_block(builder, &all, site, 1);
    uint32_t own =
        cohort__plan_range(builder, COHORT__SPACE_IN, 0, cohort__vector_bytes(&all, this_site, 1));
    for (uint32_t round = 1; round < num_sites; round++) {
        uint32_t source = cohort__wrap_before(this_site, round, num_sites);
        cohort__plan_recv(builder, PHASE, source, TAG, &source, 1);
    }
    for (uint32_t round = 1; round < num_sites; round++)
        cohort__plan_send(builder, PHASE, cohort__wrap_after(this_site, round, num_sites), TAG,
                          &own, 1);
    cohort__plan_copy(builder, PHASE, this_site, own);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    double rounds = request->num_sites - 1.0;
    double others = rounds * (double)request->bytes;
    return (struct cohort__cost){.startups = rounds,
                                 .bytes = others,
                                 .messages = request->num_sites * rounds,
                                 .moved = request->num_sites * others};
}

const struct cohort__algorithm cohort__all_gather_linear = {
    .collective = COHORT__ALL_GATHER,
    .name = "linear",
    .ragged = true,
    .build = build,
    .cost = cost,
};
