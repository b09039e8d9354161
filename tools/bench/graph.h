/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --works`: the graphs of Task Bench, and what each task of them does. */
#ifndef COHORT_TOOLS_BENCH_GRAPH_H
#define COHORT_TOOLS_BENCH_GRAPH_H

#include "examples/shape.h"
#include "tools/bench/problems.h"

/* Steps of SHAPE_WIDTH tasks each, which only check the results that they need, and leave their
 * own. C that C++ can include, too. */
struct graph {
    struct shape shape;
    uint32_t steps;
    uint64_t *results; /* of all tasks */
};

/* The graph that PROBLEM names: graph_SHAPE, with as many steps as its size. False: no memory. */
bool graph_init(struct graph *graph, const struct problem *problem);

/* Frees the results. False: one of them is missing, or was made without those it needs. */
bool graph_fini(struct graph *graph);

/* The number of tasks. They are numbered step by step. */
uint64_t graph_size(const struct graph *graph);

/* The tasks of the step before that TASK needs, and those of the next one that need it, as
 * columns. */
const struct shape_columns *graph_inputs(const struct graph *graph, uint64_t task);
const struct shape_columns *graph_outputs(const struct graph *graph, uint64_t task);

/* The number of the task in COLUMN of the step before that of TASK, or of the next one. */
uint64_t graph_input(uint64_t task, unsigned column);
uint64_t graph_output(uint64_t task, unsigned column);

/* Does what TASK is to do. */
void graph_run(struct graph *graph, uint64_t task);

#endif
