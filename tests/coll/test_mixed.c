/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "runtime/base/random.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* All kinds of operations share one communicator, in any
 * order, with several in flight at once. All sites leave out the same generations. The messages of
 * the localities overtake each other. */

struct plan {
    uint64_t seed;
    uint64_t num_generations;
    uint32_t in_flight;
    bool skips;
};

static cohort_status four_calls(cohort_comm *comm, void *arg)
{
    static const enum exercise_kind kinds[] = {EXERCISE_ALL_GATHER, EXERCISE_ALL_TO_ALL,
                                               EXERCISE_ALL_REDUCE, EXERCISE_ALL_TO_ALL};
    cohort_status status = COHORT_OK;
    for (uint64_t generation = 1; !status && generation <= 4; generation++) {
        struct exercise exercise;
        exercise_begin(&exercise, comm, kinds[generation - 1], 3, generation);
        status = exercise_end(&exercise);
    }
    return status;
}

/* All sites draw the same numbers. */
static cohort_status random_calls(cohort_comm *comm, void *arg)
{
    const struct plan *plan = arg;
    struct exercise exercises[8];
    struct cohort__random random = cohort__random_seeded(plan->seed);
    uint64_t generation = 0, begun = 0, ended = 0;
    cohort_status status = COHORT_OK;
    while (ended < plan->num_generations) {
        while (begun < plan->num_generations && begun - ended < plan->in_flight) {
            generation += 1 + (plan->skips ? cohort__random_below(&random, 3) : 0);
            exercise_begin(&exercises[begun++ % 8], comm,
                           (enum exercise_kind)cohort__random_below(&random, EXERCISE_NUM_KINDS),
                           cohort__random_below(&random, 5), generation);
        }
        cohort_status ended_with = exercise_end(&exercises[ended++ % 8]);
        if (ended_with)
            status = ended_with;
    }
    return status;
}

static void run(const char *what, struct plan plan, uint32_t num_localities, uint32_t num_sites,
                uint32_t root, uint32_t threshold, cohort_status (*site)(cohort_comm *, void *))
{
    struct cluster *cluster = cluster_create(plan.seed, num_localities, 0);
    cluster_place(cluster, plan.seed % CLUSTER_NUM_PLACEMENTS);
    cohort_status status =
        cluster_sites(cluster, (struct sites){
                                   .name = what,
                                   .options = {.num_sites = num_sites,
                                               .root_site = root,
                                               .arity = 2,
                                               .flat_fallback_threshold = threshold},
                                   .run = site,
                                   .arg = &plan,
                               });
    if (status)
        FAIL("%s, seed %llu: %s", what, (unsigned long long)plan.seed, cohort_error_message());
    cluster_destroy(cluster);
}

TEST(four_calls)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        run("four calls", (struct plan){.seed = seed}, 4, 9, 0, COHORT_FORCE_TREE, four_calls);
        run("four calls, flat", (struct plan){.seed = seed}, 4, 9, 0, 1024, four_calls);
    }
}

TEST(one_at_a_time)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct plan plan = {.seed = seed, .num_generations = 200, .in_flight = 1};
        run("one at a time", plan, 3, 7, 2, COHORT_FORCE_TREE, random_calls);
        run("one at a time, flat", plan, 3, 7, 2, 1024, random_calls);
    }
}

TEST(in_flight)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct plan plan = {.seed = seed, .num_generations = 200, .in_flight = 8};
        run("in flight", plan, 4, 11, 5, COHORT_FORCE_TREE, random_calls);
        run("in flight, flat", plan, 4, 11, 5, 1024, random_calls);
    }
}

TEST(skipping)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct plan plan = {.seed = seed, .num_generations = 200, .in_flight = 8, .skips = true};
        run("skipping", plan, 5, 11, 10, COHORT_FORCE_TREE, random_calls);
        run("skipping, flat", plan, 5, 11, 10, 1024, random_calls);
    }
}
