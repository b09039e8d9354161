/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/counts/two.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/cluster.h"
#include "tests/support/sites.h"

static uint64_t num_calls;
static cohort_status (*of_site)(cohort_comm *comm, void *arg);

uint64_t two_num_calls(void)
{
    return num_calls;
}

TEST(calls)
{
    struct cluster *cluster = cluster_create(0, 2, 0);
    CHECK_OK(cluster_sites(
        cluster, (struct sites){.name = "calls", .options = {.num_sites = 2}, .run = of_site}));
    cluster_destroy(cluster);
}

int two_main(int argc, char **argv, cohort_status (*run)(cohort_comm *comm, void *arg))
{
    char *with_memory[] = {argv[0], "--shm", NULL};
    if (argc != 2) {
        fprintf(stderr, "usage: %s CALLS\n", argv[0]);
        return 2;
    }
    of_site = run;
    num_calls = strtoull(argv[1], NULL, 10);
    return cluster_test(2, with_memory, 1);
}
