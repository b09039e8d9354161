/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stddef.h>

#include "cohort/objects.h"
#include "cohort/task.h"
#include "collectives/comm/blobs.h"
#include "runtime/base/slab.h"
#include "runtime/proc/arrival.h"
#include "runtime/proc/process.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* A locality has no memory for a message that it would have to keep. A site that waits for the
 * message is told, and so is a site that calls later. Sites that have got their data are not
 * affected. */
enum { NUM_SITES = 3, VICTIM = 1 };

/* Called instead of the real function (--wrap). After the victim is full, and while it keeps a
 * message, no slab has memory left. */
struct cohort__arrival *__real_cohort__arrival_keep(struct cohort__arrival *arrival);
void *__real_cohort__slab_alloc(size_t bytes);

static atomic_bool is_full;
static _Thread_local bool is_keeping;

struct cohort__arrival *__wrap_cohort__arrival_keep(struct cohort__arrival *arrival)
{
    is_keeping = cohort__process_rank(arrival->process) == VICTIM;
    struct cohort__arrival *kept = __real_cohort__arrival_keep(arrival);
    is_keeping = false;
    return kept;
}

void *__wrap_cohort__slab_alloc(size_t bytes)
{
    return is_keeping && atomic_load(&is_full) ? NULL : __real_cohort__slab_alloc(bytes);
}

static _Thread_local bool has_no_blobs;

struct cohort__blob *__real_cohort__blob_create(const void *data, size_t bytes);

struct cohort__blob *__wrap_cohort__blob_create(const void *data, size_t bytes)
{
    return has_no_blobs ? NULL : __real_cohort__blob_create(data, bytes);
}

struct job {
    bool is_early; /* the message arrives before the victim's call */
    _Atomic uint32_t num_over;
};

static void await_over(struct job *job, uint32_t num)
{
    YIELD_WHILE(atomic_load(&job->num_over) < num);
}

static cohort_status broadcast(cohort_comm *comm, uint64_t generation, int32_t *value)
{
    return cohort_await(cohort_comm_this_site(comm) == 0
                            ? cohort_broadcast_to(comm, value, 1, COHORT_INT32, generation)
                            : cohort_broadcast_from(comm, value, 1, COHORT_INT32, generation));
}

static cohort_status run_site(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    uint32_t me = cohort_comm_this_site(comm);
    int32_t value = me == 0 ? 11 : 0;
    if (me == VICTIM)
        atomic_store(&is_full, true);
    if (me == VICTIM && job->is_early)
        await_over(job, NUM_SITES - 1);
    YIELD_WHILE(me == 0 && !atomic_load(&is_full));
    cohort_status status = broadcast(comm, 1, &value);
    if (me != VICTIM) {
        CHECK_OK(status);
        CHECK_INT(value, 11);
    }
    for (uint64_t generation = 2; me == VICTIM && generation < 4; generation++) {
        CHECK_FAILS(status, COHORT_ERR_PEER_DIED,
                    "locality 0 was given up: a message from it was lost here");
        status = broadcast(comm, generation, &value);
    }
    atomic_fetch_add(&job->num_over, 1);
    await_over(job, NUM_SITES); /* a site that returns leaves */
    return COHORT_OK;
}

static void run(struct job job)
{
    struct cluster *cluster = cluster_create(1, NUM_SITES, 0);
    cohort_status status =
        cluster_sites(cluster, (struct sites){
                                   .name = "full",
                                   .options = {.num_sites = NUM_SITES,
                                               .stall_after = UINT64_C(3600000000000),
                                               .algorithms = "broadcast=linear"},
                                   .run = run_site,
                                   .arg = &job,
                               });
    atomic_store(&is_full, false);
    CHECK_OK(status);
    cluster_abandon(cluster);
}

TEST_CALL(awaited, run((struct job){.is_early = false}))
TEST_CALL(early, run((struct job){.is_early = true}))

/* The text of what has failed goes to all sites, behind who has called what. */
static cohort_status gather_objects(cohort_comm *comm, void *arg)
{
    bool is_victim = cohort_comm_this_site(comm) == VICTIM;
    cohort_object in = {"abc", is_victim ? 3 : 2}, out[NUM_SITES];
    has_no_blobs = is_victim; /* the call copies its object before it returns */
    cohort_future *future = cohort_all_gather_objects(comm, &in, out, 1);
    has_no_blobs = false;
    CHECK_INT(cohort_await(future), COHORT_ERR_NO_MEMORY);
    CHECK_TEXT(cohort_error_message(), arg);
    for (uint32_t site = 0; site < NUM_SITES; site++)
        CHECK(!out[site].data);
    CHECK_OK(cohort_await(cohort_all_gather_objects(comm, &in, out, 2)));
    cohort_objects_fini(out, NUM_SITES);
    return COHORT_OK;
}

TEST(object)
{
    static char text[] = "communicator \"full\", generation 1, site 1, all_gather of objects "
                         "(linear): no memory for an object of 3 bytes";
    struct cluster *cluster = cluster_create(1, NUM_SITES, 0);
    CHECK_OK(cluster_sites(cluster, (struct sites){.name = "full",
                                                   .options = {.num_sites = NUM_SITES,
                                                               .algorithms = "all_gather=linear"},
                                                   .run = gather_objects,
                                                   .arg = text}));
    cluster_destroy(cluster);
}

int main(int argc, char **argv)
{
    return cluster_test(argc, argv, 2);
}
