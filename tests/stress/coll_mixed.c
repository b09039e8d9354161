/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/task.h"
#include "runtime/base/hash.h"
#include "runtime/base/random.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"

/* Sites make random collective calls, several at once. Now and then one of them makes a wrong call,
 * leaves a generation out, or releases its endpoint with calls in flight. Then all meet again under
 * the same name. Whatever happens, every call ends. A call that succeeds has the right result, and
 * the others end with an error that follows from what was done. There are more workers than cores,
 * and messages overtake each other, or (--shm) go through boards and shared memory.
 *     stress_coll_mixed [--movable] [--shm] WORKERS [FIRST_SEED [NUM_SEEDS [case...]]] */

enum {
    NUM_NAMES = 2,
    NUM_SITES = 7,
    NUM_LOCALITIES = 3,
    NUM_ROUNDS = 6,
    FEW_ROUNDS = 3,
    GENERATIONS = 30,
    IN_FLIGHT = 6,
};

static uint64_t first_seed = 1;
static uint64_t num_seeds = 6;

struct storm {
    struct cluster *cluster;
    uint64_t seed;
    size_t max_count;
    uint32_t threshold;
    bool harmless; /* nothing goes wrong: every call has to succeed */
};

struct site {
    const struct storm *storm;
    uint32_t name;
    uint32_t index;
};

/* A call in the same way as all other sites make it, or a wrong one. */
struct call {
    struct exercise exercise;
    cohort_future *wrong; /* NULL: the call is the exercise */
    uint64_t in[NUM_SITES], out[NUM_SITES];
    bool is_skipped;
};

static const size_t counts[] = {1, 0, 3, 8, 9, 100, 700, 3000};

static void begin_wrong(struct call *call, cohort_comm *comm, uint64_t kind, uint64_t generation)
{
    call->wrong = NULL;
    call->is_skipped = false;
    switch (kind) {
    case 0:
        call->wrong = cohort_all_reduce(comm, call->in, call->out, 1, 999, COHORT_SUM, generation);
        break;
    case 1:
        call->wrong = cohort_barrier(comm, generation);
        break;
    case 2:
        call->wrong = cohort_all_to_all(comm, NULL, call->out, 1, COHORT_UINT64, generation);
        break;
    case 3: /* at all but one site, in the wrong role */
        call->wrong = cohort_gather_here(comm, call->in, call->out, 1, COHORT_UINT64, generation);
        break;
    default:
        call->is_skipped = true;
        break;
    }
}

static void check_status(const struct site *site, cohort_status status)
{
    switch (status) {
    case COHORT_OK:
        return;
    case COHORT_ERR_BAD_PARAMETER:
    case COHORT_ERR_WRONG_ROLE:
    case COHORT_ERR_MISMATCH:
    case COHORT_ERR_MOVED_PAST:
    case COHORT_ERR_GONE:
    case COHORT_ERR_CANCELLED:
        if (!site->storm->harmless)
            return;
        /* fall through */
    default:
        FAIL("seed %" PRIu64 ", site %u: %s", site->storm->seed, site->index,
             cohort_error_message());
    }
}

static void end(const struct site *site, struct call *call)
{
    if (call->is_skipped)
        return;
    check_status(site, call->wrong ? cohort_await(call->wrong) : exercise_end(&call->exercise));
}

/* The endpoint no longer exists, so there is nothing to compare the result with. */
static void end_after_leaving(const struct site *site, struct call *call)
{
    if (call->is_skipped || call->wrong) {
        end(site, call);
        return;
    }
    check_status(site, exercise_end_unchecked(&call->exercise));
}

