/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --works`: graphs whose tasks count their inputs, and start each other. */
#include <stdatomic.h>
#include <stdlib.h>

#include "tools/bench/graph.h"
#include "tools/bench/task_works.h"

struct walk;

/* A task. It is started when no input is missing. */
struct point {
    struct walk *walk;
    atomic_uint num_missing;
};

struct walk {
    struct graph graph;
    struct point *points;
    atomic_uint num_ends; /* tasks that are not done and that no other task needs */
    cohort_promise *done;
};

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

/* After the last of its outputs has been told, the walk may be over. */
static cohort_status run_point(void *arg)
{
    struct point *point = arg;
    struct walk *walk = point->walk;
    uint64_t task = (uint64_t)(point - walk->points);
    const struct shape_columns *outputs = graph_outputs(&walk->graph, task);
    unsigned num_outputs = outputs->num;
    graph_run(&walk->graph, task);
    for (unsigned i = 0; i < num_outputs; i++) {
        struct point *output = &walk->points[graph_output(task, outputs->columns[i])];
        if (atomic_fetch_sub(&output->num_missing, 1) == 1)
            start(output);
    }
    if (num_outputs == 0 && atomic_fetch_sub(&walk->num_ends, 1) == 1)
        cohort_promise_fulfil(walk->done, NULL);
    return COHORT_OK;
}

static void fill(struct walk *walk)
{
    for (uint64_t task = 0; task < graph_size(&walk->graph); task++) {
        walk->points[task].walk = walk;
        atomic_store(&walk->points[task].num_missing, graph_inputs(&walk->graph, task)->num);
        if (graph_outputs(&walk->graph, task)->num == 0)
            atomic_fetch_add(&walk->num_ends, 1);
    }
}

cohort_status task_graph(const struct problem *problem, struct problem_time *ret_time)
{
    static struct walk walk; /* a work at a time is measured */
    cohort_future *done;
    uint64_t num = problem->size * SHAPE_WIDTH;
    if (!graph_init(&walk.graph, problem))
        return task_no_memory(num, "results");
    walk.points = calloc(num, sizeof(*walk.points));
    cohort_status status =
        walk.points ? cohort_promise_create(&walk.done, &done) : task_no_memory(num, "tasks");
    if (status == COHORT_OK) {
        fill(&walk);
        uint64_t begin = bench_now();
        for (unsigned column = 0; column < SHAPE_WIDTH; column++)
            start(&walk.points[column]);
        status = cohort_await(done);
        *ret_time = (struct problem_time){bench_now() - begin, num};
    }
    free(walk.points);
    bool is_right = graph_fini(&walk.graph);
    return status == COHORT_OK && !is_right ? task_wrong("a task had not all its inputs") : status;
}
