/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cohort/cohort.h"
#include "collectives/coll/sites.h"
#include "tests/support/cluster.h"

/* cohort_sites in each of some localities. */

enum { MOST_SITES = 16, MOST_LOCALITIES = 4, SEED = 20261128 };

/* What the sites of a locality share. */
struct place {
    struct scene *scene;
    uint32_t locality;
};

struct scene {
    uint32_t num_sites;
    uint32_t culprit;                        /* MOST_SITES: none */
    _Atomic int32_t locality_of[MOST_SITES]; /* -1: that site has not run */
    _Atomic uint32_t num_failed;
    struct place places[MOST_LOCALITIES];
};

static void scene_init(struct scene *scene, uint32_t num_sites, uint32_t culprit)
{
    *scene = (struct scene){.num_sites = num_sites, .culprit = culprit};
    for (uint32_t i = 0; i < MOST_SITES; i++)
        scene->locality_of[i] = -1;
    for (uint32_t i = 0; i < MOST_LOCALITIES; i++)
        scene->places[i] = (struct place){scene, i};
}

static cohort_future *start(struct cluster *cluster, uint32_t locality, const char *name,
                            const cohort_sites_options *options, cohort_site_function *function,
                            void *arg)
{
    return cohort__sites_for(cluster_process(cluster, locality), name, options, sizeof(*options),
                             sizeof(cohort_comm_options), function, arg);
}

/* --- where the sites are --- */

static cohort_status add_up(cohort_comm *comm, void *arg)
{
    struct place *place = arg;
    uint32_t me = cohort_comm_this_site(comm);
    int64_t mine = 1 << me, sum = 0;
    CHECK_INT(cohort_comm_num_sites(comm), place->scene->num_sites);
    CHECK_INT(atomic_exchange(&place->scene->locality_of[me], (int32_t)place->locality), -1);
    CHECK_OK(cohort_await(cohort_all_reduce(comm, &mine, &sum, 1, COHORT_INT64, COHORT_SUM, 1)));
    CHECK_INT(sum, (1 << place->scene->num_sites) - 1);
    return COHORT_OK;
}

static void divide(uint32_t num_localities, const cohort_sites_options *options, uint32_t num_sites)
{
    struct cluster *cluster = cluster_create(SEED, num_localities, 0);
    cohort_future *futures[MOST_LOCALITIES];
    struct scene scene;
    /* A second time with the same name: all endpoints have been given back. */
    for (int time = 0; time < 2; time++) {
        scene_init(&scene, num_sites, MOST_SITES);
        for (uint32_t i = 0; i < num_localities; i++)
            futures[i] = start(cluster, i, "sum", options, add_up, &scene.places[i]);
        CHECK_OK(cohort_await(cohort_when_all(futures, num_localities)));
        uint32_t site = 0;
        for (uint32_t i = 0; i < num_localities; i++)
            for (uint32_t k = num_sites / num_localities + (i < num_sites % num_localities); k > 0;
                 k--)
                CHECK_INT(scene.locality_of[site++], i);
        CHECK_INT(site, num_sites);
    }
    cluster_destroy(cluster);
}

TEST(divide)
{
    for (uint32_t num_localities = 1; num_localities <= MOST_LOCALITIES; num_localities++) {
        divide(num_localities, NULL, num_localities);
        divide(num_localities, &(cohort_sites_options){0}, num_localities);
        divide(num_localities, &(cohort_sites_options){.sites_per_locality = 3},
               3 * num_localities);
        for (uint32_t num = 1; num <= 7; num += 2)
            divide(num_localities, &(cohort_sites_options){.num_sites = num}, num);
    }
}

/* --- options of the communicator --- */

static cohort_status look(cohort_comm *comm, void *arg)
{
    CHECK_TEXT(cohort_comm_name(comm), "looked at");
    CHECK_INT(cohort_comm_arity(comm), 3);
    CHECK_INT(cohort_comm_root_site(comm), 2);
    return cohort_await(cohort_barrier(comm, arg ? 1 : COHORT_AUTO_GENERATION));
}

/* All that is given is gone when the call has returned. */
TEST(options)
{
    struct cluster *cluster = cluster_create(SEED, 1, 0);
    char name[] = "looked at", algorithms[] = "barrier=fastest";
    cohort_comm_options comm = {
        .arity = 3, .root_site = 2, .auto_generation = true, .algorithms = "barrier=linear"};
    cohort_sites_options options = {.sites_per_locality = 4, .comm = &comm};
    cohort_future *done = start(cluster, 0, name, &options, look, NULL);
    CHECK_OK(cohort_await(done));

    comm.algorithms = algorithms;
    done = start(cluster, 0, name, &options, look, NULL);
    memset(name, 'x', sizeof(name) - 1);
    memset(algorithms, 'x', sizeof(algorithms) - 1);
    memset(&comm, 0xff, sizeof(comm));
    memset(&options, 0xff, sizeof(options));
    CHECK_FAILS(cohort_await(done), COHORT_ERR_BAD_PARAMETER, "communicator \"looked at\": site ");
    CHECK_CONTAINS(cohort_error_message(), "\"fastest\"");
    cluster_destroy(cluster);
}

