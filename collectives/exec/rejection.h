/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_REJECTION_H
#define COHORT_COLLECTIVES_EXEC_REJECTION_H

#include "collectives/comm/operation.h"

/* A call that has passed the gate and can't be carried out: it consumes its generation, fails in
 * its turn with ERROR, and so do the calls of all other sites in that generation. SIGNATURE: as far
 * as it is known; its algorithm is not. RET_ROWS: where the caller wants a future for each row, or
 * NULL. By the caller's thread; never NULL. */
cohort_future *cohort__rejection_start(struct cohort_comm *comm, uint64_t generation,
                                       const struct cohort__signature *signature,
                                       const struct cohort__error *error, cohort_future **ret_rows);

#endif
