/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `hierarchy`: the phases of all_to_all over a tree, one at a time. */
#ifndef COHORT_TOOLS_BENCH_PHASES_H
#define COHORT_TOOLS_BENCH_PHASES_H

#include "tools/bench/bench.h"

/* The phases of all_to_all over a tree, one after the other. All sites wait for the end of each,
 * while in the library the phases overlap. The sites of each top group gather their rows at its
 * representative. The representatives exchange sub-matrices. The columns are scattered in the
 * groups. The number of sites has to be a multiple of the arity, and larger. */
struct bench_phases {
    const struct bench *bench;
    uint32_t sites_per_locality;
    uint32_t arity;
    uint64_t bytes; /* of a pair of sites; a multiple of 8 */
};

/* To be called in a task of every locality. Adds "phase 1" to "phase 3" to the report, each with
 * its barrier. */
cohort_status bench_phases_run(const struct bench_phases *phases);

#endif
