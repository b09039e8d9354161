/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdlib.h>

#include "cohort/channel.h"
#include "cohort/objects.h"
#include "cohort/task.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* How often large objects are copied on their way between localities: each piece of memory of their
 * size is one that a caller gets, as with a channel. So nobody packs or unpacks them. */
enum { NUM_SITES = 3 };

static atomic_size_t large_bytes; /* from which on pieces are counted */
static atomic_uint num_large;

/* Called instead of the real function (--wrap). */
void *__real_malloc(size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    if (bytes >= atomic_load(&large_bytes))
        atomic_fetch_add(&num_large, 1);
    return __real_malloc(bytes);
}

enum what { BROADCAST, GATHER, SCATTER, ALL_GATHER, ALL_TO_ALL, CHANNEL };

struct kind {
    enum what what;
    const char *algorithms;
    uint32_t num_given; /* objects that all sites get in all */
};

static cohort_future *start(cohort_comm *comm, enum what what, const cohort_object *in,
                            cohort_object *out)
{
    const bool is_root = cohort_comm_this_site(comm) == 0;
    switch (what) {
    case BROADCAST:
        return is_root ? cohort_broadcast_object_to(comm, in, 1)
                       : cohort_broadcast_object_from(comm, out, 1);
    case GATHER:
        return is_root ? cohort_gather_objects_here(comm, in, out, 1)
                       : cohort_gather_objects_there(comm, in, 1);
    case SCATTER:
        return is_root ? cohort_scatter_objects_to(comm, in, out, 1)
                       : cohort_scatter_objects_from(comm, out, 1);
    case ALL_GATHER:
        return cohort_all_gather_objects(comm, in, out, 1);
    case ALL_TO_ALL:
        return cohort_all_to_all_objects(comm, in, out, 1);
    case CHANNEL:
        break;
    }
    const uint32_t me = cohort_comm_this_site(comm);
    return me == 0   ? cohort_channel_set(comm, 1, 1, in->data, in->bytes)
           : me == 1 ? cohort_channel_get_object(comm, 0, 1, out)
                     : cohort_comm_idle(comm);
}

struct run {
    const struct kind *kind;
    unsigned char *data;
    size_t bytes;
};

static cohort_status run_site(cohort_comm *comm, void *arg)
{
    const struct run *run = arg;
    cohort_object in[NUM_SITES], out[NUM_SITES] = {{0}};
    for (uint32_t i = 0; i < NUM_SITES; i++)
        in[i] = (cohort_object){run->data, run->bytes};
    CHECK_OK(cohort_await(start(comm, run->kind->what, in, out)));
    for (uint32_t i = 0; i < NUM_SITES; i++) {
        const unsigned char *data = out[i].data;
        CHECK(out[i].bytes == (data ? run->bytes : 0));
        CHECK(!data || (data != run->data && data[0] == 17 && data[run->bytes - 1] == 18));
    }
    cohort_objects_fini(out, NUM_SITES);
    return COHORT_OK;
}

static void count(const struct kind *kind, size_t bytes)
{
    struct cluster *cluster = cluster_create(1, NUM_SITES, 0);
    struct run run = {kind, calloc(bytes, 1), bytes};
    CHECK(run.data);
    run.data[0] = 17;
    run.data[bytes - 1] = 18;
    atomic_store(&num_large, 0);
    atomic_store(&large_bytes, bytes);
    CHECK_OK(cluster_sites(
        cluster, (struct sites){.name = "copies",
                                .options = {.num_sites = NUM_SITES, .algorithms = kind->algorithms},
                                .run = run_site,
                                .arg = &run}));
    atomic_store(&large_bytes, SIZE_MAX);
    CHECK_INT(atomic_load(&num_large), kind->num_given);
    cluster_destroy(cluster);
    free(run.data);
}

static const struct kind kinds[] = {
    {CHANNEL, NULL, 1},
    {BROADCAST, "broadcast=linear", NUM_SITES - 1},
    {BROADCAST, "broadcast=chain", NUM_SITES - 1}, /* handed on */
    {GATHER, "gather=linear", NUM_SITES},
    {SCATTER, "scatter=linear", NUM_SITES},
    {ALL_GATHER, "all_gather=linear", NUM_SITES *NUM_SITES},
    {ALL_GATHER, "all_gather=ring", NUM_SITES *NUM_SITES},
    {ALL_TO_ALL, "all_to_all=linear", NUM_SITES *NUM_SITES},
};

static void run_all(size_t bytes)
{
    for (size_t i = 0; i < NUM_OF(kinds); i++)
        count(&kinds[i], bytes);
}

TEST_CALL(large, run_all((size_t)1 << 20))
TEST_CALL(larger, run_all((size_t)10 << 20))

int main(int argc, char **argv)
{
    atomic_store(&large_bytes, SIZE_MAX);
    return cluster_test(argc, argv, 1);
}
