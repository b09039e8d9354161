/* SPDX-License-Identifier: Apache-2.0 */
/* A breadth-first search over the Kronecker graph of Graph 500, with remote tasks:
 *
 *     cohortrun -n 4 bfs --scale 14
 *
 * Each locality has a part of the vertices. Locality 0 leads: it calls each step in all localities
 * at once. A step that needs other parts sends batches of edges there, as calls of another task
 * (outbox.h), and is over when these are. Read `search_by_levels` first. With --flood there are no
 * levels, and a scope is what ends the search (bfs_flood.c). The result is checked in the way of
 * Graph 500 (bfs_check.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/bfs_check.h"
#include "examples/bfs_flood.h"
#include "examples/bfs_graph.h"
#include "examples/command.h"
#include "examples/number.h"
#include "examples/outbox.h"
#include "examples/share.h"

enum { EDGE_FACTOR = 16 };

/* The same in all localities, from the command line. */
static uint32_t scale = 10, roots = 4, seed = 1, limit;
static bool is_flood;

/* A row of edges that has come. */
static cohort_status row_of(const cohort_object *in, const struct bfs_edge **ret_edges,
                            size_t *ret_num)
{
    if (in->bytes % sizeof(struct bfs_edge) != 0)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes are no row of edges", in->bytes);
    *ret_edges = in->data;
    *ret_num = in->bytes / sizeof(struct bfs_edge);
    return COHORT_OK;
}

/* Making the graph ---------------------------------------------------------------------------- */

/* Edges that begin here. */
static cohort_status take_edges(const cohort_object *in, cohort_object *ret_out, void *context)
{
    const struct bfs_edge *edges = NULL;
    size_t num = 0;
    (void)ret_out;
    (void)context;
    cohort_status status = row_of(in, &edges, &num);
    return status ? status : bfs_graph_add(edges, num);
}

/* Draws this locality's share of the edges, and sends each to the owners of its ends. */
static cohort_status draw(const cohort_object *in, cohort_object *ret_out, void *context)
{
    size_t num = (size_t)EDGE_FACTOR << scale;
    size_t index = share_begin(num, cohort_num_localities(), cohort_locality());
    size_t end = share_begin(num, cohort_num_localities(), cohort_locality() + 1);
    struct outbox outbox = {.function = "bfs.take_edges", .item_bytes = sizeof(struct bfs_edge)};
    (void)in;
    (void)ret_out;
    (void)context;
    cohort_status status = outbox_begin(&outbox);
    for (; !status && index < end; index++) {
        struct bfs_edge edge = bfs_graph_edge(scale, seed, index);
        struct bfs_edge back = {edge.to, edge.from};
        if (edge.from == edge.to)
            continue;
        status = outbox_put(&outbox, bfs_graph_owner(edge.from), &edge);
        if (!status)
            status = outbox_put(&outbox, bfs_graph_owner(back.from), &back);
    }
    return outbox_end(&outbox, status);
}

static cohort_status build(const cohort_object *in, cohort_object *ret_out, void *context)
{
    (void)in;
    (void)context;
    cohort_status status = bfs_graph_build();
    return status ? status : number_give(bfs_graph_num_edges(), ret_out);
}

/* The search ---------------------------------------------------------------------------------- */

/* IN: the root. */
static cohort_status begin(const cohort_object *in, cohort_object *ret_out, void *context)
{
    struct bfs_edge edge;
    size_t index;
    (void)ret_out;
    (void)context;
    if (in->bytes != sizeof(edge.from))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes are no vertex", in->bytes);
    memcpy(&edge.from, in->data, sizeof(edge.from));
    edge.to = edge.from;
    bfs_graph_clear();
    return bfs_graph_find(edge.from, &index) ? bfs_graph_visit(&edge, 1) : COHORT_OK;
}

static cohort_status visit(const cohort_object *in, cohort_object *ret_out, void *context)
{
    const struct bfs_edge *edges = NULL;
    size_t num = 0;
    (void)ret_out;
    (void)context;
    cohort_status status = row_of(in, &edges, &num);
    return status ? status : bfs_graph_visit(edges, num);
}

/* What was visited becomes the frontier. OUT: how many. */
static cohort_status advance(const cohort_object *in, cohort_object *ret_out, void *context)
{
    (void)in;
    (void)context;
    return number_give(bfs_graph_advance(), ret_out);
}

/* Visits the neighbours of the frontier. */
static cohort_status expand(const cohort_object *in, cohort_object *ret_out, void *context)
{
    struct outbox outbox = {.function = "bfs.visit", .item_bytes = sizeof(struct bfs_edge)};
    uint64_t vertex;
    size_t index, num;
    (void)in;
    (void)ret_out;
    (void)context;
    cohort_status status = outbox_begin(&outbox);
    for (size_t i = 0; !status && (vertex = bfs_graph_frontier(i)) != BFS_NONE; i++) {
        if (!bfs_graph_find(vertex, &index))
            continue;
        const uint64_t *targets = bfs_graph_targets(index, &num);
        for (size_t j = 0; !status && j < num; j++)
            status = outbox_put(&outbox, bfs_graph_owner(targets[j]),
                                &(struct bfs_edge){targets[j], vertex});
    }
    return outbox_end(&outbox, status);
}

/* Locality 0 ---------------------------------------------------------------------------------- */

