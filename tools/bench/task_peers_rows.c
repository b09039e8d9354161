/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --peers`: the rows, and the limits for Cohort in each. */
#include "tools/bench/task_peers_rows.h"

#include <fnmatch.h>
#include <stdio.h>

enum { MILLION = 1000000 };

/* A peer whose tasks are calls most of the time, as those of libgomp, is only shown. */
static const struct task_peers_row rows[] = {
    {"fib", 1, 1, 30, 12, "ns", 0.25, TASK_PEERS_TBB, NULL},
    {"fib", 2, 2, 30, 12, "ns", 0.4, TASK_PEERS_TBB, NULL},
    {"empty", 1, 1, MILLION, 1000, "ns", 0.4, TASK_PEERS_TBB, NULL},
    {"empty", 2, 2, MILLION, 1000, "ns", 0.4, TASK_PEERS_TBB, NULL},
    {"halves", 1, 1, MILLION, 1000, "ns", 0.5, TASK_PEERS_TBB, NULL},
    {"halves", 2, 2, MILLION, 1000, "ns", 0.9, TASK_PEERS_TBB, NULL},
    {"range_one", 1, 1, MILLION, 1000, "ns", 0.5, TASK_PEERS_OPENMP, NULL},
    {"range_one", 2, 2, MILLION, 1000, "ns", 0.5, TASK_PEERS_OPENMP, NULL},
    {"range", 1, 1, MILLION, 1000, "ns", 0.5, TASK_PEERS_OPENMP, NULL},
    {"range", 2, 2, MILLION, 1000, "ns", 0.5, TASK_PEERS_OPENMP, NULL},
    {"range_one_us", 1, 1, 100000, 100, "ns", 1.03, TASK_PEERS_OPENMP, NULL},
    {"range_one_us", 2, 2, 100000, 100, "ns", 1.03, TASK_PEERS_OPENMP, NULL},
    {"range_us", 1, 1, 100000, 100, "ns", 1.03, TASK_PEERS_TBB, NULL},
    {"range_us", 2, 2, 100000, 100, "ns", 1.03, TASK_PEERS_TBB, NULL},
    {"tree", 1, 1, 4, 1, "ns", 0.5, TASK_PEERS_TBB, NULL},
    {"tree", 2, 2, 4, 1, "ns", 0.5, TASK_PEERS_TBB, NULL},
    {"then", 1, 1, 100000, 1000, "ns", 50, TASK_PEERS_COHORT, NULL},
    {"then", 2, 2, 100000, 1000, "ns", 50, TASK_PEERS_COHORT, NULL},
    {"suspend", 1, 1, 100000, 1000, "ns", 80, TASK_PEERS_COHORT, NULL},
    {"ping_pong", 2, 2, 100000, 1000, "ns", 4, TASK_PEERS_SYSTEM, "two threads that spin"},
    {"when_all", 1, 1, 1000, 100, "ns", 40, TASK_PEERS_COHORT, NULL},
    {"when_all", 2, 2, 1000, 100, "ns", 40, TASK_PEERS_COHORT, NULL},
    {"when_any", 1, 1, 30000, 100, "ns", 300, TASK_PEERS_COHORT, NULL},
    {"sleeps", 1, 1, 100000, 100, "ns", 500, TASK_PEERS_COHORT, "libuv"},
    {"foreign", 1, 2, MILLION, 1000, "ns", 60, TASK_PEERS_COHORT, NULL},
    {"wake", 1, 2, 100, 3, "ns", 2, TASK_PEERS_SYSTEM, "a futex"},
    {"spread", 2, 2, 64, 4, "x", 1.15, TASK_PEERS_COHORT, NULL},
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
