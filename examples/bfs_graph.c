/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/bfs_graph.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct {
    uint32_t scale, rank, size;
    size_t num;           /* vertices here */
    pthread_mutex_t lock; /* of `edges`, and of a search; no task suspends with it */
    struct bfs_edge *edges;
    size_t num_edges, capacity;
    size_t *begins; /* by vertex: where its targets begin; one more at the end */
    uint64_t *targets;
    uint64_t *parents;
    _Atomic uint32_t *levels;
    uint64_t *frontier, *visited; /* vertices: those of this level, and those of the next */
    size_t num_frontier, num_visited;
} part = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The finalizer of SplitMix64: any two numbers that differ give unlike ones. */
static uint64_t mix(uint64_t number)
{
    number += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

/* Another number for VERTEX, so that those with many edges are everywhere: both steps can be
 * reversed. */
static uint64_t renumber(uint32_t scale, uint64_t seed, uint64_t vertex)
{
    const uint64_t mask = (UINT64_C(1) << scale) - 1;
    for (uint64_t round = 0; round < 3; round++) {
        vertex = (vertex * (mix(seed + round) | 1) + mix(seed + round + 10)) & mask;
        vertex ^= vertex >> (scale / 2 + 1);
    }
    return vertex;
}

struct bfs_edge bfs_graph_edge(uint32_t scale, uint64_t seed, uint64_t index)
{
    enum { A = 57, B = 19, C = 19 }; /* of 100 */
    struct bfs_edge edge = {0, 0};
    for (uint32_t bit = 0; bit < scale; bit++) {
        uint64_t drawn = mix(mix(seed) ^ mix(index * 64 + bit)) % 100;
        edge.from = edge.from << 1 | (drawn >= A + B);
        edge.to = edge.to << 1 | ((drawn >= A && drawn < A + B) || drawn >= A + B + C);
    }
    edge.from = renumber(scale, seed, edge.from);
    edge.to = renumber(scale, seed, edge.to);
    return edge;
}

static cohort_status no_memory(void)
{
    return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a part of a graph of 2^%u vertices",
                       (unsigned)part.scale);
}

cohort_status bfs_graph_begin(uint32_t scale, uint32_t rank, uint32_t size)
{
    uint64_t all = UINT64_C(1) << scale;
    part.scale = scale;
    part.rank = rank;
    part.size = size;
    part.num = (size_t)((all + size - 1 - rank) / size);
    part.begins = calloc(part.num + 2, sizeof(*part.begins));
    part.parents = calloc(part.num + 1, sizeof(*part.parents));
    part.levels = calloc(part.num + 1, sizeof(*part.levels));
    part.frontier = calloc(part.num + 1, sizeof(*part.frontier));
    part.visited = calloc(part.num + 1, sizeof(*part.visited));
    return part.begins && part.parents && part.levels && part.frontier && part.visited
               ? COHORT_OK
               : no_memory();
}

void bfs_graph_end(void)
{
    free(part.edges);
    free(part.begins);
    free(part.targets);
    free(part.parents);
    free(part.levels);
    free(part.frontier);
    free(part.visited);
}

uint32_t bfs_graph_owner(uint64_t vertex)
{
    return (uint32_t)(vertex % part.size);
}

bool bfs_graph_find(uint64_t vertex, size_t *ret_index)
{
    if (vertex >> part.scale || bfs_graph_owner(vertex) != part.rank)
        return false;
    *ret_index = (size_t)(vertex / part.size);
    return true;
}

static cohort_status not_here(uint64_t vertex)
{
    return cohort_fail(COHORT_ERR_PROTOCOL, "vertex %llu is not of locality %u",
                       (unsigned long long)vertex, (unsigned)part.rank);
}

static bool grow(size_t num)
{
    if (part.num_edges + num <= part.capacity)
        return true;
    size_t capacity = 2 * (part.num_edges + num);
    struct bfs_edge *edges = realloc(part.edges, capacity * sizeof(*edges));
    if (!edges)
        return false;
    part.edges = edges;
    part.capacity = capacity;
    return true;
}

