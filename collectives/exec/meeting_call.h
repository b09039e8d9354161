/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETING_CALL_H
#define COHORT_COLLECTIVES_EXEC_MEETING_CALL_H

#include "cohort/future.h"

struct cohort__planned_call;

/* Starts PLANNED, which has no plan: its sites share memory, all in this locality, or on this host
 * with a board. Every site brings its buffers, and data moves once all are there. By the caller's
 * thread. Never NULL. */
cohort_future *cohort__meeting_call_start(const struct cohort__planned_call *planned);

#endif