/* --- errors --- */

static cohort_status fail_once(cohort_comm *comm, void *arg)
{
    struct place *place = arg;
    double in = 0, out;
    for (uint64_t generation = 1; generation < 4; generation++) {
        if (cohort_comm_this_site(comm) == place->scene->culprit && generation == 3)
            return cohort_fail(COHORT_ERR_SYSTEM, "no more paper");
        cohort_status status = cohort_await(
            cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, generation));
        if (status) {
            CHECK(status == COHORT_ERR_CANCELLED || status == COHORT_ERR_GONE);
            place->scene->num_failed++;
            return status;
        }
    }
    return COHORT_OK;
}

static void fail(uint32_t num_localities, uint32_t culprit)
{
    struct cluster *cluster = cluster_create(SEED, num_localities, 0);
    const cohort_sites_options options = {.sites_per_locality = 3};
    cohort_future *futures[MOST_LOCALITIES];
    struct scene scene;
    scene_init(&scene, 3 * num_localities, culprit);
    for (uint32_t i = 0; i < num_localities; i++)
        futures[i] = start(cluster, i, "sum", &options, fail_once, &scene.places[i]);
    for (uint32_t i = 0; i < num_localities; i++) {
        cohort_status status = cohort_await(futures[i]);
        if (culprit / 3 == i) {
            char text[64];
            snprintf(text, sizeof(text), "site %u of \"sum\": no more paper", culprit);
            CHECK_INT(status, COHORT_ERR_SYSTEM);
            CHECK_TEXT(cohort_error_message(), text);
        } else {
            CHECK(status == COHORT_ERR_CANCELLED || status == COHORT_ERR_GONE);
            CHECK_CONTAINS(cohort_error_message(), "communicator \"sum\", ");
        }
    }
    CHECK_INT(scene.num_failed, 3 * num_localities - 1);
    cluster_destroy(cluster);
}

TEST(fails)
{
    for (uint32_t num_localities = 1; num_localities <= 3; num_localities++)
        for (uint32_t culprit = 0; culprit < 3 * num_localities; culprit += 2)
            fail(num_localities, culprit);
}

/* --- cancelled --- */

struct outer {
    struct cluster *cluster;
    cohort_scope *scope;
    struct scene scene;
    _Atomic uint32_t num_waiting;
};

/* Site 0 does not call. */
static cohort_status wait_in_vain(cohort_comm *comm, void *arg)
{
    struct outer *outer = arg;
    cohort_status status;
    if (cohort_comm_this_site(comm) == 0) {
        YIELD_WHILE(!cohort_cancelled());
        return COHORT_OK;
    }
    cohort_future *barrier = cohort_barrier(comm, 1);
    if (++outer->num_waiting == 3)
        cohort_scope_cancel(outer->scope);
    status = cohort_await(barrier);
    CHECK(status == COHORT_ERR_CANCELLED || status == COHORT_ERR_GONE); /* site 0 may be quicker */
    outer->num_waiting--;
    return status;
}

static cohort_status call_in_scope(void *arg)
{
    struct outer *outer = arg;
    const cohort_sites_options options = {.sites_per_locality = 4};
    return cohort_await(start(outer->cluster, 0, "vain", &options, wait_in_vain, outer));
}

static cohort_status call_when_cancelled(void *arg)
{
    YIELD_WHILE(!cohort_cancelled());
    return call_in_scope(arg);
}

TEST(cancelled)
{
    struct outer outer = {.cluster = cluster_create(SEED, 1, 0)};
    outer.scope = new_scope();
    CHECK_OK(cohort_scope_async(outer.scope, call_in_scope, &outer));
    CHECK_INT(cohort_scope_await(outer.scope), COHORT_ERR_CANCELLED);
    CHECK_INT(outer.num_waiting, 0);

    /* No function begins, and nothing is left. */
    outer.scope = new_scope();
    CHECK_OK(cohort_scope_async(outer.scope, call_when_cancelled, &outer));
    cohort_scope_cancel(outer.scope);
    CHECK_INT(cohort_scope_await(outer.scope), COHORT_ERR_CANCELLED);
    cluster_destroy(outer.cluster);
}

/* The scope of one locality is cancelled at any time: no site of another one waits for ever, and
 * either all have begun or none has. */
struct torn {
    struct cluster *cluster;
    cohort_scope *scope;
    bool is_cancelled_first;
    _Atomic uint32_t num_called; /* by locality 0, or its task has begun */
    _Atomic uint32_t num_begun;
    struct tear {
        struct torn *torn;
        uint32_t locality;
    } tears[MOST_LOCALITIES];
};

static cohort_status meet(cohort_comm *comm, void *arg)
{
    struct torn *torn = arg;
    torn->num_begun++;
    return cohort_await(cohort_barrier(comm, 1));
}

