/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: draws what the localities did, and who made whom wait. */
#ifndef COHORT_TOOLS_TRACE_PLOT_H
#define COHORT_TOOLS_TRACE_PLOT_H

#include "tools/trace/sums.h"

/* Writes PATH, an SVG. COHORT_ERR_SYSTEM, COHORT_ERR_NO_MEMORY. */
cohort_status plot_write(const struct model *model, const struct sums *sums, const char *path);

#endif
