/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers`: the command of each job, and reading its results. */
#ifndef COHORT_TOOLS_BENCH_PEERS_JOBS_H
#define COHORT_TOOLS_BENCH_PEERS_JOBS_H

#include "tools/bench/peers_table.h"
#include "tools/share/programs.h"

/* The contenders, and the jobs that measure each of them. */

enum { PEERS_MAX_CONTENDERS = 7 };

/* Seconds after which a job is taken to hang. */
extern const char peers_timeout[];

/* How long a round of each work lasts. */
double peers_jobs_seconds(const struct bench_options *options);

struct peers_contender {
    const char *name; /* "openmpi"; NULL: Cohort */
    const char *net;  /* of Cohort */
    /* Makes Open MPI prefer a component of its collectives. Ends with NULL. NULL: its choice */
    const char *const *component;
    enum peers_column column; /* its first */
    char program[PROGRAMS_MAX_PATH];
};

struct peers_jobs {
    struct programs programs;
    struct peers_contender contenders[PEERS_MAX_CONTENDERS];
    size_t num_contenders;
    struct peers_versions versions;
    bool has_pingpong;
    double seconds;
    bool is_fresh; /* --fresh */
};

/* Finds which contenders are there, and prints on stderr which are not. False: not even Cohort,
 * which has been printed. */
bool peers_jobs_init(struct peers_jobs *jobs, const struct bench_options *options);

/* Measures NUM lines that share their jobs, once by each contender, one after the other. In the
 * next ROUND another contender is the first, since what comes before a job may slow it down: if the
 * cores of a virtual machine were idle, its host may have moved them apart some seconds later.
 * False: some lines could not be measured, which has been printed. */
bool peers_jobs_run(const struct peers_jobs *jobs, struct peers_line *lines, size_t num,
                    unsigned round);

#endif
