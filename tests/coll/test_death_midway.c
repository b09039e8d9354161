/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <string.h>

#include "cohort/task.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* A locality, or a whole host, dies in the middle of a call by a row that follows the machine: as
 * soon as it has sent so many messages. So it has done its part of the way up, among the leaders,
 * or down, or none of it, and it leads or follows. The others' calls end, and those that fail name
 * one of the dead. */

enum { NUM_LOCALITIES = 6, NUM_SITES = 12, MOST_MESSAGES = 9 };

struct storm {
    struct cluster *cluster;
    enum cluster_placement placement;
    enum exercise_kind kind;
    const char *algorithm;
    size_t count;
    uint32_t victim;       /* the locality that counts its messages */
    uint64_t victims;      /* all that die, a bit each */
    uint64_t num_messages; /* after its first call of the kind */
    atomic_bool is_armed;
    _Atomic uint32_t num_told; /* of the other sites */
};

static uint32_t locality_of(const struct storm *storm, uint32_t site)
{
    return cluster_locality(storm->placement, 0, NUM_LOCALITIES, site, NUM_SITES);
}

static bool dies(const struct storm *storm, uint32_t locality)
{
    return storm->victims >> locality & 1;
}

static uint32_t num_survivors(const struct storm *storm)
{
    uint32_t num = 0;
    for (uint32_t site = 0; site < NUM_SITES; site++)
        num += !dies(storm, locality_of(storm, site));
    return num;
}

/* The tasks of the dead would be gone. Here they are told that all others are. */
static void end_victims(struct storm *storm)
{
    uint32_t order[NUM_LOCALITIES] = {0};
    for (uint32_t victim = 0; victim < NUM_LOCALITIES; victim++)
        for (uint32_t peer = 0; peer < NUM_LOCALITIES; peer++)
            if (dies(storm, victim) && peer != victim)
                cluster_tell_death(storm->cluster, victim, peer, ++order[victim],
                                   "is out of reach");
}

/* One call, and behind it a barrier, so that no root runs ahead. If the call fails, others may have
 * theirs, and wait in the barrier. */
static cohort_status call(struct storm *storm, cohort_comm *comm, uint64_t generation)
{
    struct exercise exercise;
    exercise_begin_with(&exercise, comm, storm->kind, storm->count, generation,
                        (struct exercise_options){.algorithm = storm->algorithm,
                                                  .has_root = true,
                                                  .root = (uint32_t)generation % NUM_SITES});
    cohort_status status = exercise_end(&exercise);
    cohort_status ended_with = cohort_await(cohort_barrier(comm, generation + 1));
    return status ? status : ended_with;
}

static void check_error(const struct storm *storm, cohort_status status)
{
    char dead[] = "locality 0";
    for (uint32_t locality = 0; status == COHORT_ERR_PEER_DIED && locality < NUM_LOCALITIES;
         locality++) {
        dead[sizeof(dead) - 2] = (char)('0' + locality);
        if (dies(storm, locality) && strstr(cohort_error_message(), dead))
            return;
    }
    FAIL("status %d names none of %llx: %s", (int)status, (unsigned long long)storm->victims,
         cohort_error_message());
}

static cohort_status until_it_fails(cohort_comm *comm, void *arg)
{
    struct storm *storm = arg;
    const bool is_victim = dies(storm, locality_of(storm, cohort_comm_this_site(comm)));
    bool is_told = false;
    for (uint64_t generation = 1;; generation += 2) {
        cohort_status status = call(storm, comm, generation);
        if (!status && !atomic_exchange(&storm->is_armed, true))
            cluster_kill_after(storm->cluster, storm->victim, storm->num_messages, storm->victims);
        if (!status)
            continue;
        if (is_victim)
            return COHORT_OK;
        if (!is_told) {
            check_error(storm, status);
            if (atomic_fetch_add(&storm->num_told, 1) == 0)
                end_victims(storm);
        }
        is_told = true;
        /* Goes on calling, and failing: if it left, that would be another error. */
        if (atomic_load(&storm->num_told) == num_survivors(storm))
            return COHORT_OK;
        cohort_yield();
    }
}

static void run(struct storm storm, uint64_t seed)
{
    static const struct cohort__position positions[] = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0},
                                                        {1, 0, 0}, {2, 0, 0}, {2, 0, 0}};
    storm.cluster = cluster_create(seed, NUM_LOCALITIES, 0);
    cluster_place(storm.cluster, storm.placement);
    cluster_locate(storm.cluster, positions);
    cohort_status status =
        cluster_sites(storm.cluster,
                      (struct sites){
                          .name = "storm",
                          .options = {.num_sites = NUM_SITES, .arity = 2, .stall_after = 100000000},
                          .run = until_it_fails,
                          .arg = &storm,
                      });
    if (status)
        FAIL("%s by %s, seed %llu: %s", exercise_name(storm.kind), storm.algorithm,
             (unsigned long long)seed, cohort_error_message());
    cluster_abandon(storm.cluster);
}

static void run_all(bool is_host, size_t count)
{
    static const struct {
        enum exercise_kind kind;
        const char *algorithm;
        bool needs_blocks; /* sites of a locality, and of a host, are neighbours */
    } rows[] = {
        {EXERCISE_ALL_REDUCE, "levels", false}, {EXERCISE_ALL_REDUCE, "shares", true},
        {EXERCISE_BROADCAST, "levels", false},  {EXERCISE_BROADCAST, "shares", true},
        {EXERCISE_REDUCE, "levels", false},     {EXERCISE_REDUCE, "shares", true},
        {EXERCISE_GATHER, "levels", false},     {EXERCISE_SCATTER, "levels", false},
        {EXERCISE_ALL_GATHER, "levels", false}, {EXERCISE_ALL_GATHER, "shares", true},
        {EXERCISE_ALL_TO_ALL, "levels", false}, {EXERCISE_BARRIER, "levels", false},
        {EXERCISE_SCAN, "levels", true},        {EXERCISE_REDUCE_SCATTER, "levels", false},
    };
    uint64_t seed = 1;
    for (size_t i = 0; i < NUM_OF(rows); i++)
        for (uint64_t num_messages = 1; num_messages <= MOST_MESSAGES; num_messages++, seed++) {
            uint32_t victim = (uint32_t)(seed / 2 % NUM_LOCALITIES);
            uint32_t mate = victim ^ 1;
            bool is_dealt_out = seed % 2 && !rows[i].needs_blocks;
            run((struct storm){.placement = is_dealt_out ? CLUSTER_ROUND_ROBIN : CLUSTER_BLOCKS,
                               .kind = rows[i].kind,
                               .algorithm = rows[i].algorithm,
                               .count = count,
                               .victim = victim,
                               .victims =
                                   UINT64_C(1) << victim | (is_host ? UINT64_C(1) << mate : 0),
                               .num_messages = num_messages},
                seed);
        }
}

TEST_CALL(locality, run_all(false, 3))
TEST_CALL(host, run_all(true, 3))

/* Blocks that are announced and fetched. */
TEST_CALL(large, run_all(false, 3000))
