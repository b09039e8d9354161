/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/proc/memory.h"
#include "runtime/remote/memory.h"
#include "tests/support/cluster.h"

/* usage: one_sided_calls CALLS: gets, puts and adds of 8 bytes in the memory of another locality of
 * the host, CALLS of each. */

static uint64_t num_calls;

TEST(calls)
{
    struct cluster *cluster = cluster_create(0, 2, 0);
    struct cohort__process *process = cluster_process(cluster, 0);
    uint64_t *owned = cluster_memory_alloc(cluster, 1, sizeof(*owned)), mine = 0;
    cohort_memory_handle handle;
    *owned = 0;
    CHECK_OK(cohort__memory_share_for(cluster_process(cluster, 1), &handle, owned, sizeof(*owned)));
    for (uint64_t i = 0; i < num_calls; i++) {
        CHECK_OK(cohort_await(cohort__memory_get_from(process, &handle, 0, &mine, sizeof(mine))));
        CHECK_OK(cohort_await(cohort__memory_put_from(process, &handle, 0, &mine, sizeof(mine))));
        CHECK_OK(cohort_await(cohort__memory_add_from(process, &handle, 0, 1, &mine)));
    }
    CHECK_INT(*owned, num_calls);
    cluster_memory_free(cluster, 1, owned);
    cluster_destroy(cluster);
}

int main(int argc, char **argv)
{
    char *with_memory[] = {argv[0], "--shm", NULL};
    if (argc != 2) {
        fprintf(stderr, "usage: %s CALLS\n", argv[0]);
        return 2;
    }
    num_calls = strtoull(argv[1], NULL, 10);
    return cluster_test(2, with_memory, 1);
}
