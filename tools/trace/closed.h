/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the join of a job that has no cohortrun. */
#ifndef COHORT_TOOLS_TRACE_CLOSED_H
#define COHORT_TOOLS_TRACE_CLOSED_H

#include "cohort/status.h"

/* For jobs that nobody joins when all have ended: each locality asks for this when its part is
 * closed. The one that finds the parts of all in the folder of FILE closed makes the trace of them;
 * of several that do one. COHORT_OK if that is not this one; COHORT_ERR_SYSTEM: it can't look at
 * the parts; else see trace_join. */
cohort_status trace_join_closed(const char *file);

#endif
