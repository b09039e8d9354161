/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks`: two tasks that hand over to each other. */
#ifndef COHORT_TOOLS_BENCH_TURNS_H
#define COHORT_TOOLS_BENCH_TURNS_H

#include <stdbool.h>

#include <cohort/cohort.h>

/* Two tasks hand over to each other through promises, TURNS times each. With one worker, each time
 * one suspends and the other resumes. ARE_APART: they are on two workers, of which there have to be
 * as many, and the time begins when they are there. RET_NS: how long it took. */
cohort_status turns_take(uint64_t turns, bool are_apart, uint64_t *ret_ns);

#endif
