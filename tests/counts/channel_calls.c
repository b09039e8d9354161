/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cohort/channel.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* usage: channel_calls CALLS: a message of 8 bytes goes to and fro between two localities that
 * share memory. instructions.py counts what one message takes. */

static uint64_t num_calls;

static cohort_status bounce(cohort_comm *comm, void *arg)
{
    uint32_t other = !cohort_comm_this_site(comm);
    uint64_t number = 0;
    cohort_status status = COHORT_OK;
    (void)arg;
    for (uint64_t call = 0; !status && call < num_calls; call++) {
        if (call % 2 == other) {
            number++;
            status = cohort_await(cohort_channel_set(comm, other, 1, &number, sizeof(number)));
        } else {
            status =
                cohort_await(cohort_channel_get(comm, other, 1, &number, sizeof(number), NULL));
        }
    }
    CHECK_INT((long long)number, (long long)num_calls);
    return status;
}

static void test_calls(void)
{
    struct cluster *cluster = cluster_create(0, 2, 0);
    CHECK_INT(sites_run(&(struct sites){.name = "calls",
                                        .options = {.num_sites = 2},
                                        .create = cluster_create_comm,
                                        .context = cluster,
                                        .run = bounce}),
              COHORT_OK);
    cluster_destroy(cluster);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {{"calls", test_calls}};
    char *with_memory[] = {argv[0], "--shm", NULL};
    if (argc != 2) {
        fprintf(stderr, "usage: channel_calls CALLS\n");
        return 2;
    }
    num_calls = strtoull(argv[1], NULL, 10);
    return cluster_main(2, with_memory, cases, 1, 1);
}
