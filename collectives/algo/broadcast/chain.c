/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcast, chain: from the root to the next site, from there to the next one, and so on. It goes
 * in segments, see chain.h, so that all links are busy at the same time. A segment's number is its
 * tag.
 * Cost: (t_s + t_w m / S) (N - 2 + S) with S segments. TMP: none.
 * Source: folklore; the pipelined linear tree of MPICH and Open MPI. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/chain.h"

enum { PHASE = 1 };

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    uint32_t num_sites = request->num_sites;
    uint32_t this_site = request->this_site;
    uint32_t before = this_site > 0 ? this_site - 1 : num_sites - 1;
    uint32_t next = this_site + 1 < num_sites ? this_site + 1 : 0;
    bool is_root = this_site == request->root;
    struct cohort__chain chain = cohort__chain_make(request, 1, num_sites - 1);
    for (uint32_t i = 0; i < chain.num_segments; i++) {
        uint32_t recv = COHORT__NO_STEP;
        uint32_t block = cohort__chain_segment(
            builder, &chain, is_root ? COHORT__SPACE_IN : COHORT__SPACE_OUT, 0, i);
        if (!is_root)
            recv = cohort__plan_recv(builder, PHASE, before, i, &block, 1);
        if (next == request->root)
            continue;
        uint32_t send = cohort__plan_send(builder, PHASE, next, i, &block, 1);
        cohort__plan_after(builder, send, recv);
    }
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__chain chain = cohort__chain_make(request, 1, request->num_sites - 1);
    return cohort__chain_cost(&chain);
}

const struct cohort__algorithm cohort__broadcast_chain = {
    .collective = COHORT__BROADCAST,
    .name = "chain",
    .build = build,
    .cost = cost,
};
