/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_BFS_CHECK_H
#define COHORT_EXAMPLES_BFS_CHECK_H

#include <stdint.h>

#include <cohort/cohort.h>

/* Checks the tree of a search as Graph 500 does, from its parents alone:
 *
 * 1. it has no circles: each vertex in it has a level,
 * 2. each vertex and its parent differ by one level,
 * 3. the ends of each edge of the graph differ by at most one level, or neither is in the tree,
 * 4. so it has the whole component of the root, and as many vertices as the search has visited,
 * 5. a vertex and its parent are joined by an edge of the graph. */

/* Registers its remote tasks. Before cohort_main. */
cohort_status bfs_check_register(void);

/* In locality 0. STEP calls a function everywhere and adds up the numbers that come back. */
typedef cohort_status bfs_step(const char *function, const cohort_object *in, uint64_t *ret_sum);
cohort_status bfs_check(uint64_t root, uint64_t num_visited, bfs_step *step);

#endif
