/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_BFS_GRAPH_H
#define COHORT_EXAMPLES_BFS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cohort/cohort.h>

/* A locality's part of the graph, and of a search in it. Vertex v belongs to locality v modulo
 * their number. There is one part in each process. Several tasks may call at once, unless said
 * otherwise. Nothing here suspends. */

#define BFS_NONE UINT64_MAX
#define BFS_NO_LEVEL UINT32_MAX

/* From a vertex of this part to one of any. */
struct bfs_edge {
    uint64_t from, to;
};

/* The edge number INDEX of a Kronecker graph of 2^SCALE vertices, as Graph 500 makes them: each bit
 * of both ends is drawn with the probabilities 0.57, 0.19, 0.19, 0.05, and the vertices have other
 * numbers then. */
struct bfs_edge bfs_graph_edge(uint32_t scale, uint64_t seed, uint64_t index);

/* The part of locality RANK of SIZE. One task. */
cohort_status bfs_graph_begin(uint32_t scale, uint32_t rank, uint32_t size);
void bfs_graph_end(void);

uint32_t bfs_graph_owner(uint64_t vertex);

/* Takes edges that begin here. */
cohort_status bfs_graph_add(const struct bfs_edge *edges, size_t num);

/* No more come: sorts them. One task. */
cohort_status bfs_graph_build(void);

/* The vertices of this part, and where the edges of one end. */
size_t bfs_graph_num_vertices(void);
uint64_t bfs_graph_vertex(size_t index);
const uint64_t *bfs_graph_targets(size_t index, size_t *ret_num);
size_t bfs_graph_num_edges(void);

/* A search: no vertex has a parent, nor a level. One task. */
void bfs_graph_clear(void);

/* The vertex `from` of each edge, which is of this part, gets `to` as its parent, unless it has
 * one. */
cohort_status bfs_graph_visit(const struct bfs_edge *edges, size_t num);

/* What was visited since the last call is the frontier now. Returns how many there are. One task.
 */
size_t bfs_graph_advance(void);
uint64_t bfs_graph_frontier(size_t i);

uint64_t bfs_graph_parent(size_t index); /* BFS_NONE: not visited */
bool bfs_graph_is_visited(size_t index);
void bfs_graph_set_parent(size_t index, uint64_t parent);
uint32_t bfs_graph_level(size_t index);
void bfs_graph_set_level(size_t index, uint32_t level);

/* The index of VERTEX, which came from elsewhere, in this part. False: it isn't of this part. */
bool bfs_graph_find(uint64_t vertex, size_t *ret_index);

/* Whether there is an edge between vertex INDEX of this part and TO. */
bool bfs_graph_has_edge(size_t index, uint64_t to);

#endif
