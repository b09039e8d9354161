/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce, chain. Site 0 sends its block to site 1, which reduces its own block to it and sends the
 * result to site 2, and so on. The last site sends to the root, unless it is the root. All goes in
 * segments, see chain.h. The reduction is strictly from the left, for every root. A segment's
 * number is its tag.
 * Cost: (t_s + t_w m / S) (H - 1 + S) + t_r m / S (N - 1) with S segments and H = N hops, one less
 * if the root is the last site. A root in the middle receives everything twice. TMP: NUM_BUFFERS
 * segments, which take turns; none at the root.
 * Source: as broadcast/chain.c, reversed. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/chain.h"
#include "collectives/algo/pattern/cost.h"

enum { PHASE = 1, RESULT_PHASE = 3, NUM_BUFFERS = 4 };

/* Where this site keeps the segments that it receives from the site before it. */
struct store {
    uint32_t num_buffers; /* 0: each segment is in its place in OUT */
    size_t offsets[NUM_BUFFERS];
    uint32_t sends[NUM_BUFFERS]; /* the step after which a buffer may be used again */
};

static struct cohort__chain make(const struct cohort__request *request)
{
    bool ends_at_root = request->root == request->num_sites - 1;
    return cohort__chain_make(request, cohort__request_element(request),
                              request->num_sites - ends_at_root);
}

static uint32_t count_buffers(const struct cohort__chain *chain)
{
    return chain->num_segments < NUM_BUFFERS ? chain->num_segments : NUM_BUFFERS;
}

static void store_init(struct store *store, struct cohort__plan_builder *builder,
                       const struct cohort__chain *chain, bool in_tmp)
{
    *store = (struct store){.num_buffers = in_tmp ? count_buffers(chain) : 0};
    for (uint32_t i = 0; i < store->num_buffers; i++) {
        uint32_t tmp = cohort__plan_tmp(builder, cohort__chain_segment_bytes(chain, 0));
        store->offsets[i] = cohort__plan_get_block(builder, tmp).offset;
        store->sends[i] = COHORT__NO_STEP;
    }
}

/* Receives a segment from the site before and reduces it with this site's own one. Returns the
 * block, and the step after which it is there. */
static uint32_t segment_reduce(struct cohort__plan_builder *builder, struct store *store,
                               const struct cohort__chain *chain, uint32_t source, uint32_t segment,
                               uint32_t own, uint32_t *ret_end)
{
    uint32_t block;
    uint32_t after = COHORT__NO_STEP;
    if (store->num_buffers > 0) {
        uint32_t buffer = segment % store->num_buffers;
        block = cohort__plan_range(builder, COHORT__SPACE_TMP, store->offsets[buffer],
                                   cohort__chain_segment_bytes(chain, segment));
        after = store->sends[buffer];
    } else {
        block = cohort__chain_segment(builder, chain, COHORT__SPACE_OUT, 0, segment);
    }
    uint32_t recv = cohort__plan_recv(builder, PHASE, source, segment, &block, 1);
    cohort__plan_after(builder, recv, after);
    *ret_end = cohort__plan_reduce(builder, PHASE, block, block, own);
    cohort__plan_after(builder, *ret_end, recv);
    return block;
}

static void segment_append(struct cohort__plan_builder *builder,
                           const struct cohort__request *request, struct store *store,
                           const struct cohort__chain *chain, uint32_t segment)
{
    uint32_t this_site = request->this_site;
    uint32_t last = request->num_sites - 1;
    uint32_t end = COHORT__NO_STEP;
    uint32_t block = cohort__chain_segment(builder, chain, COHORT__SPACE_IN, 0, segment);
    if (this_site > 0)
        block = segment_reduce(builder, store, chain, this_site - 1, segment, block, &end);
    if (this_site == last && request->root == last)
        return;
    bool is_result = this_site == last;
    uint32_t send =
        cohort__plan_send(builder, is_result ? RESULT_PHASE : PHASE,
                          is_result ? request->root : this_site + 1, segment, &block, 1);
    cohort__plan_after(builder, send, end);
    if (store->num_buffers > 0)
        store->sends[segment % store->num_buffers] = send;
    if (this_site == request->root) {
        uint32_t result = cohort__chain_segment(builder, chain, COHORT__SPACE_OUT, 0, segment);
        uint32_t recv = cohort__plan_recv(builder, RESULT_PHASE, last, segment, &result, 1);
        cohort__plan_after(builder, recv, this_site > 0 ? send : COHORT__NO_STEP);
    }
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__chain chain = make(request);
    struct store store;
    store_init(&store, builder, &chain,
               request->this_site > 0 && request->this_site != request->root);
    for (uint32_t i = 0; i < chain.num_segments; i++)
        segment_append(builder, request, &store, &chain, i);
}

/* A root that is neither the first nor the last site receives the segments of the chain, then those
 * of the result. If there are many, that takes longer than the path of the last segment. */
static struct cohort__cost in_the_middle(const struct cohort__request *request,
                                         const struct cohort__chain *chain,
                                         struct cohort__cost cost)
{
    double before = request->root - 1.0, largest = (double)cohort__chain_segment_bytes(chain, 0);
    double startups = before + 2.0 * chain->num_segments;
    if (request->root == 0 || request->root == request->num_sites - 1 || startups <= cost.startups)
        return cost;
    cost.startups = startups;
    cost.bytes = before * largest + 2 * (double)request->bytes;
    cost.reduced = before * largest;
    return cost;
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__chain chain = make(request);
    struct cohort__cost cost = cohort__chain_cost(&chain);
    double steps = request->num_sites - 1.0;
    size_t largest = cohort__chain_segment_bytes(&chain, 0);
    cost.reduced = steps * (double)largest;
    cost = in_the_middle(request, &chain, cost);
    cost.combined = steps * (double)request->bytes;
    if (request->num_sites > 2 || (request->num_sites == 2 && request->root == 0))
        cost.memory = cohort__cost_tmp(count_buffers(&chain), largest);
    return cost;
}

const struct cohort__algorithm cohort__reduce_chain = {
    .collective = COHORT__REDUCE,
    .name = "chain",
    .ordered = true,
    .build = build,
    .cost = cost,
};
