/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --works`: the graphs of Task Bench, and what each task of them does. */
#include "tools/bench/graph.h"

#include <stdlib.h>
#include <string.h>

static const struct shape_columns none = {.num = 0};

bool graph_init(struct graph *graph, const struct problem *problem)
{
    shape_init(&graph->shape, problem->work + strlen("graph_"));
    graph->steps = (uint32_t)problem->size;
    graph->results = calloc(graph_size(graph), sizeof(*graph->results));
    return graph->results != NULL;
}

/* No other task has the same. 0: the task has not run, or was wrong. */
static uint64_t result_of(uint64_t task)
{
    return task + 1;
}

bool graph_fini(struct graph *graph)
{
    bool is_right = true;
    for (uint64_t task = 0; task < graph_size(graph); task++)
        is_right = is_right && graph->results[task] == result_of(task);
    free(graph->results);
    return is_right;
}

uint64_t graph_size(const struct graph *graph)
{
    return (uint64_t)graph->steps * SHAPE_WIDTH;
}

const struct shape_columns *graph_inputs(const struct graph *graph, uint64_t task)
{
    uint64_t step = task / SHAPE_WIDTH;
    return step == 0 ? &none
                     : &shape_set(&graph->shape, (unsigned)step)->inputs[task % SHAPE_WIDTH];
}

const struct shape_columns *graph_outputs(const struct graph *graph, uint64_t task)
{
    uint64_t next = task / SHAPE_WIDTH + 1;
    return next == graph->steps
               ? &none
               : &shape_set(&graph->shape, (unsigned)next)->outputs[task % SHAPE_WIDTH];
}

uint64_t graph_input(uint64_t task, unsigned column)
{
    return (task / SHAPE_WIDTH - 1) * SHAPE_WIDTH + column;
}

uint64_t graph_output(uint64_t task, unsigned column)
{
    return (task / SHAPE_WIDTH + 1) * SHAPE_WIDTH + column;
}

/* Not inlined, so that it is the same code for all. */
__attribute__((noinline)) void graph_run(struct graph *graph, uint64_t task)
{
    const struct shape_columns *inputs = graph_inputs(graph, task);
    bool is_right = true;
    for (unsigned i = 0; i < inputs->num; i++) {
        uint64_t input = graph_input(task, inputs->columns[i]);
        if (graph->results[input] != result_of(input))
            is_right = false;
    }
    graph->results[task] = is_right ? result_of(task) : 0;
}
