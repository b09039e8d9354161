/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --works`: binds threads to some of the cores. */
#ifndef COHORT_TOOLS_BENCH_CORES_H
#define COHORT_TOOLS_BENCH_CORES_H

#include <sched.h>
#include <stdbool.h>

/* The cores that the calling thread may use. */
cpu_set_t bench_cores(void);

/* Binds the calling thread, and those that it will start, to NUM of CORES from the one with index
 * FIRST on. If there are not so many, it is bound to all of CORES. */
void bench_cores_bind(const cpu_set_t *cores, unsigned first, unsigned num);

#endif
