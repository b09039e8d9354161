/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_HALVING_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_HALVING_H

#include "collectives/algo/algorithm.h"
#include "collectives/plan/partition.h"

/* A vector reduced in pieces by halving. Where the number of sites is no power of two, the first
 * ones fold in pairs to the largest one below: one of the two sends its vector to the other and is
 * out. The others have ranks, in the order of the sites. In step s, ranks at the distance 2^s give
 * each other the half of what they have that the other one keeps, and reduce what they get; in the
 * end each has one piece of the result. Neighbours come first, so every sum is of a range of sites
 * and nothing has to commute. Cuts are between elements. */

enum { COHORT__HALVING_MAX_STEPS = 32 };

struct cohort__halving {
    const struct cohort__request *request;
    uint32_t num_ranks; /* also the number of pieces */
    uint32_t num_steps;
    uint32_t num_pairs; /* sites 0 .. 2 num_pairs - 1 fold */
    uint32_t rank;      /* of this site; or of whom it folds to */
    uint32_t folds_to;  /* this site, if it does not fold to another one */
    /* The pieces that this rank keeps and gives away in each step. */
    struct cohort__range kept[COHORT__HALVING_MAX_STEPS];
    struct cohort__range given[COHORT__HALVING_MAX_STEPS];
    /* Where the sum is, from byte sum_begin of the vector on. */
    enum cohort__space space;
    size_t sum;
    size_t sum_begin;
    /* Filled by append: */
    uint32_t end; /* the step after which kept[num_steps - 1] is reduced */
    /* The step after which given[i] of the sum is free; or COHORT__NO_STEP. */
    uint32_t is_given[COHORT__HALVING_MAX_STEPS];
};

/* Of a pair, the root of the request goes on, or the first one. */
void cohort__halving_init(struct cohort__halving *halving, const struct cohort__request *request);

uint32_t cohort__halving_rank(const struct cohort__halving *halving, uint32_t site);
uint32_t cohort__halving_site(const struct cohort__halving *halving, uint32_t rank);

/* With whom this rank has to do in STEP. */
uint32_t cohort__halving_partner(const struct cohort__halving *halving, uint32_t step);

/* Appends all of it, from IN. The sum is in OUT, if IN_OUT (as large as the vector), else in TMP:
 * there the whole vector where two sites have folded, else kept[0]. Phases 1 and 2. */
void cohort__halving_append(struct cohort__halving *halving, struct cohort__plan_builder *builder,
                            bool in_out);

/* A new block: these pieces of the sum. */
uint32_t cohort__halving_sum(const struct cohort__halving *halving,
                             struct cohort__plan_builder *builder, struct cohort__range pieces);

/* The bytes of these pieces. */
size_t cohort__halving_bytes(const struct cohort__halving *halving, struct cohort__range pieces);

/* The most bytes that a rank keeps, in all steps together. */
size_t cohort__halving_kept(const struct cohort__halving *halving);

/* What it costs, and apart from that the TMP of a site to which another one FOLDS or not, and with
 * its sum IN_OUT or not. */
struct cohort__cost cohort__halving_cost(const struct cohort__request *request);
double cohort__halving_memory(const struct cohort__request *request, bool folds, bool in_out);

#endif
