/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>

#include "examples/task_bench.h"

/* Not inlined, as if it were a task. */
__attribute__((noinline)) static bool run_point(const struct shape *shape, uint64_t *results,
                                                uint32_t step, uint32_t column)
{
    const struct shape_columns *inputs = &shape_set(shape, step)->inputs[column];
    bool is_right = true;
    for (uint32_t i = 0; step > 0 && i < inputs->num; i++) {
        uint32_t input = inputs->columns[i];
        if (results[(step - 1) * SHAPE_WIDTH + input] != task_bench_result(step - 1, input))
            is_right = false;
    }
    results[step * SHAPE_WIDTH + column] = task_bench_result(step, column);
    return is_right;
}

cohort_status task_bench_plainly(const struct shape *shape, uint32_t steps)
{
    uint64_t *results = calloc((size_t)steps * SHAPE_WIDTH, sizeof(*results));
    bool is_right = true;
    if (!results)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u steps", (unsigned)steps);
    for (uint32_t step = 0; step < steps; step++)
        for (uint32_t column = 0; column < SHAPE_WIDTH; column++)
            if (!run_point(shape, results, step, column))
                is_right = false;
    free(results);
    return is_right ? COHORT_OK
                    : cohort_fail(COHORT_ERR_FAILED,
                                  "check failed: %s: a task had not all its inputs", shape->name);
}