static void run_round(const struct site *site, cohort_comm *comm, uint32_t round)
{
    const struct storm *storm = site->storm;
    struct cohort__random shared, own; /* drawn alike at all sites, and by each site alone */
    struct call calls[IN_FLIGHT];
    uint64_t base = cohort__hash_mix(storm->seed, round * NUM_NAMES + site->name);
    shared = cohort__random_seeded(base);
    own = cohort__random_seeded(cohort__hash_mix(base, site->index));
    bool leaves = !storm->harmless && cohort__random_below(&own, NUM_SITES) == 0;
    uint32_t last = leaves ? (uint32_t)cohort__random_below(&own, GENERATIONS) : GENERATIONS;
    uint32_t begun = 0, ended = 0;
    while (begun < last) {
        struct call *call = &calls[begun % IN_FLIGHT];
        if (begun - ended == IN_FLIGHT)
            end(site, &calls[ended++ % IN_FLIGHT]);
        uint64_t generation = ++begun;
        uint64_t kind = cohort__random_below(&shared, EXERCISE_NUM_KINDS);
        size_t count = counts[cohort__random_below(&shared, NUM_OF(counts))];
        if (!storm->harmless && cohort__random_below(&own, 40) == 0) {
            begin_wrong(call, comm, cohort__random_below(&own, 5), generation);
            continue;
        }
        call->wrong = NULL;
        call->is_skipped = false;
        exercise_begin(&call->exercise, comm, (enum exercise_kind)kind,
                       count < storm->max_count ? count : storm->max_count, generation);
        if (cohort__random_below(&own, 8) == 0)
            cohort_yield();
    }
    for (; !leaves && ended < begun; ended++)
        end(site, &calls[ended % IN_FLIGHT]);
    cohort_comm_unref(comm);
    for (; ended < begun; ended++)
        end_after_leaving(site, &calls[ended % IN_FLIGHT]);
}

static cohort_status run_site(void *arg)
{
    const struct site *site = arg;
    char name[32];
    snprintf(name, sizeof(name), "storm %u", site->name);
    for (uint32_t round = 0; round < test_rounds(NUM_ROUNDS, FEW_ROUNDS); round++) {
        cohort_comm *comm = NULL;
        cohort_comm_options options = {
            .num_sites = NUM_SITES,
            .this_site = site->index,
            .root_site = round % NUM_SITES,
            .arity = 2,
            .flat_fallback_threshold = site->storm->threshold,
            .stall_after = 20000000,
        };
        cohort_status status =
            cohort_await(cluster_create_comm(site->storm->cluster, &comm, name, &options));
        if (status)
            FAIL("seed %" PRIu64 ", round %u, site %u: %s", site->storm->seed, round, site->index,
                 cohort_error_message());
        run_round(site, comm, round);
    }
    return COHORT_OK;
}

static void run(struct storm storm)
{
    struct site sites[NUM_NAMES * NUM_SITES];
    cohort_future *done[NUM_NAMES * NUM_SITES];
    fprintf(stderr, "seed %" PRIu64 "\n", storm.seed);
    storm.cluster = cluster_create(storm.seed, NUM_LOCALITIES, storm.max_count > 100 ? 4096 : 0);
    cluster_place(storm.cluster, (enum cluster_placement)(storm.seed % CLUSTER_NUM_PLACEMENTS));
    for (uint32_t i = 0; i < NUM_NAMES * NUM_SITES; i++) {
        sites[i] = (struct site){&storm, i / NUM_SITES, i % NUM_SITES};
        done[i] = cohort_async(run_site, &sites[i]);
    }
    CHECK_OK(cohort_await(cohort_when_all(done, NUM_NAMES * NUM_SITES)));
    cluster_destroy(storm.cluster);
}

static void run_all(struct storm storm)
{
    for (uint64_t seed = first_seed; seed < first_seed + num_seeds; seed++) {
        storm.seed = seed;
        storm.threshold = 1024;
        run(storm);
        storm.threshold = COHORT_FORCE_TREE;
        run(storm);
    }
}

TEST_CALL(harmless, run_all((struct storm){.max_count = SIZE_MAX, .harmless = true}))
TEST_CALL(small, run_all((struct storm){.max_count = 9}))
TEST_CALL(large, run_all((struct storm){.max_count = SIZE_MAX}))

int main(int argc, char **argv)
{
    int first = 1;
    while (first < argc && strncmp(argv[first], "--", 2) == 0)
        first++;
    int num_own = argc - first > 3 ? 3 : argc - first; /* before the cases */
    char **own = argv + first;
    unsigned num_workers = num_own > 0 ? (unsigned)strtoul(own[0], NULL, 10) : 4;
    if (num_own > 1)
        first_seed = strtoull(own[1], NULL, 10);
    if (num_own > 2)
        num_seeds = strtoull(own[2], NULL, 10);
    memmove(own, own + num_own, (size_t)(argc - first - num_own) * sizeof(*own));
    return cluster_test(argc - num_own, argv, num_workers);
}
