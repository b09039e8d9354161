/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include <cohort/cohort.h>

#include "cohort/task.h"
#include "collectives/comm/endpoint.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* Leaders that leave each other notes. On the first of two hosts localities 0 and 1 are a domain,
 * and 2 is one alone; 3 is the second host. Each has one site. In the first reduction the sites of
 * the large domain leave their note for site 2, the root, and its leader has the same place for its
 * next note, a window later, which is for the other site of its domain only. */

enum { NUM_SITES = 4, SLOW = 2, FIRST = 1, NEXT = FIRST + COHORT__WINDOW };
enum { SOON = 10000000 };
static const uint64_t never = UINT64_C(3600000000000);

enum turn_of_events { LEAVES, COMES_LATE, DIES };

struct job {
    enum turn_of_events event;
    struct cluster *cluster;
    _Atomic uint32_t num_begun;
};

/* The leader of the large domain where site 2 is the root. */
static uint32_t leader_of(cohort_comm *comm)
{
    const struct cohort__machine *machine = comm->group->machine;
    uint32_t level = cohort__machine_find(machine, "domain");
    return cohort__machine_leader(machine, level, cohort__machine_subgroup(machine, level, 0), SLOW,
                                  cohort__group_turn(comm->group));
}

static void tell_all(struct cluster *cluster)
{
    for (uint32_t i = 0, order = 1; i < NUM_SITES; i++)
        if (i != SLOW) {
            cluster_tell_death(cluster, i, SLOW, 1, "was killed");
            cluster_tell_death(cluster, SLOW, i, order++, "is out of reach");
        }
}

static void begin(struct exercise *exercise, cohort_comm *comm, uint32_t root, uint64_t generation)
{
    struct exercise_options options = {.has_root = true, .root = root, .algorithm = "levels"};
    exercise_begin_with(exercise, comm, EXERCISE_REDUCE, 1, generation, options);
}

/* The other site of the leader's domain is the next root, and so its leader there. */
static cohort_status call_next(cohort_comm *comm, struct job *job)
{
    struct exercise exercise;
    begin(&exercise, comm, !leader_of(comm), NEXT);
    if (++job->num_begun == 2 && job->event == DIES)
        tell_all(job->cluster);
    cohort_status status = exercise_end(&exercise);
    if (job->event == COMES_LATE) {
        CHECK_INT(status, COHORT_OK);
    } else if (job->event == LEAVES) {
        CHECK_INT(status, COHORT_ERR_GONE);
        CHECK_CONTAINS(cohort_error_message(),
                       "site 2 (locality 2) has left the communicator after generation 0");
    } else {
        CHECK_INT(status, COHORT_ERR_PEER_DIED);
        CHECK_CONTAINS(cohort_error_message(), "site 2 is lost: locality 2 was killed");
    }
    return COHORT_OK;
}

static cohort_status site(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    uint32_t this_site = cohort_comm_this_site(comm);
    struct exercise exercise;
    CHECK(comm->group->has_notes == (this_site <= SLOW));
    if (this_site < SLOW) {
        begin(&exercise, comm, SLOW, FIRST);
        CHECK_INT(exercise_end(&exercise), COHORT_OK);
        return call_next(comm, job);
    }
    if (job->event != COMES_LATE)
        return COHORT_OK;
    while (job->num_begun < SLOW)
        cohort_yield();
    return call_next(comm, job);
}

static void run(enum turn_of_events event, uint64_t stall_after)
{
    const struct cohort__position positions[NUM_SITES] = {{0, 0}, {0, 0}, {0, 1}, {1, 0}};
    struct cluster *cluster = cluster_create(1, NUM_SITES, 0);
    struct job job = {.event = event, .cluster = cluster};
    cluster_locate(cluster, positions);
    CHECK_INT(sites_run(&(struct sites){
                  .name = "notes",
                  .options = {.num_sites = NUM_SITES, .stall_after = stall_after},
                  .create = cluster_create_comm,
                  .context = cluster,
                  .run = site,
                  .arg = &job,
              }),
              COHORT_OK);
    if (event == DIES)
        cluster_abandon(cluster);
    else
        cluster_destroy(cluster);
}

/* Site 2 does not come to the first reduction, and leaves. The leader of the large domain is not
 * told, since it does not depend on site 2, and none for whom its next note is has yet to read the
 * first one. It has to ask site 2. */
static void test_leaves(void)
{
    run(LEAVES, SOON);
}

/* It comes to the next one, and so has left out the first. Nobody asks. */
static void test_comes_late(void)
{
    run(COMES_LATE, never);
}

/* Its locality dies. */
static void test_dies(void)
{
    run(DIES, never);
}

static const struct test_case cases[] = {
    {"leaves", test_leaves},
    {"comes_late", test_comes_late},
    {"dies", test_dies},
};

int main(int argc, char **argv)
{
    return cluster_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), NUM_WORKERS);
}
