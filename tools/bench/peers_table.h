/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --peers`: the figures beside each other, as table or JSON. */
#ifndef COHORT_TOOLS_BENCH_PEERS_TABLE_H
#define COHORT_TOOLS_BENCH_PEERS_TABLE_H

#include "tools/bench/options.h"
#include "tools/bench/peers_mpi.h"
#include "tools/bench/peers_rows.h"

/* The figures that were measured, and how they compare. */

/* Which contender a figure belongs to. Cohort's first transport is compared with the others; in
 * rows over ofi it is ofi. */
enum peers_column {
    PEERS_COHORT,
    PEERS_COHORT_OTHER,
    PEERS_OPENMPI,
    PEERS_OPENMPI_WAIT,
    PEERS_MPICH,
    PEERS_MPICH_WAIT,
    PEERS_ACOLL, /* components of Open MPI that it does not choose by itself, blocking calls only */
    PEERS_UCC,
    PEERS_XHC,
    PEERS_REFERENCE,
    PEERS_NUM_COLUMNS,
};

struct peers_figure {
    unsigned num;
    double rounds[BENCH_MAX_ROUNDS];
};

struct peers_line {
    struct peers_row row;
    struct peers_figure figures[PEERS_NUM_COLUMNS];
};

struct peers_table {
    bool json;
    bool quick;
    const char *nets[2];                    /* of Cohort; the second may be NULL */
    bool has_components[PEERS_NUM_COLUMNS]; /* only of those of Open MPI */
    const struct peers_versions *versions;
    struct peers_line *lines;
    size_t num_lines;
};

void peers_figure_add(struct peers_figure *figure, double value);

/* Prints the head, then each line when all its rounds are over. In JSON, all is printed at the end.
 * False: standard output can't be written. */
void peers_table_begin(const struct peers_table *table);
void peers_table_show(const struct peers_table *table, struct peers_line *line);
bool peers_table_end(const struct peers_table *table);

#endif
