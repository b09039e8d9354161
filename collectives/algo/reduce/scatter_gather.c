/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce, scatter and gather. The vector is reduced in pieces by halving (phases 1
 * and 2). The pieces are gathered to the root with the same steps in reverse (phase 3).
 * Cost for a power of two: 2 t_s log2 N + 2 t_w m (N-1) / N + t_r m (N-1) / N; else the fold adds
 * t_s + t_w m + t_r m. TMP: two vectors if a site has folded, else one and a half; one at the root.
 * Source: Rabenseifner's reduce, as described by Thakur, Rabenseifner and Gropp (IJHPCA 2005), with
 * the distances in the reverse order. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/vector.h"
#include "collectives/plan/partition.h"

/* Reduces a vector in pieces. If the number of sites is no power of two, the first sites
 * fold in pairs, so that the largest power of two below is left: one of the two sends its vector to
 * the other and takes no part in the rest. The other sites have ranks, in the order of the sites.
 * In step s, two ranks at the distance 2^s exchange halves of what they have: each sends the half
 * that the other one keeps, and reduces what it gets. At the end each rank has one piece of the
 * result. Neighbours come first, so every sum is of a range of sites and nothing has to commute.
 * Cuts are between elements. */

enum { MAX_STEPS = 32 };

struct halving {
    const struct cohort__request *request;
    uint32_t num_ranks; /* also the number of pieces */
    uint32_t num_steps;
    uint32_t num_pairs; /* sites 0 .. 2 num_pairs - 1 fold */
    uint32_t rank;      /* of this site, or of the site that it folds to */
    uint32_t folds_to;  /* this site itself if it keeps its vector */
    /* The pieces that this rank keeps, and those that it gives away, in each step. */
    struct cohort__range kept[MAX_STEPS];
    struct cohort__range given[MAX_STEPS];
    /* Where the sum is. It begins with byte sum_begin of the vector. */
    enum cohort__space space;
    size_t sum;
    size_t sum_begin;
    /* Set by append: */
    uint32_t end; /* the step after which kept[num_steps - 1] is reduced */
    /* The steps after which given[i] of the sum is free, or COHORT__NO_STEP. */
    uint32_t is_given[MAX_STEPS];
};

enum { FOLD_PHASE = 1, PHASE = 2, GATHER_PHASE = 3, TAG = 0 };

/* The state of halving_append. */
struct append {
    struct halving *halving;
    struct cohort__plan_builder *builder;
    size_t inbox;    /* in TMP: where the next message is received */
    bool in_sum;     /* this site's data is in the sum; else in IN */
    uint32_t folded; /* no step receives into the inbox before this one */
};

static bool has_folded(const struct halving *halving)
{
    return halving->rank < halving->num_pairs;
}

static uint32_t site_of(const struct halving *halving, uint32_t rank)
{
    uint32_t root = halving->request->root;
    if (rank >= halving->num_pairs)
        return rank + halving->num_pairs;
    return root / 2 == rank ? root : 2 * rank;
}

static uint32_t halving_rank(const struct halving *halving, uint32_t site)
{
    return site < 2 * halving->num_pairs ? site / 2 : site - halving->num_pairs;
}

/* In a pair, the root of the request has the rank. If neither is the root, the first site has
 * it. */
static void halving_init(struct halving *halving, const struct cohort__request *request)
{
    uint32_t num_steps = cohort__log2_floor(request->num_sites);
    uint32_t num_ranks = UINT32_C(1) << num_steps;
    *halving = (struct halving){.request = request,
                                .num_ranks = num_ranks,
                                .num_steps = num_steps,
                                .num_pairs = request->num_sites - num_ranks,
                                .end = COHORT__NO_STEP};
    halving->rank = halving_rank(halving, request->this_site);
    halving->folds_to = site_of(halving, halving->rank);
    struct cohort__range whole = {.first = 0, .count = num_ranks};
    for (uint32_t i = 0; i < num_steps; i++) {
        uint32_t half = whole.count / 2;
        bool keeps_high = halving->rank >> i & 1;
        halving->kept[i] = (struct cohort__range){whole.first + (keeps_high ? half : 0), half};
        halving->given[i] = (struct cohort__range){whole.first + (keeps_high ? 0 : half), half};
        whole = halving->kept[i];
    }
}

/* The site of this rank's partner in STEP. */
static uint32_t halving_partner(const struct halving *halving, uint32_t step)
{
    return site_of(halving, halving->rank ^ UINT32_C(1) << step);
}

