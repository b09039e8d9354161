/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_BFS_FLOOD_H
#define COHORT_EXAMPLES_BFS_FLOOD_H

#include <stdint.h>

#include <cohort/cohort.h>

#include "examples/bfs_check.h"

/* A search that does not go level by level: whoever is reached goes on at once. A vertex that is
 * reached once more by a shorter way goes on once more, so some work is done in vain, but nobody
 * waits for a level to end. A scope is what ends it. */

/* Registers its remote tasks. Before cohort_main. */
cohort_status bfs_flood_register(void);

/* This locality's part of a graph of 2^SCALE vertices, after bfs_graph_begin. */
cohort_status bfs_flood_begin(uint32_t scale);
void bfs_flood_end(void);

/* In locality 0: all that can be reached from ROOT gets its parent. LIMIT_NANOSECONDS: 0 is none.
 * STEP calls a function everywhere and adds up the numbers that come back. *ret_num_visits: how
 * often vertices were reached by the shortest way so far. Suspends. */
cohort_status bfs_flood(uint64_t root, uint64_t limit_nanoseconds, bfs_step *step,
                        uint64_t *ret_num_vertices, uint64_t *ret_num_visits);

#endif
