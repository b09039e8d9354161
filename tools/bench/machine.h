/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the machine, the system and its load, which a figure depends on. */
#ifndef COHORT_TOOLS_BENCH_MACHINE_H
#define COHORT_TOOLS_BENCH_MACHINE_H

/* What a figure depends on besides the library. */
struct bench_machine {
    unsigned cores; /* that this process may use */
    char cpu[80];
    char system[80];
    double load; /* when the program started: other work makes figures worse */
};

struct bench_machine bench_machine(void);

#endif
