/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* Flow control. 64 generations are called at once, and then more than the window holds, on two
 * communicators that share their peers. The budget is a few KiB. All calls end without a deadlock.
 */

enum { MANY = 100, BUDGET = 4096, NUM_SITES = 8, NUM_SEEDS = 3, FEW_SEEDS = 1 };
enum { SOON = 1000000 }; /* ns */

struct load {
    uint32_t num_calls;
    size_t count;
    enum exercise_kind kind; /* EXERCISE_NUM_KINDS: all in turn */
};

static cohort_status all_at_once(cohort_comm *comm, void *arg)
{
    const struct load *load = arg;
    struct exercise exercises[MANY];
    cohort_status status = COHORT_OK;
    for (uint32_t i = 0; i < load->num_calls; i++) {
        enum exercise_kind kind = load->kind == EXERCISE_NUM_KINDS
                                      ? (enum exercise_kind)(i % EXERCISE_NUM_KINDS)
                                      : load->kind;
        exercise_begin(&exercises[i], comm, kind, load->count, i + 1);
    }
    for (uint32_t i = 0; i < load->num_calls; i++) {
        cohort_status ended = exercise_end(&exercises[i]);
        if (ended)
            status = ended;
    }
    return status;
}

static cohort_status run_sites(void *arg)
{
    return sites_run(arg);
}

static void run(uint64_t seed, uint32_t num_localities, uint32_t threshold, struct load load)
{
    struct cluster *cluster = cluster_create(seed, num_localities, BUDGET);
    struct sites sites[2];
    cohort_future *done[2];
    for (int i = 0; i < 2; i++) {
        sites[i] = (struct sites){
            .name = i == 0 ? "flow a" : "flow b",
            .options = {.num_sites = NUM_SITES,
                        .arity = 3,
                        .root_site = i == 0 ? 0 : 5,
                        .flat_fallback_threshold = threshold},
            .create = cluster_create_comm,
            .context = cluster,
            .run = all_at_once,
            .arg = &load,
        };
        done[i] = cohort_async(run_sites, &sites[i]);
    }
    cohort_status status = cohort_await(cohort_when_all(done, 2));
    if (status)
        FAIL("seed %llu: %s", (unsigned long long)seed, cohort_error_message());
    cluster_destroy(cluster);
}

/* Each message is larger than the whole budget, or than half of it, or tiny. */
TEST(64_generations)
{
    static const size_t counts[] = {1, 64, 256, 600, 1500};
    for (uint64_t seed = 0; seed < test_rounds_of(NUM_SEEDS, FEW_SEEDS, FEW_SEEDS); seed++)
        for (size_t i = 0; i < NUM_OF(counts); i++) {
            struct load load = {64, counts[i], EXERCISE_ALL_TO_ALL};
            run(seed, 4, COHORT_FORCE_TREE, load);
            run(seed, 8, 1024, load);
        }
}

TEST(beyond_the_window)
{
    for (uint64_t seed = 0; seed < test_rounds(NUM_SEEDS, FEW_SEEDS); seed++) {
        run(seed, 4, COHORT_FORCE_TREE, (struct load){MANY, 100, EXERCISE_NUM_KINDS});
        run(seed, 3, 1024, (struct load){MANY, 100, EXERCISE_NUM_KINDS});
    }
}

/* The root waits for no other site, so it runs ahead as far as it may. */
TEST(root_runs_ahead)
{
    for (uint64_t seed = 0; seed < test_rounds(NUM_SEEDS, FEW_SEEDS); seed++)
        run(seed, 8, 1024, (struct load){MANY, 200, EXERCISE_BROADCAST});
}

/* Site 0 makes more calls than the window holds, which site 1 does not make, and leaves. */
static void leave(uint32_t num_localities)
{
    enum { WINDOW = 64 };
    struct cluster *cluster = cluster_create(1, num_localities, BUDGET);
    cohort_comm *comms[2] = {NULL};
    cohort_future *calls[MANY];
    char text[64];
    cluster_create_comms(cluster, comms, "flow",
                         (cohort_comm_options){.num_sites = 2, .stall_after = SOON});
    for (uint32_t i = 0; i < MANY; i++)
        calls[i] = cohort_barrier(comms[0], i + 1);
    cohort_comm_unref(comms[0]);
    for (uint32_t i = 0; i < MANY; i++) {
        CHECK_INT(cohort_await(calls[i]), COHORT_ERR_CANCELLED);
        snprintf(text, sizeof(text), "communicator \"flow\", generation %u", i + 1);
        CHECK_CONTAINS(cohort_error_message(), text);
        CHECK_CONTAINS(cohort_error_message(),
                       i < WINDOW ? "has left the communicator meanwhile"
                                  : ": site 0 has left the communicator before it could start");
    }
    for (uint32_t i = WINDOW; i < MANY; i++) {
        CHECK_FAILS(cohort_await(cohort_barrier(comms[1], i + 1)), COHORT_ERR_GONE,
                    "site 0 (locality 0) has left the communicator after generation 64");
    }
    cohort_comm_unref(comms[1]);
    cluster_destroy(cluster);
}

TEST(leaves)
{
    leave(1);
    leave(2);
}
