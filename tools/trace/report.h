/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: prints who made whom wait. */
#ifndef COHORT_TOOLS_TRACE_REPORT_H
#define COHORT_TOOLS_TRACE_REPORT_H

#include "tools/trace/sums.h"

/* On standard output. */
void report_print(const struct model *model, const struct sums *sums,
                  const struct sums_options *options);

#endif
