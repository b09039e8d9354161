/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `check`: what agreement costs. */
#include "tools/bench/group.h"

/* What agreement costs: a gather without it, a gather with it, and agreement alone. A gather alone
 * is not synchronised, so its calls overlap, as far as the window lets them. With agreement they
 * don't. */
static const struct bench_case cases[] = {
    {.operation = &bench_operation_gather, .bytes = 8},
    {.operation = &bench_operation_checked_gather, .bytes = 8},
    {.operation = &bench_operation_check},
};

cohort_status bench_check(const struct bench *bench)
{
    return bench_shapes(bench, cases, sizeof(cases) / sizeof(cases[0]));
}
