/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdlib.h>

#include "examples/task_bench.h"

struct graph;

/* A task. It is started when no input is missing. */
struct point {
    struct graph *graph;
    uint32_t step, column;
    atomic_uint num_missing; /* inputs */
    uint64_t result;
};

struct graph {
    const struct shape *shape;
    uint32_t steps;
    struct point *points;
    atomic_uint num_ends; /* tasks that are not done and that no other task needs */
    atomic_bool is_wrong;
    cohort_promise *done;
};

static struct point *point_at(const struct graph *graph, uint32_t step, uint32_t column)
{
    return &graph->points[(size_t)step * SHAPE_WIDTH + column];
}

/* Those of the step before. The first step needs none, and nobody needs the last one. */
static const struct shape_columns *inputs_of(const struct point *point)
{
    static const struct shape_columns none = {.num = 0};
    const struct shape *shape = point->graph->shape;
    return point->step == 0 ? &none : &shape_set(shape, point->step)->inputs[point->column];
}

static const struct shape_columns *outputs_of(const struct point *point)
{
    static const struct shape_columns none = {.num = 0};
    const struct graph *graph = point->graph;
    return point->step + 1 == graph->steps
               ? &none
               : &shape_set(graph->shape, point->step + 1)->outputs[point->column];
}

static cohort_status run_point(void *arg);

/* Nobody awaits the task. If there is no memory to start it with, it runs as a call. */
static void start(struct point *point)
{
    cohort_future *task = cohort_async(run_point, point);
    if (!cohort_future_ready(task))
        cohort_future_unref(task);
    else if (cohort_await(task) != COHORT_OK)
        run_point(point);
}

/* After the last of its outputs has been told, the graph may be gone. */
static cohort_status run_point(void *arg)
{
    struct point *point = arg;
    struct graph *graph = point->graph;
    const struct shape_columns *inputs = inputs_of(point), *outputs = outputs_of(point);
    uint32_t next = point->step + 1, num_outputs = outputs->num;
    for (uint32_t i = 0; i < inputs->num; i++) {
        uint32_t column = inputs->columns[i];
        if (point_at(graph, point->step - 1, column)->result !=
            task_bench_result(point->step - 1, column))
            atomic_store(&graph->is_wrong, true);
    }
    point->result = task_bench_result(point->step, point->column);
    for (uint32_t i = 0; i < num_outputs; i++) {
        struct point *output = point_at(graph, next, outputs->columns[i]);
        if (atomic_fetch_sub(&output->num_missing, 1) == 1)
            start(output);
    }
    if (num_outputs == 0 && atomic_fetch_sub(&graph->num_ends, 1) == 1)
        cohort_promise_fulfil(graph->done, NULL);
    return COHORT_OK;
}

static void fill(struct graph *graph)
{
    for (uint32_t step = 0; step < graph->steps; step++)
        for (uint32_t column = 0; column < SHAPE_WIDTH; column++) {
            struct point *point = point_at(graph, step, column);
            *point = (struct point){.graph = graph, .step = step, .column = column};
            atomic_store(&point->num_missing, inputs_of(point)->num);
            if (outputs_of(point)->num == 0)
                atomic_fetch_add(&graph->num_ends, 1);
        }
}

cohort_status task_bench_by_counters(const struct shape *shape, uint32_t steps)
{
    struct graph graph = {.shape = shape, .steps = steps};
    cohort_future *done;
    graph.points = calloc((size_t)steps * SHAPE_WIDTH, sizeof(*graph.points));
    if (!graph.points)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u steps", (unsigned)steps);
    cohort_status status = cohort_promise_create(&graph.done, &done);
    if (!status) {
        fill(&graph);
        for (uint32_t column = 0; column < SHAPE_WIDTH; column++)
            start(point_at(&graph, 0, column));
        status = cohort_await(done);
    }
    if (!status && atomic_load(&graph.is_wrong))
        status = cohort_fail(COHORT_ERR_FAILED, "check failed: %s: a task had not all its inputs",
                             shape->name);
    free(graph.points);
    return status;
}
