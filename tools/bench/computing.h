/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: computing whose work is given, not its time. */
#ifndef COHORT_TOOLS_BENCH_COMPUTING_H
#define COHORT_TOOLS_BENCH_COMPUTING_H

/* Computing whose work is given, not its time. If something else has the core meanwhile, or takes a
 * part of it, it lasts longer. */
struct computing {
    double ns_per_step; /* with a core of its own */
};

/* Finds how fast this core is. It takes about 10 ms. */
void computing_init(struct computing *computing);

/* Computes what takes NS on a core of its own. */
void computing_run(const struct computing *computing, double ns);

#endif