cohort_status bfs_graph_add(const struct bfs_edge *edges, size_t num)
{
    size_t index;
    for (size_t i = 0; i < num; i++)
        if (!bfs_graph_find(edges[i].from, &index) || edges[i].to >> part.scale)
            return not_here(edges[i].from);
    pthread_mutex_lock(&part.lock);
    bool is_room = grow(num);
    if (is_room && num > 0) {
        memcpy(part.edges + part.num_edges, edges, num * sizeof(*edges));
        part.num_edges += num;
    }
    pthread_mutex_unlock(&part.lock);
    return is_room ? COHORT_OK : no_memory();
}

cohort_status bfs_graph_build(void)
{
    part.targets = malloc((part.num_edges + 1) * sizeof(*part.targets));
    if (!part.targets)
        return no_memory();
    /* Counts, one place further; then begins[i + 1] moves from the begin to the end of i. */
    for (size_t i = 0; i < part.num_edges; i++)
        part.begins[part.edges[i].from / part.size + 2]++;
    for (size_t i = 2; i <= part.num; i++)
        part.begins[i] += part.begins[i - 1];
    for (size_t i = 0; i < part.num_edges; i++)
        part.targets[part.begins[part.edges[i].from / part.size + 1]++] = part.edges[i].to;
    free(part.edges);
    part.edges = NULL;
    return COHORT_OK;
}

size_t bfs_graph_num_vertices(void)
{
    return part.num;
}

uint64_t bfs_graph_vertex(size_t index)
{
    return (uint64_t)index * part.size + part.rank;
}

const uint64_t *bfs_graph_targets(size_t index, size_t *ret_num)
{
    *ret_num = part.begins[index + 1] - part.begins[index];
    return part.targets + part.begins[index];
}

size_t bfs_graph_num_edges(void)
{
    return part.num_edges;
}

void bfs_graph_clear(void)
{
    for (size_t i = 0; i < part.num; i++) {
        part.parents[i] = BFS_NONE;
        part.levels[i] = BFS_NO_LEVEL;
    }
    part.num_frontier = 0;
    part.num_visited = 0;
}

cohort_status bfs_graph_visit(const struct bfs_edge *edges, size_t num)
{
    cohort_status status = COHORT_OK;
    size_t index;
    pthread_mutex_lock(&part.lock);
    for (size_t i = 0; !status && i < num; i++) {
        if (!bfs_graph_find(edges[i].from, &index)) {
            status = not_here(edges[i].from);
        } else if (part.parents[index] == BFS_NONE) {
            part.parents[index] = edges[i].to;
            part.visited[part.num_visited++] = edges[i].from;
        }
    }
    pthread_mutex_unlock(&part.lock);
    return status;
}

size_t bfs_graph_advance(void)
{
    uint64_t *frontier = part.frontier;
    part.frontier = part.visited;
    part.visited = frontier;
    part.num_frontier = part.num_visited;
    part.num_visited = 0;
    return part.num_frontier;
}

uint64_t bfs_graph_frontier(size_t i)
{
    return i < part.num_frontier ? part.frontier[i] : BFS_NONE;
}

uint64_t bfs_graph_parent(size_t index)
{
    return part.parents[index];
}

bool bfs_graph_is_visited(size_t index)
{
    return part.parents[index] != BFS_NONE;
}

void bfs_graph_set_parent(size_t index, uint64_t parent)
{
    part.parents[index] = parent;
}

uint32_t bfs_graph_level(size_t index)
{
    return part.levels[index];
}

void bfs_graph_set_level(size_t index, uint32_t level)
{
    part.levels[index] = level;
}

bool bfs_graph_has_edge(size_t index, uint64_t to)
{
    size_t num;
    const uint64_t *targets = bfs_graph_targets(index, &num);
    for (size_t i = 0; i < num; i++)
        if (targets[i] == to)
            return true;
    return false;
}
