/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --peers`: the figures beside each other, as table or JSON. */
#ifndef COHORT_TOOLS_BENCH_TASK_PEERS_TABLE_H
#define COHORT_TOOLS_BENCH_TASK_PEERS_TABLE_H

#include "tools/bench/options.h"
#include "tools/bench/task_peers_rows.h"

extern const char *const task_peers_names[TASK_PEERS_NUM_COLUMNS];

struct task_peers_line {
    const struct task_peers_row *row;
    unsigned num_rounds[TASK_PEERS_NUM_COLUMNS]; /* that have figures */
    double figures[TASK_PEERS_NUM_COLUMNS][BENCH_MAX_ROUNDS];
};

struct task_peers_table {
    bool json;
    bool quick;
    struct task_peers_line *lines;
    size_t num_lines;
};

/* The size of LINE's work. */
uint64_t task_peers_size(const struct task_peers_table *table, const struct task_peers_line *line);

/* Prints the head, then each line when all its rounds are over. In JSON, all is printed at the end.
 * False: standard output can't be written. */
void task_peers_table_begin(const struct task_peers_table *table);
void task_peers_table_show(const struct task_peers_table *table, struct task_peers_line *line);
bool task_peers_table_end(const struct task_peers_table *table);

#endif
