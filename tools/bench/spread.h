/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --works`: how well computing comes to all workers, in one run. */
#ifndef COHORT_TOOLS_BENCH_SPREAD_H
#define COHORT_TOOLS_BENCH_SPREAD_H

#include "tools/bench/bench.h"

/* Runs a work once, whose size is the number of the run: it says which times are drawn. The result
 * is the time it took, as so many times the ideal one. A process that has run one before has an
 * easier second one. */
cohort_status spread_measure(const struct bench *bench, const struct bench_work *work);

#endif
