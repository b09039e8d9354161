/* SPDX-License-Identifier: Apache-2.0 */
/* Gather, linear: all others send their block to the root, which receives each one in its place.
 * And scatter, linear, which is the same with messages the other way. Blocks may have different
 * sizes.
 * Cost: 1 step of N-1 messages at the root, N-1 blocks through its link. TMP: none.
 * Source: folklore; the flat tree of every MPI. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/subplans.h"

enum { PHASE = 1, TAG = 0, OWN = 0, FIRST = 1 };

/* A message from this site, or if RECEIVES to it. */
static void pass(struct cohort__plan_builder *builder, uint32_t rank, uint32_t block, bool receives)
{
    if (receives)
        cohort__plan_recv(builder, PHASE, rank, TAG, &block, 1);
    else
        cohort__plan_send(builder, PHASE, rank, TAG, &block, 1);
}

static void root_append(struct cohort__plan_builder *builder, const struct cohort__request *request,
                        const uint32_t *weights, bool gathers)
{
    size_t offset = 0;
    if (gathers && request->out_parts)
        cohort__plan_set_gaps(builder);
    for (uint32_t rank = 0; rank < request->num_sites; rank++) {
        struct cohort__part part =
            gathers ? cohort__request_out(request, rank) : cohort__request_in(request, rank);
        if (weights) {
            part.offset = offset;
            part.bytes *= weights[rank];
            offset += part.bytes;
        }
        cohort__plan_range(builder, gathers ? COHORT__SPACE_OUT : COHORT__SPACE_IN, part.offset,
                           part.bytes);
    }
    for (uint32_t rank = 0; rank < request->num_sites; rank++) {
        uint32_t block = FIRST + rank;
        if (rank == request->root)
            cohort__plan_copy(builder, PHASE, gathers ? block : OWN, gathers ? OWN : block);
        else
            pass(builder, rank, block, gathers);
    }
}

static void append(struct cohort__plan_builder *builder, const struct cohort__request *request,
                   const uint32_t *weights, bool gathers)
{
    bool is_root = request->this_site == request->root;
    uint32_t weight = weights ? weights[is_root ? request->this_site : 0] : 1;
    /* If blocks have different sizes, only the root has the parts. The others know their own
     * size. */
    size_t bytes = !is_root  ? request->bytes
                   : gathers ? cohort__request_out(request, request->root).bytes
                             : cohort__request_in(request, request->root).bytes;
    uint32_t own = cohort__plan_range(builder, gathers ? COHORT__SPACE_IN : COHORT__SPACE_OUT, 0,
                                      bytes * weight);
    if (is_root)
        root_append(builder, request, weights, gathers);
    else
        pass(builder, request->root, own, !gathers);
}

cohort_status cohort__rooted_linear_subplan(const struct cohort__request *request,
                                            const uint32_t *weights, struct cohort__plan **ret_plan)
{
    bool gathers = request->collective == COHORT__GATHER;
    struct cohort__plan_builder *builder = NULL;
    cohort_status status =
        cohort__plan_builder_create(&builder, gathers ? "gather_linear" : "scatter_linear",
                                    request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    append(builder, request, weights, gathers);
    return cohort__plan_finish(builder, ret_plan);
}

static void gather(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    append(builder, request, NULL, true);
}

static void scatter(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    append(builder, request, NULL, false);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    return cohort__cost_scatter(request->num_sites, request->num_sites, request->bytes);
}

const struct cohort__algorithm cohort__gather_linear = {
    .collective = COHORT__GATHER,
    .name = "linear",
    .ragged = true,
    .build = gather,
    .cost = cost,
};

const struct cohort__algorithm cohort__scatter_linear = {
    .collective = COHORT__SCATTER,
    .name = "linear",
    .ragged = true,
    .build = scatter,
    .cost = cost,
};