static size_t piece_begin(const struct halving *halving, uint32_t piece)
{
    return cohort__cut(halving->request->bytes, halving->request->element, halving->num_ranks,
                       piece);
}

/* The bytes of these pieces. */
static size_t halving_bytes(const struct halving *halving, struct cohort__range pieces)
{
    return piece_begin(halving, pieces.first + pieces.count) - piece_begin(halving, pieces.first);
}

/* A new block with these pieces of the sum. */
static uint32_t halving_sum(const struct halving *halving, struct cohort__plan_builder *builder,
                            struct cohort__range pieces)
{
    size_t offset = halving->sum + piece_begin(halving, pieces.first) - halving->sum_begin;
    return cohort__plan_range(builder, halving->space, offset, halving_bytes(halving, pieces));
}

/* The same for what this site has before it gets the other half. */
static uint32_t own_append(const struct append *append, struct cohort__range pieces)
{
    const struct halving *halving = append->halving;
    if (append->in_sum)
        return halving_sum(halving, append->builder, pieces);
    return cohort__plan_range(append->builder, COHORT__SPACE_IN, piece_begin(halving, pieces.first),
                              halving_bytes(halving, pieces));
}

static void place(struct append *append, bool in_out)
{
    struct halving *halving = append->halving;
    size_t bytes = halving->request->bytes;
    size_t inbox_bytes = 0;
    for (uint32_t i = 0; i < halving->num_steps; i++)
        inbox_bytes += halving_bytes(halving, halving->kept[i]);
    if (has_folded(halving) && inbox_bytes < bytes)
        inbox_bytes = bytes;
    uint32_t inbox = cohort__plan_tmp(append->builder, inbox_bytes);
    append->inbox = cohort__plan_get_block(append->builder, inbox).offset;
    halving->space = in_out ? COHORT__SPACE_OUT : COHORT__SPACE_TMP;
    if (in_out)
        return;
    if (!has_folded(halving)) {
        bytes = halving_bytes(halving, halving->kept[0]);
        halving->sum_begin = piece_begin(halving, halving->kept[0].first);
    }
    uint32_t sum = cohort__plan_tmp(append->builder, bytes);
    halving->sum = cohort__plan_get_block(append->builder, sum).offset;
}

/* Receives what PEER has of PIECES into the inbox, and reduces it with what this site has of them,
 * in the order of the sites. */
static void reduce_append(struct append *append, unsigned phase, uint32_t peer,
                          struct cohort__range pieces)
{
    struct halving *halving = append->halving;
    struct cohort__plan_builder *builder = append->builder;
    bool is_left = peer < halving->request->this_site;
    size_t bytes = halving_bytes(halving, pieces);
    uint32_t got = cohort__plan_range(builder, COHORT__SPACE_TMP, append->inbox, bytes);
    uint32_t sum = halving_sum(halving, builder, pieces);
    uint32_t own = append->in_sum ? sum : own_append(append, pieces);
    uint32_t recv = cohort__plan_recv(builder, phase, peer, TAG, &got, 1);
    uint32_t reduce =
        cohort__plan_reduce(builder, phase, sum, is_left ? got : own, is_left ? own : got);
    cohort__plan_after(builder, recv, append->folded);
    cohort__plan_after(builder, reduce, recv);
    if (halving->end != append->folded)
        cohort__plan_after(builder, reduce, halving->end);
    halving->end = reduce;
    append->in_sum = true;
}

static void step_append(struct append *append, uint32_t step)
{
    struct halving *halving = append->halving;
    uint32_t peer = halving_partner(halving, step);
    uint32_t given = own_append(append, halving->given[step]);
    uint32_t send = cohort__plan_send(append->builder, PHASE, peer, TAG, &given, 1);
    cohort__plan_after(append->builder, send, halving->end);
    halving->is_given[step] = append->in_sum ? send : COHORT__NO_STEP;
    reduce_append(append, PHASE, peer, halving->kept[step]);
    append->inbox += halving_bytes(halving, halving->kept[step]);
}

/* Appends all steps, from IN. With IN_OUT the sum is in OUT, which must be as large as the vector.
 * Else it is in TMP: the whole vector if two sites have folded, else kept[0]. Phases 1 and 2. */
