/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXPLAIN_H
#define COHORT_EXPLAIN_H

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
 * (cohort_call_options): COHORT_OK, or COHORT_ERR_BAD_PARAMETER with a message that says why not.
 * The same at all sites. Arguments and the rest as above. */
COHORT_API cohort_status cohort_algorithm_check(cohort_comm *comm, const char *collective,
                                                const char *algorithm, size_t count,
                                                cohort_datatype datatype,
                                                const cohort_op *op) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
