/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_SELECT_H
#define COHORT_COLLECTIVES_MODEL_SELECT_H

#include "collectives/model/predict.h"

/* Which row carries out a call. Only what is equal at all sites is looked at, so all of them choose
 * the same one; their own number and their own parts are not. */

/* Which rows a communicator wants. */
enum cohort__mode {
    COHORT__MODE_FLAT, /* none of those over the tree */
    COHORT__MODE_ANY,
    COHORT__MODE_TREE, /* those over the tree, where there are any */
};

struct cohort__question {
    const struct cohort__request *request;
    const struct cohort__parameters *parameters;
    const struct cohort__placement *placement;
    enum cohort__mode mode;
    const struct cohort__algorithm *forced; /* only this one; NULL: any */
    bool is_reproducible;                   /* only rows that reduce in one order */
    bool is_ragged;                         /* blocks of different sizes, at this site or others */
    bool are_sizes_known;                   /* ... of which all sites know all sizes */
    uint64_t memory_budget;                 /* bytes of TMP that a site may have; 0: any */
    double memory_beside; /* bytes of it that the call takes besides the row, at all sites */
};

/* A row, as selection sees it. */
struct cohort__candidate {
    const struct cohort__algorithm *algorithm;
    uint32_t row;        /* its number in the table */
    const char *refused; /* why it can't be chosen; NULL: it can */
    bool is_priced;      /* it has a cost */
    struct cohort__cost cost;
    double time; /* predicted, in nanoseconds */
};

/* The rows of a collective are no more. */
enum { COHORT__MAX_CANDIDATES = 32 };

/* Whether a communicator of these parameters is flat: fewer sites than the threshold, or so few
 * that the tree is one leaf. Every hierarchical operation on it then is the flat one. */
bool cohort__select_is_flat(uint32_t num_sites, uint32_t arity, uint32_t flat_fallback_threshold);

/* All rows for the question's collective: first those that can be chosen, the fastest first, so the
 * first one is the choice; then those that are refused. Returns how many there are. */
uint32_t cohort__select_candidates(const struct cohort__question *question,
                                   struct cohort__candidate ret_candidates[COHORT__MAX_CANDIDATES]);

/* The choice. COHORT_ERR_NO_MEMORY: nothing fits the budget; names the row that needs least, or
 * the forced one, and what it needs. COHORT_ERR_BAD_PARAMETER: the forced row can't carry out the
 * request. COHORT_ERR_NOT_SUPPORTED: no row can. */
cohort_status cohort__select(const struct cohort__question *question,
                             struct cohort__candidate *ret_choice);

#endif
