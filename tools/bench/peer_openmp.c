/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the program peer_openmp: the works of `tasks` by tasks and loops of OpenMP. */
#include <omp.h>

#include "tools/bench/graph.h"
#include "tools/bench/peer_works.h"

/* Each work is a parallel region in which one thread begins. OpenMP has no futures, and a task that
 * waits can't give up its thread to what it waits for. */

static uint64_t fib(uint64_t n)
{
    uint64_t left, right;
    if (n < 2)
        return n;
#pragma omp task shared(left)
    left = fib(n - 1);
    right = fib(n - 2);
#pragma omp taskwait
    return left + right;
}

static bool solve_fib(const struct problem *problem, struct problem_time *ret_time)
{
    uint64_t result = 0;
#pragma omp parallel num_threads(problem->workers)
#pragma omp single
    {
        uint64_t start = peer_now();
        result = fib(problem->size);
        ret_time->ns = peer_now() - start;
    }
    ret_time->items = problem_fib_spawns(problem->size);
    return result == problem_fib(problem->size);
}

static bool solve_empty(const struct problem *problem, struct problem_time *ret_time)
{
    uint8_t *marks = peer_marks(problem->size);
#pragma omp parallel num_threads(problem->workers)
#pragma omp single
    {
        uint64_t start = peer_now();
        for (uint64_t i = 0; i < problem->size; i++) {
#pragma omp task
            problem_mark(marks, i);
        }
#pragma omp taskwait
        ret_time->ns = peer_now() - start;
    }
    ret_time->items = problem->size;
    return peer_marks_check(marks, problem->size);
}

static void halve(uint8_t *marks, uint64_t begin, uint64_t end)
{
    uint64_t middle = begin + (end - begin) / 2;
    if (middle == begin) {
        problem_mark(marks, begin);
        return;
    }
#pragma omp task
    halve(marks, begin, middle);
    halve(marks, middle, end);
#pragma omp taskwait
}

static bool solve_halves(const struct problem *problem, struct problem_time *ret_time)
{
    uint8_t *marks = peer_marks(problem->size);
#pragma omp parallel num_threads(problem->workers)
#pragma omp single
    {
        uint64_t start = peer_now();
        halve(marks, 0, problem->size);
        ret_time->ns = peer_now() - start;
    }
    ret_time->items = problem->size;
    return peer_marks_check(marks, problem->size);
}

static uint64_t visit(const struct problem_node *node)
{
    struct problem_node children[PROBLEM_MOST_CHILDREN];
    uint64_t counts[PROBLEM_MOST_CHILDREN], count = 1;
    unsigned num = problem_tree_children(node, children);
    for (unsigned i = 0; i < num; i++) {
#pragma omp task shared(children, counts)
        counts[i] = visit(&children[i]);
    }
#pragma omp taskwait
    for (unsigned i = 0; i < num; i++)
        count += counts[i];
    return count;
}

static bool solve_tree(const struct problem *problem, struct problem_time *ret_time)
{
    struct problem_node root = problem_tree_root(problem->size);
    uint64_t wanted = problem_tree_count(&root), count = 0;
#pragma omp parallel num_threads(problem->workers)
#pragma omp single
    {
        uint64_t start = peer_now();
        count = visit(&root);
        ret_time->ns = peer_now() - start;
    }
    ret_time->items = wanted;
    return count == wanted;
}

/* Runs MARK for a range of indices: one at a time, or as OpenMP shares them out by default, which
 * is once at the start. */
static bool solve_range(const struct problem *problem, struct problem_time *ret_time,
                        void (*mark)(uint8_t *marks, uint64_t index), bool is_one_by_one)
{
    uint8_t *marks = peer_marks(problem->size);
    uint64_t start = peer_now();
    if (is_one_by_one) {
#pragma omp parallel for num_threads(problem->workers) schedule(dynamic, 1)
        for (uint64_t i = 0; i < problem->size; i++)
            mark(marks, i);
    } else {
#pragma omp parallel for num_threads(problem->workers)
        for (uint64_t i = 0; i < problem->size; i++)
            mark(marks, i);
    }
    *ret_time = (struct problem_time){peer_now() - start, problem->size};
    return peer_marks_check(marks, problem->size);
}

static bool solve_range_one(const struct problem *problem, struct problem_time *ret_time)
{
    return solve_range(problem, ret_time, problem_mark, true);
}

static bool solve_range_auto(const struct problem *problem, struct problem_time *ret_time)
{
    return solve_range(problem, ret_time, problem_mark, false);
}

static bool solve_range_one_us(const struct problem *problem, struct problem_time *ret_time)
{
    return solve_range(problem, ret_time, problem_mark_slowly, true);
}

static bool solve_range_us(const struct problem *problem, struct problem_time *ret_time)
{
    return solve_range(problem, ret_time, problem_mark_slowly, false);
}

/* By the dependences of OpenMP. Task Bench's own client for OpenMP is of this kind, too. */
static void spawn_graph(struct graph *graph)
{
    uint64_t num = graph_size(graph);
    for (uint64_t task = 0; task < num; task++) {
        const struct shape_columns *inputs = graph_inputs(graph, task);
        /* clang-format off */
#pragma omp task depend(iterator(unsigned i = 0 : inputs->num), \
                        in : graph->results[graph_input(task, inputs->columns[i])]) \
                 depend(out : graph->results[task])
        /* clang-format on */
        graph_run(graph, task);
    }
}

static bool solve_graph(const struct problem *problem, struct problem_time *ret_time)
{
    static struct graph graph;
    if (!graph_init(&graph, problem))
        return false;
#pragma omp parallel num_threads(problem->workers)
#pragma omp single
    {
        uint64_t start = peer_now();
        spawn_graph(&graph);
#pragma omp taskwait
        ret_time->ns = peer_now() - start;
    }
    ret_time->items = graph_size(&graph);
    return graph_fini(&graph);
}

/* OpenMP has no version besides the compiler's. */
#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

int main(int argc, char **argv)
{
    static const struct peer_work works[] = {
        {"fib", "task", solve_fib},
        {"empty", "task", solve_empty},
        {"halves", "task", solve_halves},
        {"tree", "task", solve_tree},
        {"range_one", "dynamic", solve_range_one},
        {"range", "static", solve_range_auto},
        {"range_one_us", "dynamic", solve_range_one_us},
        {"range_us", "static", solve_range_us},
        {"graph_stencil", "depend", solve_graph},
        {"graph_nearest", "depend", solve_graph},
        {"graph_fft", "depend", solve_graph},
        {"graph_tree", "depend", solve_graph},
        {"graph_random", "depend", solve_graph},
        {"graph_all_to_all", "depend", solve_graph},
        {NULL, NULL, NULL},
    };
    omp_set_dynamic(0);
    return peer_works_main(argc, argv, COMPILER, works);
}
