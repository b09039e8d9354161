/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --peers`: the rows, and the limits for Cohort in each. */
#include "tools/bench/task_peers_rows.h"

#include <fnmatch.h>
#include <stdio.h>

enum { MILLION = 1000000 };

/* A peer whose tasks are calls most of the time, as those of libgomp, is only shown. */
static const struct task_peers_row rows[] = {
    {"fib", 1, 1, 30, 12, "ns", 0.25, TASK_PEERS_TBB, NULL, false},
    {"fib", 2, 2, 30, 12, "ns", 0.4, TASK_PEERS_TBB, NULL, false},
    {"empty", 1, 1, MILLION, 1000, "ns", 0.4, TASK_PEERS_TBB, NULL, false},
    {"empty", 2, 2, MILLION, 1000, "ns", 0.4, TASK_PEERS_TBB, NULL, false},
    {"halves", 1, 1, MILLION, 1000, "ns", 0.5, TASK_PEERS_TBB, NULL, false},
    {"halves", 2, 2, MILLION, 1000, "ns", 0.9, TASK_PEERS_TBB, NULL, false},
    {"range_one", 1, 1, MILLION, 1000, "ns", 0.5, TASK_PEERS_OPENMP, NULL, false},
    {"range_one", 2, 2, MILLION, 1000, "ns", 0.5, TASK_PEERS_OPENMP, NULL, false},
    {"range", 1, 1, MILLION, 1000, "ns", 0.5, TASK_PEERS_OPENMP, NULL, false},
    {"range", 2, 2, MILLION, 1000, "ns", 0.5, TASK_PEERS_OPENMP, NULL, false},
    {"range_one_us", 1, 1, 100000, 100, "ns", 1.03, TASK_PEERS_OPENMP, NULL, false},
    {"range_one_us", 2, 2, 100000, 100, "ns", 1.03, TASK_PEERS_OPENMP, NULL, false},
    {"range_us", 1, 1, 100000, 100, "ns", 1.03, TASK_PEERS_TBB, NULL, false},
    {"range_us", 2, 2, 100000, 100, "ns", 1.03, TASK_PEERS_TBB, NULL, false},
    {"tree", 1, 1, 4, 1, "ns", 0.5, TASK_PEERS_TBB, NULL, false},
    {"tree", 2, 2, 4, 1, "ns", 0.5, TASK_PEERS_TBB, NULL, false},
    {"then", 1, 1, 100000, 1000, "ns", 50, TASK_PEERS_COHORT, NULL, false},
    {"then", 2, 2, 100000, 1000, "ns", 50, TASK_PEERS_COHORT, NULL, false},
    {"suspend", 1, 1, 100000, 1000, "ns", 80, TASK_PEERS_COHORT, NULL, false},
    {"ping_pong", 2, 2, 100000, 1000, "ns", 4, TASK_PEERS_SYSTEM, "two threads that spin", false},
    {"when_all", 1, 1, 1000, 100, "ns", 40, TASK_PEERS_COHORT, NULL, false},
    {"when_all", 2, 2, 1000, 100, "ns", 40, TASK_PEERS_COHORT, NULL, false},
    {"when_any", 1, 1, 30000, 100, "ns", 300, TASK_PEERS_COHORT, NULL, false},
    {"sleeps", 1, 1, 100000, 100, "ns", 500, TASK_PEERS_COHORT, "libuv", false},
    {"foreign", 1, 2, MILLION, 1000, "ns", 60, TASK_PEERS_COHORT, NULL, false},
    {"wake", 1, 2, 100, 3, "ns", 2, TASK_PEERS_SYSTEM, "a futex", false},
    {"spread", 2, 2, 64, 4, "x", 1.15, TASK_PEERS_COHORT, NULL, false},
    {"graph_stencil", 1, 1, 1000, 10, "ns", 1, TASK_PEERS_TBB, "a plain loop", true},
    {"graph_stencil", 2, 2, 1000, 10, "ns", 0.7, TASK_PEERS_TBB, "a plain loop", true},
    {"graph_nearest", 1, 1, 1000, 10, "ns", 1, TASK_PEERS_TBB, "a plain loop", true},
    {"graph_nearest", 2, 2, 1000, 10, "ns", 0.7, TASK_PEERS_TBB, "a plain loop", true},
    {"graph_fft", 1, 1, 1000, 10, "ns", 1, TASK_PEERS_TBB, "a plain loop", true},
    {"graph_fft", 2, 2, 1000, 10, "ns", 0.7, TASK_PEERS_TBB, "a plain loop", true},
    {"graph_tree", 1, 1, 1000, 10, "ns", 1, TASK_PEERS_TBB, "a plain loop", true},
    {"graph_tree", 2, 2, 1000, 10, "ns", 0.7, TASK_PEERS_TBB, "a plain loop", true},
    {"graph_random", 1, 1, 1000, 10, "ns", 1, TASK_PEERS_TBB, "a plain loop", true},
    {"graph_random", 2, 2, 1000, 10, "ns", 0.7, TASK_PEERS_TBB, "a plain loop", true},
    {"graph_all_to_all", 1, 1, 1000, 10, "ns", 1, TASK_PEERS_TBB, "a plain loop", true},
    {"graph_all_to_all", 2, 2, 1000, 10, "ns", 0.7, TASK_PEERS_TBB, "a plain loop", true},
};

size_t task_peers_rows(const struct task_peers_row **ret_rows)
{
    *ret_rows = rows;
    return sizeof(rows) / sizeof(rows[0]);
}

bool task_peers_row_fits(const struct task_peers_row *row, const char *pattern)
{
    char name[64];
    snprintf(name, sizeof(name), "%s/%u", row->work, row->workers);
    return fnmatch(pattern, name, 0) == 0;
}
