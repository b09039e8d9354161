/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "cohort/collectives.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* usage: all_reduce_two CALLS: all_reduces of 8 bytes, one after the other, of one site in each of
 * two localities that share memory, so over a board. instructions.py counts what one call of one
 * site takes. */

static uint64_t num_calls;

static cohort_status repeat(cohort_comm *comm, void *arg)
{
    double in = cohort_comm_this_site(comm) + 1, out = 0;
    cohort_status status = COHORT_OK;
    (void)arg;
    for (uint64_t generation = 1; !status && generation <= num_calls; generation++)
        status = cohort_await(
            cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, generation));
    CHECK(out == 3);
    return status;
}

static void test_calls(void)
{
    struct cluster *cluster = cluster_create(0, 2, 0);
    CHECK_INT(sites_run(&(struct sites){.name = "calls",
                                        .options = {.num_sites = 2},
                                        .create = cluster_create_comm,
                                        .context = cluster,
                                        .run = repeat}),
              COHORT_OK);
    cluster_destroy(cluster);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {{"calls", test_calls}};
    char *with_memory[] = {argv[0], "--shm", NULL};
    if (argc != 2) {
        fprintf(stderr, "usage: all_reduce_two CALLS\n");
        return 2;
    }
    num_calls = strtoull(argv[1], NULL, 10);
    return cluster_main(2, with_memory, cases, 1, 1);
}
