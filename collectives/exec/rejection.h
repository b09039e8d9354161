/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_REJECTION_H
#define COHORT_COLLECTIVES_EXEC_REJECTION_H

#include "collectives/comm/operation.h"

struct cohort__planned_call;

/* Starts a call that has passed the gate but can't be carried out. It consumes its generation. When
 * it starts, it fails with ERROR, and so do the calls of all other sites in that generation.
 * SIGNATURE: as much of it as is known; the algorithm is not. RET_ROWS: where to put a future for
 * each row, or NULL. By the caller's thread. Never NULL. */
cohort_future *cohort__rejection_start(struct cohort_comm *comm, uint64_t generation,
                                       const struct cohort__signature *signature,
                                       const struct cohort__error *error, cohort_future **ret_rows);

/* The same for PLANNED, where there is no memory for what it needs, as WHY says. The error names
 * the call. Releases its sequel. */
cohort_future *cohort__rejection_no_memory(const struct cohort__planned_call *planned,
                                           const char *why);

#endif
