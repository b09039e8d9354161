/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXPLAIN_H
#define COHORT_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/comm.h"
#include "cohort/datatype.h"
#include "cohort/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which algorithm would carry out COLLECTIVE ("all_reduce", "gather", ..., as in
 * docs/COLLECTIVES.md) of blocks of COUNT elements on COMM, and why: *RET_TEXT gets lines of text,
 * which the caller frees with free(). The first line is what was asked, the second begins with
 * "chosen: " and the algorithm's name, or with "none: " and why; then come its predicted time,
 * startups, messages, bytes and memory, and the other algorithms with theirs, the fastest first, or
 * why they can't be chosen. All sites get the same text.
 *
 * OP: of the reductions; NULL: one that is commutative. A shift is by 1. DATATYPE is not looked at
 * for a barrier. Options for the next call are left alone and out of account.
 * COHORT_ERR_BAD_PARAMETER: no such collective or datatype; COHORT_ERR_NO_MEMORY. Any task or
 * thread; nothing is sent, never suspends. */
COHORT_API cohort_status cohort_explain(cohort_comm *comm, const char *collective, size_t count,
                                        cohort_datatype datatype, const cohort_op *op,
                                        char **ret_text) COHORT_MUST_USE;

/* Whether ALGORITHM ("ring") could carry out that call, that is, could be forced for it
 * (cohort_call_options): COHORT_OK, or the status that the call would have, with a message that
 * says why: COHORT_ERR_BAD_PARAMETER, or COHORT_ERR_NO_MEMORY where it takes more than
 * memory_budget. The same at all sites. Arguments and the rest as above. */
COHORT_API cohort_status cohort_algorithm_check(cohort_comm *comm, const char *collective,
                                                const char *algorithm, size_t count,
                                                cohort_datatype datatype,
                                                const cohort_op *op) COHORT_MUST_USE;

/* A call, for being asked about. All zero but COLLECTIVE and DATATYPE: one without options. */
typedef struct cohort_call_question {
    const char *collective; /* as above; of "exchange" only the algorithm is looked at */
    const char *algorithm;  /* to be forced; NULL: the communicator's choice */
    size_t count;           /* of elements in a block */
    cohort_datatype datatype;
    const cohort_op *op;       /* of the reductions; NULL: one that is commutative */
    const uint32_t *root_site; /* as in cohort_call_options, like the next two */
    bool check_asymmetric;
    bool reproducible;
    bool of_objects; /* blocks are objects: no COUNT, no DATATYPE */
    /* The v-variant, with blocks of different sizes: no COUNT; COUNTS has num_sites numbers of
     * elements for all_gather and reduce_scatter, and is not looked at otherwise. */
    bool is_ragged;
    const size_t *counts;
    int64_t q; /* of a shift */
} cohort_call_question;

/* Whether a call could be carried out: COHORT_OK, or the status that it would have at a site that
 * gives it right buffers, with a message. Asks what the call itself would ask, so the answers are
 * the same, but for what only the call knows: memory for what is in place, and for blocks whose
 * sizes not all sites know. As above otherwise. _sized: the exported function, for QUESTION_BYTES
 * of QUESTION; see cohort_comm_create_sized. */
COHORT_API cohort_status cohort_call_check_sized(cohort_comm *comm,
                                                 const cohort_call_question *question,
                                                 size_t question_bytes) COHORT_MUST_USE;
COHORT_MUST_USE static inline cohort_status cohort_call_check(cohort_comm *comm,
                                                              const cohort_call_question *question)
{
    return cohort_call_check_sized(comm, question, sizeof(*question));
}

#ifdef __cplusplus
}
#endif

#endif
