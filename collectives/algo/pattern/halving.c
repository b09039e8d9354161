/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/halving.h"

#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/cut.h"

enum { FOLD_PHASE = 1, PHASE = 2, TAG = 0 };

/* The state of cohort__halving_append. */
struct append {
    struct cohort__halving *halving;
    struct cohort__plan_builder *builder;
    size_t inbox;    /* in TMP: where the next message is received */
    bool in_sum;     /* this site's data is in the sum; else in IN */
    uint32_t folded; /* no step receives into the inbox before this one */
};

static bool has_folded(const struct cohort__halving *halving)
{
    return halving->rank < halving->num_pairs;
}

static uint32_t site_of(const struct cohort__halving *halving, uint32_t rank)
{
    uint32_t root = halving->request->root;
    if (rank >= halving->num_pairs)
        return rank + halving->num_pairs;
    return root / 2 == rank ? root : 2 * rank;
}

void cohort__halving_init(struct cohort__halving *halving, const struct cohort__request *request)
{
    uint32_t num_steps = cohort__log2_floor(request->num_sites);
    uint32_t num_ranks = UINT32_C(1) << num_steps;
    *halving = (struct cohort__halving){.request = request,
                                        .num_ranks = num_ranks,
                                        .num_steps = num_steps,
                                        .num_pairs = request->num_sites - num_ranks,
                                        .end = COHORT__NO_STEP};
    halving->rank = cohort__halving_rank(halving, request->this_site);
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

uint32_t cohort__halving_rank(const struct cohort__halving *halving, uint32_t site)
{
    return site < 2 * halving->num_pairs ? site / 2 : site - halving->num_pairs;
}

uint32_t cohort__halving_partner(const struct cohort__halving *halving, uint32_t step)
{
    return site_of(halving, halving->rank ^ UINT32_C(1) << step);
}

static size_t piece_begin(const struct cohort__halving *halving, uint32_t piece)
{
    return cohort__cut(halving->request->bytes, halving->request->element, halving->num_ranks,
                       piece);
}

size_t cohort__halving_bytes(const struct cohort__halving *halving, struct cohort__range pieces)
{
    return piece_begin(halving, pieces.first + pieces.count) - piece_begin(halving, pieces.first);
}

uint32_t cohort__halving_sum(const struct cohort__halving *halving,
                             struct cohort__plan_builder *builder, struct cohort__range pieces)
{
    size_t offset = halving->sum + piece_begin(halving, pieces.first) - halving->sum_begin;
    return cohort__plan_range(builder, halving->space, offset,
                              cohort__halving_bytes(halving, pieces));
}

/* The same for what this site has before it gets the other half. */
static uint32_t own_append(const struct append *append, struct cohort__range pieces)
{
    const struct cohort__halving *halving = append->halving;
    if (append->in_sum)
        return cohort__halving_sum(halving, append->builder, pieces);
    return cohort__plan_range(append->builder, COHORT__SPACE_IN, piece_begin(halving, pieces.first),
                              cohort__halving_bytes(halving, pieces));
}

static void place(struct append *append, bool in_out)
{
    struct cohort__halving *halving = append->halving;
    size_t bytes = halving->request->bytes;
    size_t inbox_bytes = 0;
    for (uint32_t i = 0; i < halving->num_steps; i++)
        inbox_bytes += cohort__halving_bytes(halving, halving->kept[i]);
    if (has_folded(halving) && inbox_bytes < bytes)
        inbox_bytes = bytes;
    uint32_t inbox = cohort__plan_tmp(append->builder, inbox_bytes);
    append->inbox = cohort__plan_get_block(append->builder, inbox).offset;
    halving->space = in_out ? COHORT__SPACE_OUT : COHORT__SPACE_TMP;
    if (in_out)
        return;
    if (!has_folded(halving)) {
        bytes = cohort__halving_bytes(halving, halving->kept[0]);
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
    struct cohort__halving *halving = append->halving;
    struct cohort__plan_builder *builder = append->builder;
    bool is_left = peer < halving->request->this_site;
    size_t bytes = cohort__halving_bytes(halving, pieces);
    uint32_t got = cohort__plan_range(builder, COHORT__SPACE_TMP, append->inbox, bytes);
    uint32_t sum = cohort__halving_sum(halving, builder, pieces);
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
    struct cohort__halving *halving = append->halving;
    uint32_t peer = cohort__halving_partner(halving, step);
    uint32_t given = own_append(append, halving->given[step]);
    uint32_t send = cohort__plan_send(append->builder, PHASE, peer, TAG, &given, 1);
    cohort__plan_after(append->builder, send, halving->end);
    halving->is_given[step] = append->in_sum ? send : COHORT__NO_STEP;
    reduce_append(append, PHASE, peer, halving->kept[step]);
    append->inbox += cohort__halving_bytes(halving, halving->kept[step]);
}

void cohort__halving_append(struct cohort__halving *halving, struct cohort__plan_builder *builder,
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
static size_t most_kept(const struct cohort__halving *halving)
{
    size_t bytes = 0;
    for (uint32_t count = halving->num_ranks / 2; count > 0; count /= 2)
        bytes += cohort__halving_bytes(halving, (struct cohort__range){.first = 0, .count = count});
    return bytes;
}

struct cohort__cost cohort__halving_cost(const struct cohort__request *request)
{
    struct cohort__halving halving;
    cohort__halving_init(&halving, request);
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

double cohort__halving_memory(const struct cohort__request *request, bool folds, bool in_out)
{
    struct cohort__halving halving;
    struct cohort__range half = {.first = 0};
    cohort__halving_init(&halving, request);
    half.count = halving.num_ranks / 2;
    size_t inbox = most_kept(&halving);
    if (folds && inbox < request->bytes)
        inbox = request->bytes;
    size_t sum = folds ? request->bytes : cohort__halving_bytes(&halving, half);
    return cohort__cost_tmp(1, inbox) + (in_out ? 0 : cohort__cost_tmp(1, sum));
}
