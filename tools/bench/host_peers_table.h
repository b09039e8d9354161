/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers --hosts`: the figures beside each other, as table or JSON. */
#ifndef COHORT_TOOLS_BENCH_HOST_PEERS_TABLE_H
#define COHORT_TOOLS_BENCH_HOST_PEERS_TABLE_H

#include "tools/bench/host_peers_rows.h"
#include "tools/bench/options.h"
#include "tools/bench/peers_mpi.h"

/* Whom a figure is of. Cohort is compared with the better one of Open MPI's tuned and HAN. */
enum host_peers_column {
    HOST_PEERS_COHORT,
    HOST_PEERS_TUNED,
    HOST_PEERS_HAN,
    HOST_PEERS_MPICH,
    HOST_PEERS_NUM_COLUMNS,
};

struct host_peers_line {
    struct host_peers_row row;
    unsigned num_rounds[HOST_PEERS_NUM_COLUMNS]; /* that have figures */
    double figures[HOST_PEERS_NUM_COLUMNS][BENCH_MAX_ROUNDS];
};

struct host_peers_table {
    bool json;
    bool quick;
    struct bench_places places;
    const struct peers_versions *versions;
    struct host_peers_line *lines; /* the last one may be the stream's */
    size_t num_lines;
};

/* Prints the head, and all lines when all rounds are over. False: standard output can't be
 * written. */
void host_peers_table_begin(const struct host_peers_table *table);
bool host_peers_table_end(const struct host_peers_table *table);

#endif
