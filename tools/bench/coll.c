/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll`: which operations and sizes. */
#include "tools/bench/group.h"

/* Sizes up to 1 MiB a site. In the last case, the block of all_to_all is what each pair has of
 * it. */
static const struct bench_case cases[] = {
    {.operation = &bench_operation_barrier},
    {.operation = &bench_operation_all_reduce, .bytes = 8},
    {.operation = &bench_operation_all_reduce, .bytes = 4096},
    {.operation = &bench_operation_all_reduce, .bytes = 1 << 20},
    {.operation = &bench_operation_all_to_all, .bytes = 8},
    {.operation = &bench_operation_all_to_all, .bytes = 4096},
    {.operation = &bench_operation_all_to_all, .bytes = 1 << 20, .is_total = true},
};

/* Barrier, all_reduce and all_to_all. */
cohort_status bench_coll(const struct bench *bench)
{
    size_t num_cases = sizeof(cases) / sizeof(cases[0]);
    cohort_status status = bench_shapes(bench, cases, num_cases);
    return status ? status : bench_chosen(bench, cases, num_cases);
}
