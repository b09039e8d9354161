/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_HALVING_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_HALVING_H

#include "collectives/algo/algorithm.h"
#include "collectives/plan/partition.h"

/* Reduces a vector in pieces by halving. If the number of sites is no power of two, the first sites
 * fold in pairs, so that the largest power of two below is left: one of the two sends its vector to
 * the other and takes no part in the rest. The other sites have ranks, in the order of the sites.
 * In step s, two ranks at the distance 2^s exchange halves of what they have: each sends the half
 * that the other one keeps, and reduces what it gets. At the end each rank has one piece of the
 * result. Neighbours come first, so every sum is of a range of sites and nothing has to commute.
 * Cuts are between elements. */

enum { COHORT__HALVING_MAX_STEPS = 32 };

struct cohort__halving {
    const struct cohort__request *request;
    uint32_t num_ranks; /* also the number of pieces */
    uint32_t num_steps;
    uint32_t num_pairs; /* sites 0 .. 2 num_pairs - 1 fold */
    uint32_t rank;      /* of this site, or of the site that it folds to */
    uint32_t folds_to;  /* this site itself if it keeps its vector */
    /* The pieces that this rank keeps, and those that it gives away, in each step. */
    struct cohort__range kept[COHORT__HALVING_MAX_STEPS];
    struct cohort__range given[COHORT__HALVING_MAX_STEPS];
    /* Where the sum is. It begins with byte sum_begin of the vector. */
    enum cohort__space space;
    size_t sum;
    size_t sum_begin;
    /* Set by append: */
    uint32_t end; /* the step after which kept[num_steps - 1] is reduced */
    /* The steps after which given[i] of the sum is free, or COHORT__NO_STEP. */
    uint32_t is_given[COHORT__HALVING_MAX_STEPS];
};

/* In a pair, the root of the request has the rank. If neither is the root, the first site has
 * it. */
void cohort__halving_init(struct cohort__halving *halving, const struct cohort__request *request);

uint32_t cohort__halving_rank(const struct cohort__halving *halving, uint32_t site);

/* The site of this rank's partner in STEP. */
uint32_t cohort__halving_partner(const struct cohort__halving *halving, uint32_t step);

/* Appends all steps, from IN. With IN_OUT the sum is in OUT, which must be as large as the vector.
 * Else it is in TMP: the whole vector if two sites have folded, else kept[0]. Phases 1 and 2. */
void cohort__halving_append(struct cohort__halving *halving, struct cohort__plan_builder *builder,
                            bool in_out);

/* A new block with these pieces of the sum. */
uint32_t cohort__halving_sum(const struct cohort__halving *halving,
                             struct cohort__plan_builder *builder, struct cohort__range pieces);

/* The bytes of these pieces. */
size_t cohort__halving_bytes(const struct cohort__halving *halving, struct cohort__range pieces);

/* The cost without memory. And the TMP of a site: FOLDS, whether another site folds to it; IN_OUT,
 * whether its sum is in OUT. */
struct cohort__cost cohort__halving_cost(const struct cohort__request *request);
double cohort__halving_memory(const struct cohort__request *request, bool folds, bool in_out);

#endif
