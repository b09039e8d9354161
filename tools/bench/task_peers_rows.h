/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --peers`: the rows, and the limits for Cohort in each. */
#ifndef COHORT_TOOLS_BENCH_TASK_PEERS_ROWS_H
#define COHORT_TOOLS_BENCH_TASK_PEERS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whom a figure is of. */
enum task_peers_column {
    TASK_PEERS_COHORT,
    TASK_PEERS_TBB,
    TASK_PEERS_OPENMP,
    TASK_PEERS_SYSTEM,
    TASK_PEERS_NUM_COLUMNS,
};

struct task_peers_row {
    const char *work; /* of works.h */
    unsigned workers;
    unsigned cores; /* that the workers and the work's own threads may use */
    uint64_t size;
    uint64_t quick_size; /* with --quick */
    const char *unit;
    double limit; /* in that unit, for Cohort; but if there is a peer that it is compared with: */
    enum task_peers_column against; /* so many times that one's figure. COHORT: there is none */
    const char *system;             /* what peer_system does; NULL: nothing */
    bool is_above; /* what the system takes is the floor: ratio and limit are of what is above it */
};

/* All rows. Returns how many there are. */
size_t task_peers_rows(const struct task_peers_row **ret_rows);

/* Whether the shell pattern PATTERN fits "work/workers". */
bool task_peers_row_fits(const struct task_peers_row *row, const char *pattern);

#endif
