/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --peers`: the programs, their commands, and reading their results. */
#ifndef COHORT_TOOLS_BENCH_TASK_PEERS_JOBS_H
#define COHORT_TOOLS_BENCH_TASK_PEERS_JOBS_H

#include "tools/bench/cores.h"
#include "tools/bench/task_peers_table.h"
#include "tools/share/programs.h"

/* Cohort and its peers. */
struct task_peers_contender {
    enum task_peers_column column;
    char program[PROGRAMS_MAX_PATH];
};

struct task_peers_jobs {
    struct task_peers_contender contenders[TASK_PEERS_NUM_COLUMNS];
    size_t num_contenders;
    double seconds;
    cpu_set_t cores; /* that we may use */
};

/* Finds which contenders are there, and prints on stderr which are not. False: not even Cohort,
 * which has been printed. */
bool task_peers_jobs_init(struct task_peers_jobs *jobs, const struct bench_options *options);

/* Measures LINE once by each contender, one after the other, on the same cores. In the next ROUND
 * another contender is the first. False: one of them failed, which has been printed. */
bool task_peers_jobs_run(const struct task_peers_jobs *jobs, const struct task_peers_table *table,
                         struct task_peers_line *line, unsigned round);

#endif
