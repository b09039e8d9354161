/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `barrier`: a barrier of tasks as sites. */
#include <stdio.h>

#include "tools/bench/group.h"

/* A barrier of tasks as sites in one locality, as a communicator with the default options makes
 * it. */
cohort_status bench_barrier(const struct bench *bench)
{
    static const struct bench_case one = {.operation = &bench_operation_barrier};
    static const uint32_t num_sites[] = {2, 8, 64};
    cohort_status status = COHORT_OK;
    for (size_t i = 0; status == COHORT_OK && i < sizeof(num_sites) / sizeof(num_sites[0]); i++) {
        char name[32];
        snprintf(name, sizeof(name), "barrier of %u", (unsigned)num_sites[i]);
        status = bench_group_run(&(struct bench_group){
            .bench = bench,
            .name = name,
            .sites_per_locality = num_sites[i],
            .cases = &one,
            .num_cases = 1,
        });
    }
    return status;
}
