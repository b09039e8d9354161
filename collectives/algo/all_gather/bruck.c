/* SPDX-License-Identifier: Apache-2.0 */
/* All-gather, Bruck. The sites are a circle. Before step k a site has 2^k blocks: its own and those
 * after it. It sends them to the site 2^k before it, and receives as many from the site 2^k after
 * it. In the last step it receives those that are missing. Blocks are received in their places, so
 * nothing has to be rotated at the end.
 * Cost: t_s ceil(log N) + t_w m (N-1). TMP: none.
 * Source: Bruck et al., Efficient algorithms for all-to-all communications in multiport
 * message-passing systems (TPDS 1997). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/wrap.h"

enum { PHASE = 1, TAG = 0 };

/* COUNT blocks from site FIRST on, round the circle, as one or two ranges. Returns how many
 * ranges. */
static uint32_t circle_append(struct cohort__plan_builder *builder,
                              const struct cohort__request *request, uint32_t first, uint32_t count,
                              uint32_t *ret_blocks)
{
    uint32_t before_end = request->num_sites - first;
    uint32_t in_front = count < before_end ? count : before_end;
    ret_blocks[0] = cohort__plan_range(builder, COHORT__SPACE_OUT, first * request->bytes,
                                       in_front * request->bytes);
    if (in_front == count)
        return 1;
    ret_blocks[1] =
        cohort__plan_range(builder, COHORT__SPACE_OUT, 0, (count - in_front) * request->bytes);
    return 2;
}

static uint32_t count_blocks(uint32_t num_sites, uint32_t step)
{
    uint32_t missing = num_sites - (1U << step);
    return missing < 1U << step ? missing : 1U << step;
}

static void steps_append(struct cohort__plan_builder *builder,
                         const struct cohort__request *request)
{
    uint32_t num_sites = request->num_sites;
    uint32_t this_site = request->this_site;
    uint32_t num_steps = cohort__log2_ceiling(num_sites);
    uint32_t blocks[2];
    for (uint32_t k = 0; k < num_steps; k++) {
        uint32_t peer = cohort__wrap_after(this_site, 1U << k, num_sites);
        uint32_t num_blocks =
            circle_append(builder, request, peer, count_blocks(num_sites, k), blocks);
        cohort__plan_recv(builder, PHASE, peer, TAG, blocks, num_blocks);
    }
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    circle_append(builder, request, this_site, 1, blocks);
    uint32_t copy = cohort__plan_copy(builder, PHASE, blocks[0], own);
    for (uint32_t k = 0; k < num_steps; k++) {
        uint32_t peer = cohort__wrap_before(this_site, 1U << k, num_sites);
        uint32_t num_blocks =
            circle_append(builder, request, this_site, count_blocks(num_sites, k), blocks);
        uint32_t send =
            cohort__plan_send(builder, PHASE, peer, TAG, k == 0 ? &own : blocks, num_blocks);
        for (uint32_t recv = 0; recv < k; recv++)
            cohort__plan_after(builder, send, recv);
        if (k > 0)
            cohort__plan_after(builder, send, copy);
    }
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    steps_append(builder, request);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    double num_steps = cohort__log2_ceiling(request->num_sites);
    double others = (request->num_sites - 1.0) * (double)request->bytes;
    return (struct cohort__cost){.startups = num_steps,
                                 .bytes = others,
                                 .messages = request->num_sites * num_steps,
                                 .moved = request->num_sites * others};
}

const struct cohort__algorithm cohort__all_gather_bruck = {
    .collective = COHORT__ALL_GATHER,
    .name = "bruck",
    .build = build,
    .cost = cost,
};
