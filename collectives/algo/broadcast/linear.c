/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcast, linear: the root sends its block to all others.
 * Cost: 1 step of N-1 messages out of the root, N-1 blocks through its link. TMP: none.
 * Source: folklore; the flat tree of every MPI. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/subplans.h"

enum { PHASE = 1, TAG = 0 };

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    bool is_root = request->this_site == request->root;
    uint32_t block = cohort__plan_range(builder, is_root ? COHORT__SPACE_IN : COHORT__SPACE_OUT, 0,
                                        request->bytes);
    if (!is_root)
        cohort__plan_recv(builder, PHASE, request->root, TAG, &block, 1);
    for (uint32_t rank = 0; is_root && rank < request->num_sites; rank++)
        if (rank != request->root)
            cohort__plan_send(builder, PHASE, rank, TAG, &block, 1);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    return cohort__cost_broadcast(request->num_sites, request->num_sites, request->bytes);
}

const struct cohort__algorithm cohort__broadcast_linear = {
    .collective = COHORT__BROADCAST,
    .name = "linear",
    .hierarchical = false,
    .build = build,
    .cost = cost,
};
