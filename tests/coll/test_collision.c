/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "collectives/comm/fingerprint.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* The fingerprint has seven bits of hash for user's datatypes, so that two of them may look the
 * same. Then the sizes of the messages tell them apart: whichever way a message of the wrong size
 * takes, early, waited for, or before its step may start, the call fails and nothing is lost. */

enum { NUM_SITES = 7, BYTES = 8, BYTES_MAX = 4096, GENERATIONS = 3 * NUM_SITES };

static uint64_t fingerprint_of(size_t bytes)
{
    return cohort__fingerprint(
        &(struct cohort__fingerprint_parts){.datatype = cohort_datatype_of_bytes(bytes)});
}

static size_t colliding_bytes(void)
{
    for (size_t bytes = BYTES + 1; bytes <= BYTES_MAX; bytes++)
        if (fingerprint_of(bytes) == fingerprint_of(BYTES))
            return bytes;
    test_failed(__FILE__, __LINE__, "no collision up to %d bytes", BYTES_MAX);
}

static cohort_status one_is_larger(cohort_comm *comm, void *arg)
{
    static unsigned char in[NUM_SITES * BYTES_MAX], out[NUM_SITES][NUM_SITES * BYTES_MAX];
    uint32_t me = cohort_comm_this_site(comm), num_failed = 0;
    cohort_datatype larger = cohort_datatype_of_bytes(*(const size_t *)arg);
    for (uint64_t generation = 1; generation <= GENERATIONS; generation++) {
        bool is_wrong = generation % NUM_SITES == me;
        cohort_datatype type = is_wrong ? larger : cohort_datatype_of_bytes(BYTES);
        cohort_future *done = generation <= NUM_SITES
                                  ? cohort_all_gather(comm, in, out[me], 1, type, generation)
                              : generation <= 2 * NUM_SITES
                                  ? cohort_all_to_all(comm, in, out[me], 1, type, generation)
                              : me == cohort_comm_root_site(comm)
                                  ? cohort_gather_here(comm, in, out[me], 1, type, generation)
                                  : cohort_gather_there(comm, in, 1, type, generation);
        cohort_status status = cohort_await(done);
        if (status)
            CHECK_INT(status, COHORT_ERR_MISMATCH);
        if (status)
            CHECK_CONTAINS(cohort_error_message(), "were expected");
        num_failed += status != COHORT_OK;
    }
    CHECK(num_failed > 0);
    return cohort_await(cohort_barrier(comm, GENERATIONS + 1));
}

static void run(uint64_t seed, uint32_t threshold)
{
    size_t larger = colliding_bytes();
    struct cluster *cluster = cluster_create(seed, 1 + seed % 3, 0);
    cohort_status status = sites_run(&(struct sites){
        .name = "collision",
        .options = {.num_sites = NUM_SITES,
                    .arity = 2,
                    .flat_fallback_threshold = threshold,
                    .algorithms = threshold == COHORT_FORCE_TREE
                                      ? "all_gather=hierarchical,all_to_all=hierarchical,"
                                        "gather=hierarchical"
                                      : "all_gather=linear,all_to_all=linear,gather=linear",
                    .stall_after = 100000000},
        .create = cluster_create_comm,
        .context = cluster,
        .run = one_is_larger,
        .arg = &larger,
    });
    if (status)
        test_failed(__FILE__, __LINE__, "seed %llu: %s", (unsigned long long)seed,
                    cohort_error_message());
    cluster_destroy(cluster);
}

static void test_flat(void)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
        run(seed, 1024);
}

static void test_tree(void)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
        run(seed, COHORT_FORCE_TREE);
}

static const struct test_case cases[] = {
    {"flat", test_flat},
    {"tree", test_tree},
};

int main(int argc, char **argv)
{
    return cluster_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), 1);
}
