/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_ENGINE_H
#define COHORT_COLLECTIVES_EXEC_ENGINE_H

#include "cohort/future.h"
#include "collectives/exec/execution.h"

/* Runs plans: makes executions, starts the steps that are ready, and ends. Nothing below knows it,
 * but for the function `leave` of an execution. */

/* How much memory a run of ENTRY's plan takes, which is kept with it. 0: it has no plan. */
size_t cohort__execution_bytes(const struct cohort__plan_entry *entry);

/* Starts the run of PLANNED's plan. By the caller's thread. Never NULL. */
cohort_future *cohort__execution_start(const struct cohort__planned_call *planned);

#endif
