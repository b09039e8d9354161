/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/sites.h"

/* usage: all_reduce_calls SITES CALLS: all_reduces of 8 bytes, one after the other, among tasks of
 * this locality. instructions.py counts what one call takes. */

struct program {
    uint32_t num_sites;
    uint64_t num_calls;
};

static cohort_status repeat(cohort_comm *comm, void *arg)
{
    const struct program *program = arg;
    double in = cohort_comm_this_site(comm), out = 0;
    cohort_status status = COHORT_OK;
    for (uint64_t generation = 1; !status && generation <= program->num_calls; generation++)
        status = cohort_await(
            cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, generation));
    if (!status && out != program->num_sites * (program->num_sites - 1) / 2.0)
        status = cohort_fail(COHORT_ERR_MISMATCH, "the sum of the sites is %g", out);
    return status;
}

static cohort_status run(void *arg)
{
    const struct program *program = arg;
    return sites_run(&(struct sites){
        .name = "calls",
        .options = {.num_sites = program->num_sites},
        .run = repeat,
        .arg = arg,
    });
}

int main(int argc, char **argv)
{
    struct program program;
    if (argc != 3) {
        fprintf(stderr, "usage: all_reduce_calls SITES CALLS\n");
        return 2;
    }
    program.num_sites = (uint32_t)strtoul(argv[1], NULL, 10);
    program.num_calls = strtoull(argv[2], NULL, 10);
    return cohort_main(argc, argv, run, &program);
}
