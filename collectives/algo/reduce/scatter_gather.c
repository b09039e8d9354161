/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce, scatter and gather. The vector is reduced in pieces by halving, see halving.h (phases 1
 * and 2). The pieces are gathered to the root with the same steps in reverse (phase 3).
 * Cost for a power of two: 2 t_s log2 N + 2 t_w m (N-1) / N + t_r m (N-1) / N; else the fold adds
 * t_s + t_w m + t_r m. TMP: two vectors if a site has folded, else one and a half; one at the root.
 * Source: Rabenseifner's reduce, as described by Thakur, Rabenseifner and Gropp (IJHPCA 2005), with
 * the distances in the reverse order. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/halving.h"

enum { GATHER_PHASE = 3, TAG = 0 };

static void gather_append(struct cohort__plan_builder *builder,
                          const struct cohort__halving *halving)
{
    uint32_t differs = halving->rank ^ cohort__halving_rank(halving, halving->request->root);
    uint32_t recvs[COHORT__HALVING_MAX_STEPS], num_recvs = 0;
    for (uint32_t i = halving->num_steps; i-- > 0;) {
        uint32_t peer = cohort__halving_partner(halving, i);
        bool sends = differs >> i & 1;
        uint32_t block =
            cohort__halving_sum(halving, builder, sends ? halving->kept[i] : halving->given[i]);
        if (!sends) {
            recvs[num_recvs] = cohort__plan_recv(builder, GATHER_PHASE, peer, TAG, &block, 1);
            cohort__plan_after(builder, recvs[num_recvs++], halving->is_given[i]);
            continue;
        }
        uint32_t send = cohort__plan_send(builder, GATHER_PHASE, peer, TAG, &block, 1);
        cohort__plan_after(builder, send, halving->end);
        for (uint32_t k = 0; k < num_recvs; k++)
            cohort__plan_after(builder, send, recvs[k]);
        return;
    }
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    struct cohort__halving halving;
    cohort_status status = cohort__plan_builder_create(&builder, "reduce_scatter_gather",
                                                       request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    if (request->num_sites == 1) {
        uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
        uint32_t result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
        cohort__plan_copy(builder, GATHER_PHASE, result, own);
        return cohort__plan_finish(builder, ret_plan);
    }
    cohort__halving_init(&halving, request);
    cohort__halving_append(&halving, builder, request->this_site == request->root);
    if (halving.folds_to == request->this_site)
        gather_append(builder, &halving);
    return cohort__plan_finish(builder, ret_plan);
}

/* The bytes of all messages of the gather. In step s, the ranks whose bit s is not that of the root
 * send. They send halves of all ranges of that step: all of the lower ones, or all of the upper
 * ones. */
static double gather_moved(const struct cohort__halving *halving,
                           const struct cohort__request *request)
{
    size_t element = cohort__request_element(request);
    size_t num_elements = request->bytes / element;
    uint32_t root_rank = cohort__halving_rank(halving, request->root);
    size_t num_larger = num_elements % halving->num_ranks; /* the first pieces */
    double elements = 0;
    for (uint32_t step = 0; step < halving->num_steps; step++) {
        uint32_t range = halving->num_ranks >> step, half = range / 2;
        size_t rest = num_larger % range;
        size_t larger_low = num_larger / range * half + (rest < half ? rest : half);
        bool is_low = root_rank >> step & 1;
        elements += (double)(num_elements / halving->num_ranks) * (halving->num_ranks / 2.0) +
                    (double)(is_low ? larger_low : num_larger - larger_low);
    }
    return elements * (double)element;
}

static double memory(const struct cohort__halving *halving, const struct cohort__request *request)
{
    bool root_folds = request->root < 2 * halving->num_pairs;
    bool other_folds = halving->num_pairs > root_folds;
    double at_root = cohort__halving_memory(request, root_folds, true);
    double elsewhere = cohort__halving_memory(request, other_folds, false);
    return at_root > elsewhere ? at_root : elsewhere;
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__halving halving; /* of the root */
    struct cohort__request at_root = *request;
    struct cohort__cost cost = cohort__halving_cost(request);
    struct cohort__cost gather = {0};
    if (request->num_sites == 1)
        return cost;
    at_root.this_site = request->root;
    cohort__halving_init(&halving, &at_root);
    gather.startups = halving.num_steps;
    for (uint32_t i = 0; i < halving.num_steps; i++)
        gather.bytes += (double)cohort__halving_bytes(&halving, halving.given[i]);
    gather.messages = halving.num_ranks - 1.0;
    gather.moved = gather_moved(&halving, request);
    gather.memory = memory(&halving, request);
    return cohort__cost_then(cost, gather);
}

const struct cohort__algorithm cohort__reduce_scatter_gather = {
    .collective = COHORT__REDUCE,
    .name = "scatter_gather",
    .build = build,
    .cost = cost,
};
