/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "runtime/base/hash.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* Every collective, flat and with the tree, for 1 to 33 sites (with a sanitizer for some of these
 * numbers) and some roots (-DEVERY_ROOT: every root). The calls go through the whole runtime, on
 * localities whose messages are delayed and overtake each other. */

#ifndef EVERY_ROOT
#define EVERY_ROOT 0
#endif

struct round {
    size_t count;
    uint64_t number; /* used to vary what is drawn for a generation */
};

static cohort_status every_kind(cohort_comm *comm, void *arg)
{
    const struct round *round = arg;
    cohort_status status = COHORT_OK;
    for (int kind = 0; !status && kind < EXERCISE_NUM_KINDS; kind++) {
        struct exercise exercise;
        exercise_begin(&exercise, comm, (enum exercise_kind)kind, round->count,
                       round->number * EXERCISE_NUM_KINDS + (uint64_t)kind + 1);
        status = exercise_end(&exercise);
    }
    return status;
}

static void run(struct cluster *cluster, const char *name, cohort_comm_options options,
                size_t count)
{
    static uint64_t number;
    struct round round = {count, number++};
    cohort_status status = cluster_sites(cluster, (struct sites){
                                                      .name = name,
                                                      .options = options,
                                                      .run = every_kind,
                                                      .arg = &round,
                                                  });
    if (status)
        FAIL("%u sites, root %u, arity %u: %s", options.num_sites, options.root_site, options.arity,
             cohort_error_message());
}

/* The first two roots, the last one, and one in eight of the others. */
static bool is_chosen(uint32_t num_sites, uint32_t root)
{
    return EVERY_ROOT || root <= 1 || root + 1 == num_sites ||
           cohort__hash_mix(num_sites, root) % 8 == 0;
}

/* For every number of sites. The other parameters vary with the root. */
TEST(every_root)
{
    static const size_t counts[] = {1, 0, 3, 7};
    uint64_t seed = 1, number = 0;
    for (uint32_t num_sites = 1; num_sites <= 33;
         num_sites += 1 + (uint32_t)test_rounds(0, num_sites / 3)) {
        struct cluster *cluster = cluster_create(seed++, 1 + num_sites % 5, 0);
        for (uint32_t root = 0; root < num_sites; root++) {
            if (!is_chosen(num_sites, root))
                continue;
            cluster_place(cluster, (num_sites + root) % CLUSTER_NUM_PLACEMENTS);
            cohort_comm_options options = {
                .num_sites = num_sites,
                .root_site = root,
                .arity = 2 + (num_sites + root) % 3,
                .flat_fallback_threshold = COHORT_FORCE_TREE,
            };
            run(cluster, "tree", options, counts[number % 4]);
            options.flat_fallback_threshold = 1024;
            run(cluster, "flat", options, counts[number++ % 4]);
        }
        cluster_destroy(cluster);
    }
}

/* Sizes from those that fit into a message to those that are announced and fetched in pieces. */
TEST(every_size)
{
    static const size_t counts[] = {8, 9, 511, 513, 2048, 5000, 40000, 300000};
    /* With a sanitizer the largest one would take more time than all others. */
    size_t num = NUM_OF(counts) - (size_t)test_rounds(0, 1);
    for (size_t i = 0; i < num; i++) {
        struct cluster *cluster = cluster_create(i, 3, 0);
        cluster_place(cluster, i % CLUSTER_NUM_PLACEMENTS);
        cohort_comm_options options = {.num_sites = 5, .root_site = 3, .arity = 2};
        options.flat_fallback_threshold = COHORT_FORCE_TREE;
        run(cluster, "tree", options, counts[i]);
        options.flat_fallback_threshold = 1024;
        run(cluster, "flat", options, counts[i]);
        cluster_destroy(cluster);
    }
}
