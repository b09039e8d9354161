/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers --hosts`: the command of each job, and reading its results. */
#ifndef COHORT_TOOLS_BENCH_HOST_PEERS_JOBS_H
#define COHORT_TOOLS_BENCH_HOST_PEERS_JOBS_H

#include "tools/bench/host_peers_table.h"
#include "tools/share/programs.h"

struct host_peers_contender {
    enum host_peers_column column;
    char program[PROGRAMS_MAX_PATH]; /* of an MPI */
};

struct host_peers_jobs {
    struct programs programs;
    struct host_peers_contender contenders[HOST_PEERS_NUM_COLUMNS]; /* the first is Cohort */
    size_t num_contenders;
    struct peers_versions versions;
    double seconds;
    bool is_fresh; /* --fresh */
    struct bench_places places;
};

/* Finds which contenders are there, and prints on stderr which are not. False: not even Cohort,
 * which has been printed. */
bool host_peers_jobs_init(struct host_peers_jobs *jobs, const struct bench_options *options);

/* Measures all lines once by each contender, one after the other, in a job each, but the stream
 * only by Cohort, before them. In the next ROUND another contender is the first. False: some lines
 * could not be measured, which has been printed. */
bool host_peers_jobs_run(const struct host_peers_jobs *jobs, const struct host_peers_table *table,
                         unsigned round);

#endif