static cohort_status call_to_meet(void *arg)
{
    const struct tear *tear = arg;
    struct torn *torn = tear->torn;
    const cohort_sites_options options = {.sites_per_locality = 2};
    torn->num_called += tear->locality == 0 && torn->is_cancelled_first;
    YIELD_WHILE(tear->locality == 0 && torn->is_cancelled_first && !cohort_cancelled());
    cohort_future *met = start(torn->cluster, tear->locality, "torn", &options, meet, torn);
    torn->num_called += tear->locality == 0;
    cohort_status status = cohort_await(met);
    if (status && torn->num_begun == 0 && tear->locality > 0) {
        CHECK_FAILS(status, COHORT_ERR_CANCELLED,
                    ": its scope was cancelled: the scope around it was cancelled: ");
        CHECK_CONTAINS(cohort_error_message(), " of locality 0 ");
    }
    return COHORT_OK;
}

static void tear(uint32_t num_localities, uint32_t num_yields, bool is_cancelled_first)
{
    struct torn torn = {.cluster = cluster_create(SEED + num_yields, num_localities, 0),
                        .is_cancelled_first = is_cancelled_first};
    cohort_future *others[MOST_LOCALITIES];
    for (uint32_t i = 0; i < num_localities; i++)
        torn.tears[i] = (struct tear){&torn, i};
    for (uint32_t i = 1; i < num_localities; i++)
        others[i - 1] = cohort_async(call_to_meet, &torn.tears[i]);
    torn.scope = new_scope();
    CHECK_OK(cohort_scope_async(torn.scope, call_to_meet, &torn.tears[0]));
    YIELD_WHILE(!torn.num_called);
    for (uint32_t i = 0; i < num_yields; i++)
        cohort_yield();
    cohort_scope_cancel(torn.scope);
    CHECK_INT(cohort_scope_await(torn.scope), COHORT_ERR_CANCELLED);
    CHECK_OK(cohort_await(cohort_when_all(others, num_localities - 1)));
    cluster_destroy(torn.cluster);
}

TEST(torn)
{
    for (uint32_t num_localities = 2; num_localities <= 3; num_localities++)
        for (uint32_t num_yields = 0; num_yields < 40; num_yields++)
            tear(num_localities, num_yields, num_yields % 4 == 0);
}

/* --- wrong arguments --- */

static void check_wrong(const char *name, cohort_sites_options options,
                        cohort_site_function *function, const char *why)
{
    CHECK_INT(cohort_await(cohort__sites_for(NULL, name, &options, sizeof(options),
                                             sizeof(cohort_comm_options), function, NULL)),
              COHORT_ERR_STATE);
    struct cluster *cluster = cluster_create(SEED, 2, 0);
    CHECK_FAILS(cohort_await(start(cluster, 1, name, &options, function, NULL)),
                COHORT_ERR_BAD_PARAMETER, "cohort_sites: ");
    CHECK_CONTAINS(cohort_error_message(), why);
    cluster_destroy(cluster);
}

TEST(wrong)
{
    const cohort_comm_options with_sites = {.num_sites = 3}, with_site = {.this_site = 1};
    char long_name[257] = {0};
    memset(long_name, 'x', 256);
    cohort_sites_options none = {0};
    check_wrong("x", (cohort_sites_options){.num_sites = 2, .sites_per_locality = 1}, add_up,
                "num_sites is 2 and sites_per_locality 1: one of them has to be 0");
    check_wrong("x", (cohort_sites_options){.sites_per_locality = 1u << 30}, add_up,
                "2147483648 sites are too many");
    check_wrong("x", (cohort_sites_options){.comm = &with_sites}, add_up,
                "comm->num_sites is 3: it has to be 0");
    check_wrong("x", (cohort_sites_options){.comm = &with_site}, add_up,
                "comm->this_site is 1: it has to be 0");
    CHECK_FAILS(cohort_await(cohort_sites(NULL, &none, add_up, NULL)), COHORT_ERR_BAD_PARAMETER,
                "cohort_sites: no name");
    CHECK_INT(cohort_await(cohort_sites("", NULL, add_up, NULL)), COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(cohort_await(cohort_sites(long_name, NULL, add_up, NULL)), COHORT_ERR_BAD_PARAMETER,
                "a name has 1 to 255 bytes");
    CHECK_FAILS(cohort_await(cohort_sites("x", NULL, NULL, NULL)), COHORT_ERR_BAD_PARAMETER,
                "cohort_sites: no function");
    /* What a later version of the library may know. */
    struct {
        cohort_sites_options options;
        uint64_t later;
    } longer = {.later = 1};
    CHECK_FAILS(cohort_await(cohort_sites_sized("x", &longer.options, sizeof(longer),
                                                sizeof(cohort_comm_options), add_up, NULL)),
                COHORT_ERR_BAD_PARAMETER, "cohort_sites_options");
}