/* Calls FUNCTION everywhere, and adds up the numbers that come back. */
static cohort_status step(const char *function, const cohort_object *in, uint64_t *ret_sum)
{
    uint32_t num = cohort_num_localities();
    cohort_object *outs = calloc(num, sizeof(*outs));
    if (!outs)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u results", (unsigned)num);
    cohort_status status = cohort_await(cohort_async_everywhere(function, in, outs));
    uint64_t sum = 0, number;
    for (uint32_t i = 0; !status && i < num; i++)
        if (outs[i].bytes == sizeof(number)) {
            memcpy(&number, outs[i].data, sizeof(number));
            sum += number;
        }
    cohort_objects_fini(outs, num);
    free(outs);
    if (!status && ret_sum)
        *ret_sum = sum;
    return status;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A search, and what is to be said of it. */
struct result {
    uint64_t num_vertices;
    char how[64];
};

static cohort_status search_by_levels(uint64_t root, struct result *result)
{
    const cohort_object in = {&root, sizeof(root)};
    uint64_t num_new = 0, num_levels = 0;
    cohort_status status = step("bfs.begin", &in, NULL);
    if (!status)
        status = step("bfs.advance", NULL, &num_new);
    for (; !status && num_new > 0; num_levels++) {
        result->num_vertices += num_new;
        status = step("bfs.expand", NULL, NULL);
        if (!status)
            status = step("bfs.advance", NULL, &num_new);
    }
    snprintf(result->how, sizeof(result->how), "%llu levels", (unsigned long long)num_levels);
    return status;
}

static cohort_status search_by_flood(uint64_t root, struct result *result)
{
    uint64_t num_visits = 0;
    cohort_status status =
        bfs_flood(root, limit * UINT64_C(1000000), step, &result->num_vertices, &num_visits);
    if (!status)
        snprintf(result->how, sizeof(result->how), "visited %.2f times",
                 (double)num_visits / (double)result->num_vertices);
    return status;
}

static cohort_status search(uint64_t root, uint64_t num_edges)
{
    struct result result = {0};
    double start = now();
    cohort_status status =
        is_flood ? search_by_flood(root, &result) : search_by_levels(root, &result);
    double seconds = now() - start;
    if (!status)
        status = bfs_check(root, result.num_vertices, step);
    if (!status)
        printf("root %llu: %llu vertices, %s, %.1f ms, %.1f million edges a second\n",
               (unsigned long long)root, (unsigned long long)result.num_vertices, result.how,
               seconds * 1e3, (double)num_edges / seconds / 1e6);
    return status;
}

static cohort_status lead(void)
{
    uint64_t num_edges = 0;
    cohort_status status = step("bfs.draw", NULL, NULL);
    if (!status)
        status = step("bfs.build", NULL, &num_edges);
    num_edges /= 2; /* each is at both ends */
    if (!status)
        printf("graph: 2^%u vertices, %llu edges, in %u localities\n", (unsigned)scale,
               (unsigned long long)num_edges, (unsigned)cohort_num_localities());
    for (uint32_t i = 0; !status && i < roots; i++) /* one end of an edge that was drawn */
        status =
            search(bfs_graph_edge(scale, seed, i * UINT64_C(7919) % (EDGE_FACTOR << scale)).from,
                   num_edges);
    if (!status)
        printf("check: %u trees are right\n", (unsigned)roots);
    return status;
}

/* The others run what they are called for, until the job ends. */
static cohort_status make_part(const cohort_object *in, cohort_object *ret_out, void *context)
{
    (void)in;
    (void)ret_out;
    (void)context;
    cohort_status status = bfs_graph_begin(scale, cohort_locality(), cohort_num_localities());
    return status || !is_flood ? status : bfs_flood_begin(scale);
}

static cohort_status run(void *arg)
{
    (void)arg;
    if (cohort_locality() > 0)
        return COHORT_OK;
    cohort_status status = step("bfs.make_part", NULL, NULL);
    return status ? status : lead();
}

static cohort_status register_all(void)
{
    static const struct {
        const char *name;
        cohort_remote_function *function;
    } functions[] = {
        {"bfs.make_part", make_part}, {"bfs.draw", draw},     {"bfs.take_edges", take_edges},
        {"bfs.build", build},         {"bfs.begin", begin},   {"bfs.visit", visit},
        {"bfs.advance", advance},     {"bfs.expand", expand},
    };
    cohort_status status = bfs_check_register();
    if (!status)
        status = bfs_flood_register();
    for (size_t i = 0; !status && i < sizeof(functions) / sizeof(*functions); i++)
        status = cohort_remote_register(functions[i].name, functions[i].function, NULL);
    return status;
}

int main(int argc, char **argv)
{
    const struct command_option rows[] = {
        {"scale", "N", "the graph has 2^N vertices, and 16 times as many edges; 10",
         .number = &scale, .min = 1, .max = 26},
        {"roots", "N", "how many searches; 4", .number = &roots, .min = 1, .max = 64},
        {"seed", "N", "of the graph; 1", .number = &seed, .max = UINT32_MAX},
        {"flood", NULL, "does not search level by level", .flag = &is_flood},
        {"limit", "MS", "ends a flood after so many milliseconds; 0: no limit", .number = &limit,
         .max = 1000000},
    };
    const struct command command = {
        .name = "bfs",
        .about = "Searches the Kronecker graph of Graph 500 breadth-first, by remote tasks, and "
                 "checks\neach tree.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    if (limit && !is_flood) {
        fprintf(stderr, "bfs: --limit needs --flood\n");
        command_print_usage(stderr, &command);
        return 2;
    }
    if (register_all()) {
        fprintf(stderr, "bfs: %s\n", cohort_error_message());
        return 1;
    }
    int status = cohort_main(argc, argv, run, NULL);
    bfs_flood_end();
    bfs_graph_end();
    return status;
}
