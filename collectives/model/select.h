/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_SELECT_H
#define COHORT_COLLECTIVES_MODEL_SELECT_H

#include "collectives/model/predict.h"

/* Chooses the row that carries out a call. It only uses what is equal at all sites, so all of them
 * choose the same row. It does not use a site's own number or its own parts. */

/* Which rows a communicator allows. */
enum cohort__mode {
    COHORT__MODE_FLAT, /* no rows over the tree */
    COHORT__MODE_ANY,
    COHORT__MODE_TREE, /* only rows over the tree, if there are any */
};

struct cohort__question {
    const struct cohort__request *request;
    const struct cohort__parameters *parameters;
    const struct cohort__placement *placement;
    enum cohort__mode mode;
    const struct cohort__algorithm *forced; /* only this one; NULL: any */
    uint32_t forced_inner;                  /* ... and, + 1, this one among its leaders; 0: any */
    bool is_reproducible;                   /* only rows that reduce in a fixed order */
    bool is_ragged;                         /* blocks of different sizes, at this site or others */
    bool are_sizes_known;                   /* ... all of whose sizes all sites know */
    uint64_t memory_budget;                 /* bytes of TMP that a site may have; 0: no limit */
    double memory_beside; /* bytes of the budget that the call takes besides the row's, the same at
                           * all sites */
};

/* A row, as the selection sees it. */
struct cohort__candidate {
    const struct cohort__algorithm *algorithm;
    uint32_t row;              /* its number in the table */
    uint32_t inner;            /* of a composed row: what request.inner has to be */
    uint32_t num_leaders;      /* who do their part by that row; 0: it is not composed */
    bool share_cores;          /* of one host several lead, and there are fewer cores */
    const char *inner_refused; /* why they can't use the row that is forced; NULL: they can */
    const char *refused;       /* why it can't be chosen; NULL: it can be */
    bool is_priced;            /* `cost` and `time` are valid */
    struct cohort__cost cost;
    double time; /* predicted, in nanoseconds */
};

/* The most rows that a collective may have. */
enum { COHORT__MAX_CANDIDATES = 32 };

/* Whether a communicator with these parameters is flat: it has fewer sites than the threshold, or
 * so few that the tree is one leaf. On a flat communicator every hierarchical operation is the flat
 * one. */
bool cohort__select_is_flat(uint32_t num_sites, uint32_t arity, uint32_t flat_fallback_threshold);

/* Lists all rows for the question's collective: first those that can be chosen, the fastest first,
 * then those that are refused. So the first row is the choice, unless it is refused. Returns how
 * many there are. */
uint32_t cohort__select_candidates(const struct cohort__question *question,
                                   struct cohort__candidate ret_candidates[COHORT__MAX_CANDIDATES]);

/* The stages of ALGORITHM, which is composed, for REQUEST: in a call with blocks of different
 * sizes, their parts have such blocks, too. */
void cohort__select_stages(const struct cohort__question *question,
                           const struct cohort__algorithm *algorithm,
                           const struct cohort__request *request,
                           struct cohort__stages *ret_stages);

/* Whether the sites that do STAGE meet, and need no messages. */
bool cohort__stage_meets(const struct cohort__question *question,
                         const struct cohort__stage *stage);

/* Chooses a row. COHORT_ERR_NO_MEMORY: no row fits into the budget; the message names the row that
 * needs least, or the forced one, and how much it needs. COHORT_ERR_BAD_PARAMETER: the forced row
 * can't carry out the request. COHORT_ERR_NOT_SUPPORTED: no row can. */
cohort_status cohort__select(const struct cohort__question *question,
                             struct cohort__candidate *ret_choice);

/* The answer to QUESTION as text, as include/cohort/explain.h describes it, on MACHINE, whose
 * leaders TURN chooses (cohort__machine_leader). The caller frees it. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__explain(const struct cohort__question *question,
                              const struct cohort__machine *machine, uint64_t turn,
                              char **ret_text);

#endif
