/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TRACE_LAST_H
#define COHORT_RUNTIME_TRACE_LAST_H

#include <stdint.h>

#include "cohort/status.h"

/* For jobs that nobody joins when all have ended: each locality calls this when its part is closed.
 * The one that finds the parts of all SIZE localities of job KEY closed in the folder of FILE makes
 * the trace of them; of several that do one. COHORT_OK if that is not this one; COHORT_ERR_SYSTEM:
 * it can't look at the parts; else see cohort__trace_join. */
cohort_status cohort__trace_join_last(const char *file, uint64_t key, uint32_t size);

#endif
