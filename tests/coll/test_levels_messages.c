/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdlib.h>

#include "cohort/task.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* How many messages small calls really send by the rows that follow the machine, whatever row the
 * leaders choose: with two localities of two sites in each host only leaders of hosts send any. */

enum { MAX_HOSTS = 7, LOCALITIES = 2, TASKS = 2, FEW = 10, MANY = 30 };

struct job {
    struct cluster *cluster;
    enum exercise_kind kind;
    uint32_t num_sites, num_calls;
    _Atomic uint32_t num_through;
    uint64_t num_messages;
    atomic_bool is_counted;
};

/* The root goes round. It is counted while all sites have the communicator. */
static cohort_status call(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    for (uint64_t generation = 1; generation <= job->num_calls; generation++) {
        struct exercise exercise;
        exercise_begin_with(
            &exercise, comm, job->kind, 1, generation,
            (struct exercise_options){.algorithm = "levels",
                                      .has_root = true,
                                      .root = (uint32_t)generation % job->num_sites});
        CHECK_OK(exercise_end(&exercise));
    }
    if (atomic_fetch_add(&job->num_through, 1) + 1 == job->num_sites) {
        job->num_messages = cluster_num_sent(job->cluster);
        atomic_store(&job->is_counted, true);
    }
    YIELD_WHILE(!atomic_load(&job->is_counted));
    return COHORT_OK;
}

static uint64_t count(uint32_t hosts, enum exercise_kind kind, uint32_t num_calls)
{
    struct cohort__position positions[MAX_HOSTS * LOCALITIES] = {0};
    struct job job = {
        .kind = kind, .num_sites = hosts * LOCALITIES * TASKS, .num_calls = num_calls};
    for (uint32_t i = 0; i < hosts * LOCALITIES; i++)
        positions[i].host = i / LOCALITIES;
    job.cluster = cluster_create(1, hosts * LOCALITIES, 0);
    cluster_place(job.cluster, CLUSTER_BLOCKS);
    cluster_locate(job.cluster, positions);
    CHECK_OK(cluster_sites(job.cluster, (struct sites){
                                            .name = "messages",
                                            .options = {.num_sites = job.num_sites,
                                                        .stall_after = UINT64_C(3600000000000)},
                                            .run = call,
                                            .arg = &job,
                                        }));
    cluster_destroy(job.cluster);
    return job.num_messages;
}

/* What MANY - FEW calls send, without what the communicator itself does. */
static double messages_a_call(uint32_t hosts, enum exercise_kind kind)
{
    return (double)(count(hosts, kind, MANY) - count(hosts, kind, FEW)) / (MANY - FEW);
}

static uint32_t log2_ceiling(uint32_t value)
{
    uint32_t log = 0;
    while ((1u << log) < value)
        log++;
    return log;
}

TEST(all_reduce)
{
    for (uint32_t hosts = 2; hosts <= MAX_HOSTS; hosts++) {
        bool is_power = (hosts & (hosts - 1)) == 0;
        double most = (is_power ? 1 : 2) * hosts * log2_ceiling(hosts);
        CHECK(messages_a_call(hosts, EXERCISE_ALL_REDUCE) <= most);
    }
}

TEST(broadcast)
{
    for (uint32_t hosts = 2; hosts <= MAX_HOSTS; hosts++)
        CHECK(messages_a_call(hosts, EXERCISE_BROADCAST) == hosts - 1);
}

/* One for each ordered pair of hosts, or fewer if leaders pass on what is not for them. */
TEST(all_to_all)
{
    for (uint32_t hosts = 2; hosts <= MAX_HOSTS; hosts++)
        CHECK(messages_a_call(hosts, EXERCISE_ALL_TO_ALL) <= hosts * (hosts - 1));
}
