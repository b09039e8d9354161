/* SPDX-License-Identifier: Apache-2.0 */
/* All-gather, hypercube, by doubling. In step k a site exchanges all 2^k blocks that it has with
 * the site whose number differs in bit k. These are the blocks of one subcube, and one range of
 * OUT.
 * Cost: t_s log N + t_w m (N-1), N a power of two. TMP: none.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"

enum { PHASE = 1, TAG = 0 };

static uint32_t range_append(struct cohort__plan_builder *builder,
                             const struct cohort__request *request, uint32_t first, uint32_t count)
{
    return cohort__plan_range(builder, COHORT__SPACE_OUT, first * request->bytes,
                              count * request->bytes);
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    uint32_t this_site = request->this_site;
    uint32_t num_steps = cohort__log2_floor(request->num_sites);
    for (uint32_t k = 0; k < num_steps; k++) {
        uint32_t partner = this_site ^ 1U << k;
        uint32_t block = range_append(builder, request, partner >> k << k, 1U << k);
        cohort__plan_recv(builder, PHASE, partner, TAG, &block, 1);
    }
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    uint32_t copy =
        cohort__plan_copy(builder, PHASE, range_append(builder, request, this_site, 1), own);
    for (uint32_t k = 0; k < num_steps; k++) {
        uint32_t block =
            k == 0 ? own : range_append(builder, request, this_site >> k << k, 1U << k);
        uint32_t send = cohort__plan_send(builder, PHASE, this_site ^ 1U << k, TAG, &block, 1);
        for (uint32_t recv = 0; recv < k; recv++)
            cohort__plan_after(builder, send, recv);
        if (k > 0)
            cohort__plan_after(builder, send, copy);
    }
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    double num_steps = cohort__log2_floor(request->num_sites);
    double others = (request->num_sites - 1.0) * (double)request->bytes;
    return (struct cohort__cost){.startups = num_steps,
                                 .bytes = others,
                                 .messages = request->num_sites * num_steps,
                                 .moved = request->num_sites * others};
}

const struct cohort__algorithm cohort__all_gather_hypercube = {
    .collective = COHORT__ALL_GATHER,
    .name = "hypercube",
    .needs = cohort__needs_power_of_two,
    .accepts = cohort__is_power_of_two,
    .build = build,
    .cost = cost,
};
