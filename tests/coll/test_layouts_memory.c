/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdlib.h>

#include <cohort/cohort.h>

#include "tests/support/await_within.h"
#include "tests/support/cluster.h"
#include "tests/support/scarce.h"

/* Each allocation of a site's call with layouts fails in turn, until the call is handed to its
 * endpoint. Nobody waits for ever: either all get the right result, or the site gets
 * COHORT_ERR_NO_MEMORY, and so does whoever needs it. What a site has got is right. */

enum { SITES = 4, COUNT = 300, STRIDE = 3 };
static const uint64_t patience = 20 * UINT64_C(1000000000);

/* What comes then is the call's way through the library, not its layouts. */
struct cohort__operation;
void __real_cohort__operation_call(struct cohort__operation *operation);

void __wrap_cohort__operation_call(struct cohort__operation *operation)
{
    if (!scarce_has_failed())
        scarce_begin(LONG_MAX);
    __real_cohort__operation_call(operation);
}

struct site {
    cohort_comm *comm;
    int64_t in[COUNT * STRIDE], out[SITES * COUNT * STRIDE];
};

struct scene {
    struct cluster *cluster;
    struct site sites[SITES];
    cohort_layout *in, *out;
};

static void begin(struct scene *scene, uint32_t num_localities)
{
    cohort_future *futures[SITES];
    scene->cluster = cluster_create(1, num_localities, 0);
    cluster_place(scene->cluster, CLUSTER_BLOCKS);
    for (uint32_t site = 0; site < SITES; site++)
        futures[site] =
            cluster_create_comm(scene->cluster, &scene->sites[site].comm, "poor",
                                &(cohort_comm_options){.num_sites = SITES, .this_site = site});
    CHECK_OK(cohort_await(cohort_when_all(futures, SITES)));
    CHECK_OK(cohort_layout_create_vector(&scene->in, COUNT, 1, STRIDE));
    CHECK_OK(cohort_layout_create_vector(&scene->out, SITES * COUNT, 1, STRIDE));
}

static void end(struct scene *scene)
{
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(scene->sites[site].comm);
    cohort_layout_unref(scene->in);
    cohort_layout_unref(scene->out);
    cluster_destroy(scene->cluster);
}

static int64_t content(uint32_t site, size_t i)
{
    return (int64_t)site * 1000 + (int64_t)i;
}

static cohort_future *call(struct scene *scene, uint32_t number, bool overlaps)
{
    struct site *site = &scene->sites[number];
    for (size_t i = 0; i < COUNT; i++)
        site->in[i * STRIDE] = content(number, i);
    /* In one array, one looks for overlaps. */
    int64_t *in = overlaps ? site->out + 1 : site->in;
    for (size_t i = 0; overlaps && i < COUNT; i++)
        in[i * STRIDE] = content(number, i);
    CHECK_OK(cohort_comm_next_call(
        site->comm, &(cohort_call_options){.in_layout = scene->in, .out_layout = scene->out}));
    return cohort_all_gather(site->comm, in, site->out, COUNT, COHORT_INT64, 1);
}

static void check_right(const struct site *site)
{
    for (uint32_t from = 0; from < SITES; from++)
        for (size_t i = 0; i < COUNT; i++)
            CHECK_INT(site->out[(from * COUNT + i) * STRIDE], content(from, i));
}

/* Returns whether an allocation has failed. *RET_RIGHT: all have a result. */
static bool play(uint32_t num_localities, bool overlaps, long number, bool *ret_right)
{
    enum { POOR = SITES - 1 };
    struct scene *scene = calloc(1, sizeof(*scene));
    cohort_future *futures[SITES];
    uint32_t num_right = 0;
    CHECK(scene);
    begin(scene, num_localities);
    for (uint32_t site = 0; site < POOR; site++)
        futures[site] = call(scene, site, overlaps);
    scarce_begin(number);
    futures[POOR] = call(scene, POOR, overlaps);
    const bool has_failed = scarce_end();
    for (uint32_t site = 0; site < SITES; site++) {
        const cohort_status status = await_within(futures[site], patience);
        if (status == COHORT_OK)
            check_right(&scene->sites[site]);
        else if (status != COHORT_ERR_NO_MEMORY)
            FAIL("allocation %ld, site %u: %s", number, site, cohort_error_message());
        num_right += status == COHORT_OK;
    }
    CHECK(num_right == 0 || num_right == SITES);
    *ret_right = num_right == SITES;
    end(scene);
    free(scene);
    return has_failed;
}

static void fail_each(uint32_t num_localities, bool overlaps)
{
    long number = 0, num_right = 0;
    for (bool has_failed = true, is_right; has_failed; number++) {
        has_failed = play(num_localities, overlaps, number, &is_right);
        CHECK(is_right || has_failed);
        num_right += is_right;
    }
    CHECK(number > 5 && num_right < number - 3);
}

TEST(one_locality)
{
    fail_each(1, false);
    fail_each(1, true);
}

TEST(localities)
{
    fail_each(2, false);
    fail_each(2, true);
}

/* What a set and a get of a channel need for their layouts. The errors say whose. */
static cohort_status channel(struct scene *scene, bool sets)
{
    struct site *site = &scene->sites[0];
    scarce_begin(0);
    cohort_future *future =
        sets ? cohort_channel_set_layout(site->comm, 1, 7, site->in, scene->in, COHORT_INT64)
             : cohort_channel_get_layout(site->comm, 1, 7, site->out, scene->out, COHORT_INT64,
                                         NULL);
    CHECK(scarce_end());
    return await_within(future, patience);
}

TEST(channel)
{
    static struct scene scene;
    begin(&scene, 1);
    CHECK_FAILS(channel(&scene, true), COHORT_ERR_NO_MEMORY,
                "communicator \"poor\", site 0, cohort_channel_set_layout for site 1: no memory "
                "for packing 2400 bytes");
    CHECK_FAILS(channel(&scene, false), COHORT_ERR_NO_MEMORY,
                "communicator \"poor\", site 0, "
                "cohort_channel_get_layout: no memory for sorting");
    end(&scene);
}

int main(int argc, char **argv)
{
    scarce_init();
    return cluster_test(argc, argv, 1);
}
