/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: prints who made whom wait, and draws what the localities did. */
#ifndef COHORT_TOOLS_TRACE_REPORT_H
#define COHORT_TOOLS_TRACE_REPORT_H

#include "tools/trace/sums.h"

/* On standard output. */
void report_print(const struct model *model, const struct sums *sums,
                  const struct sums_options *options);

/* Draws PATH, an SVG, with who made whom wait. COHORT_ERR_SYSTEM, COHORT_ERR_NO_MEMORY. */
cohort_status plot_write(const struct model *model, const struct sums *sums, const char *path);

#endif