static void halving_append(struct halving *halving, struct cohort__plan_builder *builder,
                           bool in_out)
{
    uint32_t this_site = halving->request->this_site;
    struct append append = {.halving = halving, .builder = builder, .folded = COHORT__NO_STEP};
    struct cohort__range all = {.first = 0, .count = halving->num_ranks};
    if (halving->folds_to != this_site) {
        uint32_t own = own_append(&append, all);
        cohort__plan_send(builder, FOLD_PHASE, halving->folds_to, TAG, &own, 1);
        return;
    }
    place(&append, in_out);
    if (has_folded(halving)) {
        reduce_append(&append, FOLD_PHASE, this_site ^ 1, all);
        append.folded = halving->end;
    }
    for (uint32_t i = 0; i < halving->num_steps; i++)
        step_append(&append, i);
}

/* How many bytes a rank keeps at most, in all steps together. */
static size_t most_kept(const struct halving *halving)
{
    size_t bytes = 0;
    for (uint32_t count = halving->num_ranks / 2; count > 0; count /= 2)
        bytes += halving_bytes(halving, (struct cohort__range){.first = 0, .count = count});
    return bytes;
}

/* The cost without memory. And the TMP of a site: FOLDS, whether another site folds to it; IN_OUT,
 * whether its sum is in OUT. */
static struct cohort__cost halving_cost(const struct cohort__request *request)
{
    struct halving halving;
    halving_init(&halving, request);
    struct cohort__cost fold = cohort__cost_message(request->bytes);
    double bytes = (double)request->bytes, kept = (double)most_kept(&halving);
    double num_ranks = halving.num_ranks, num_steps = halving.num_steps;
    struct cohort__cost cost = {.startups = num_steps,
                                .bytes = kept,
                                .reduced = kept,
                                .messages = num_ranks * num_steps,
                                .moved = (num_ranks - 1) * bytes,
                                .combined = (num_ranks - 1) * bytes};
    fold.reduced = fold.combined = bytes;
    return halving.num_pairs > 0
               ? cohort__cost_then(cohort__cost_at_once(fold, halving.num_pairs), cost)
               : cost;
}

static double halving_memory(const struct cohort__request *request, bool folds, bool in_out)
{
    struct halving halving;
    struct cohort__range half = {.first = 0};
    halving_init(&halving, request);
    half.count = halving.num_ranks / 2;
    size_t inbox = most_kept(&halving);
    if (folds && inbox < request->bytes)
        inbox = request->bytes;
    size_t sum = folds ? request->bytes : halving_bytes(&halving, half);
    return cohort__cost_tmp(1, inbox) + (in_out ? 0 : cohort__cost_tmp(1, sum));
}

static void gather_append(struct cohort__plan_builder *builder, const struct halving *halving)
{
    uint32_t differs = halving->rank ^ halving_rank(halving, halving->request->root);
    uint32_t recvs[MAX_STEPS], num_recvs = 0;
    for (uint32_t i = halving->num_steps; i-- > 0;) {
        uint32_t peer = halving_partner(halving, i);
        bool sends = differs >> i & 1;
        uint32_t block =
            halving_sum(halving, builder, sends ? halving->kept[i] : halving->given[i]);
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

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct halving halving;
    halving_init(&halving, request);
    halving_append(&halving, builder, request->this_site == request->root);
    if (halving.folds_to == request->this_site)
        gather_append(builder, &halving);
}

/* The bytes of all messages of the gather. In step s, the ranks whose bit s is not that of the root
 * send. They send halves of all ranges of that step: all of the lower ones, or all of the upper
 * ones. */
static double gather_moved(const struct halving *halving, const struct cohort__request *request)
{
    size_t element = cohort__request_element(request);
    size_t num_elements = request->bytes / element;
    uint32_t root_rank = halving_rank(halving, request->root);
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

static double memory(const struct halving *halving, const struct cohort__request *request)
{
    bool root_folds = request->root < 2 * halving->num_pairs;
    bool other_folds = halving->num_pairs > root_folds;
    double at_root = halving_memory(request, root_folds, true);
    double elsewhere = halving_memory(request, other_folds, false);
    return at_root > elsewhere ? at_root : elsewhere;
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct halving halving; /* of the root */
    struct cohort__request at_root = *request;
    struct cohort__cost cost = halving_cost(request);
    struct cohort__cost gather = {0};
    if (request->num_sites == 1)
        return cost;
    at_root.this_site = request->root;
    halving_init(&halving, &at_root);
    gather.startups = halving.num_steps;
    for (uint32_t i = 0; i < halving.num_steps; i++)
        gather.bytes += (double)halving_bytes(&halving, halving.given[i]);
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
