/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --works`: tasks that are spawned and awaited: fib, empty, halves, tree. */
#include <stdlib.h>

#include "tools/bench/task_works.h"

struct fib {
    uint64_t n;
    uint64_t result;
};

static cohort_status fib(void *arg)
{
    struct fib *call = arg, left = {.n = call->n - 1}, right = {.n = call->n - 2};
    if (call->n < 2) {
        call->result = call->n;
        return COHORT_OK;
    }
    cohort_future *future = cohort_async(fib, &left);
    cohort_status status = fib(&right), left_status = cohort_await(future);
    call->result = left.result + right.result;
    return status != COHORT_OK ? status : left_status;
}

cohort_status task_fib(const struct problem *problem, struct problem_time *ret_time)
{
    struct fib call = {.n = problem->size};
    uint64_t start = bench_now();
    cohort_status status = fib(&call);
    *ret_time = (struct problem_time){bench_now() - start, problem_fib_spawns(problem->size)};
    if (status == COHORT_OK && call.result != problem_fib(problem->size))
        return task_wrong("another number");
    return status;
}

static cohort_status mark(void *arg)
{
    problem_mark(arg, 0);
    return COHORT_OK;
}

static cohort_status await_each(cohort_future **futures, uint64_t num)
{
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; i < num; i++) {
        cohort_status one = cohort_await(futures[i]);
        status = status != COHORT_OK ? status : one;
    }
    return status;
}

static cohort_status await_together(cohort_future **futures, uint64_t num)
{
    return cohort_await(cohort_when_all(futures, num));
}

/* Spawns all tasks, and awaits them by AWAIT. */
static cohort_status spawn_many(uint64_t num, struct problem_time *ret_time,
                                cohort_status (*await)(cohort_future **futures, uint64_t num))
{
    uint8_t *marks = problem_marks_create(num);
    cohort_future **futures = calloc(num, sizeof(cohort_future *));
    cohort_status status = marks && futures ? COHORT_OK : task_no_memory(num, "futures");
    uint64_t start = bench_now();
    if (status == COHORT_OK) {
        for (uint64_t i = 0; i < num; i++)
            futures[i] = cohort_async(mark, &marks[i]);
        status = await(futures, num);
    }
    *ret_time = (struct problem_time){bench_now() - start, num};
    if (status == COHORT_OK && !problem_marks_all(marks, num))
        status = task_wrong("a task did not run");
    free(futures);
    free(marks);
    return status;
}

cohort_status task_empty(const struct problem *problem, struct problem_time *ret_time)
{
    return spawn_many(problem->size, ret_time, await_each);
}

cohort_status task_when_all(const struct problem *problem, struct problem_time *ret_time)
{
    return spawn_many(problem->size, ret_time, await_together);
}

struct half {
    uint8_t *marks;
    uint64_t begin, end;
};

static cohort_status halve(void *arg)
{
    const struct half *range = arg;
    uint64_t middle = range->begin + (range->end - range->begin) / 2;
    if (middle == range->begin) {
        problem_mark(range->marks, range->begin);
        return COHORT_OK;
    }
    struct half left = {range->marks, range->begin, middle};
    struct half right = {range->marks, middle, range->end};
    cohort_future *future = cohort_async(halve, &left);
    cohort_status status = halve(&right), left_status = cohort_await(future);
    return status != COHORT_OK ? status : left_status;
}

cohort_status task_halves(const struct problem *problem, struct problem_time *ret_time)
{
    uint8_t *marks = problem_marks_create(problem->size);
    if (!marks)
        return task_no_memory(problem->size, "marks");
    uint64_t start = bench_now();
    cohort_status status = halve(&(struct half){marks, 0, problem->size});
    *ret_time = (struct problem_time){bench_now() - start, problem->size};
    if (status == COHORT_OK && !problem_marks_all(marks, problem->size))
        status = task_wrong("a leaf was not reached");
    free(marks);
    return status;
}

static cohort_status mark_index(size_t index, void *marks)
{
    problem_mark(marks, index);
    return COHORT_OK;
}

static cohort_status mark_index_slowly(size_t index, void *marks)
{
    problem_mark_slowly(marks, index);
    return COHORT_OK;
}

static cohort_status mark_range(const struct problem *problem, struct problem_time *ret_time,
                                cohort_range_function *function)
{
    uint8_t *marks = problem_marks_create(problem->size);
    if (!marks)
        return task_no_memory(problem->size, "marks");
    uint64_t start = bench_now();
    cohort_status status =
        cohort_await(cohort_parallel_for(0, problem->size, NULL, function, marks));
    *ret_time = (struct problem_time){bench_now() - start, problem->size};
    if (status == COHORT_OK && !problem_marks_all(marks, problem->size))
        status = task_wrong("an index was left out");
    free(marks);
    return status;
}

/* A grain of one index is what Cohort does anyway. */
cohort_status task_range(const struct problem *problem, struct problem_time *ret_time)
{
    return mark_range(problem, ret_time, mark_index);
}

cohort_status task_range_us(const struct problem *problem, struct problem_time *ret_time)
{
    return mark_range(problem, ret_time, mark_index_slowly);
}

struct visit {
    struct problem_node node;
    uint64_t count; /* of the nodes in and below it */
};

/* Spawns a task for each child. */
static cohort_status visit(void *arg)
{
    struct visit *self = arg, visits[PROBLEM_MOST_CHILDREN];
    struct problem_node children[PROBLEM_MOST_CHILDREN];
    cohort_future *futures[PROBLEM_MOST_CHILDREN];
    unsigned num = problem_tree_children(&self->node, children);
    for (unsigned i = 0; i < num; i++) {
        visits[i].node = children[i];
        futures[i] = cohort_async(visit, &visits[i]);
    }
    self->count = 1;
    cohort_status status = await_each(futures, num);
    for (unsigned i = 0; status == COHORT_OK && i < num; i++)
        self->count += visits[i].count;
    return status;
}

cohort_status task_tree(const struct problem *problem, struct problem_time *ret_time)
{
    struct visit root = {.node = problem_tree_root(problem->size)};
    uint64_t count = problem_tree_count(&root.node);
    uint64_t start = bench_now();
    cohort_status status = visit(&root);
    *ret_time = (struct problem_time){bench_now() - start, count};
    if (status == COHORT_OK && root.count != count)
        return task_wrong("another number of nodes");
    return status;
}
