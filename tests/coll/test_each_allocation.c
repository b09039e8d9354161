/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "runtime/base/clock.h"
#include "tests/support/cluster.h"
#include "tests/support/inproc_end.h"
#include "tests/support/scarce.h"

/* All sites of a communicator make a call, and one allocation fails, wherever in the library it is
 * made: the first one, then, in the next round, the second one, and so on, until there is no such
 * one any more. A site whose call has failed gives its endpoint back, as programs do. Then all
 * calls end: they succeed, and have the right results, or fail with an error that says why. So does
 * a barrier of those that are left. (No leaks: a build with the address sanitizer shows them.) */

enum { SITES = 4, FUTURES = 6, BYTES = 20000, ROWS = SITES };
static const uint64_t patience = 20 * UINT64_C(1000000000);

struct site {
    uint32_t number;
    cohort_comm *comm;
    cohort_comm *made; /* by the call */
    cohort_future *futures[FUTURES];
    uint32_t num_futures;
    bool has_failed;
    unsigned char in[SITES][BYTES], out[SITES][BYTES];
    cohort_object objects_in[SITES], objects_out[SITES];
    cohort_site_objects list;
};

/* A kind of call. BEGIN makes it, and adds its futures. CHECK: it has succeeded at all sites. */
struct scene {
    const char *name;
    uint32_t num_localities;
    size_t eager_budget;
    cohort_comm_options options;
    void (*begin)(struct site *site);
    void (*check)(struct site *site);
};

static const struct scene *scene;
static struct cluster *cluster;
static struct site sites[SITES];
static long number; /* of the allocation that fails */
static uint32_t num_good, num_causes;

/* The transport of the tests is no part of the library. */
struct cohort__inproc_event *__real_cohort__inproc_event_create(enum cohort__inproc_kind kind,
                                                                uint32_t peer, size_t bytes);
struct cohort__inproc_event *__wrap_cohort__inproc_event_create(enum cohort__inproc_kind kind,
                                                                uint32_t peer, size_t bytes);

struct cohort__inproc_event *__wrap_cohort__inproc_event_create(enum cohort__inproc_kind kind,
                                                                uint32_t peer, size_t bytes)
{
    scarce_pause();
    struct cohort__inproc_event *event = __real_cohort__inproc_event_create(kind, peer, bytes);
    scarce_go_on();
    return event;
}

static void add(struct site *site, cohort_future *future)
{
    CHECK(site->num_futures < FUTURES);
    site->futures[site->num_futures++] = future;
}

static void fill(struct site *site, uint32_t block, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        site->in[block][i] = (unsigned char)(site->number * 17 + block * 5 + i);
}

/* That block BLOCK of SITE's OUT is what site FROM had as its block ITS. */
static bool has_block(const struct site *site, uint32_t block, uint32_t from, uint32_t its,
                      size_t bytes)
{
    return memcmp(site->out[block], sites[from].in[its], bytes) == 0;
}

/* A round ------------------------------------------------------------------------------------- */

static void create_comm(struct site *site)
{
    cohort_comm_options options = scene->options;
    options.num_sites = SITES;
    options.this_site = site->number;
    options.stall_after = 10000000; /* 10 ms: who is not told asks */
    add(site, cluster_create_comm(cluster, &site->comm, "scarce", &options));
}

static void give_back(struct site *site)
{
    cohort_comm_unref(site->comm);
    cohort_comm_unref(site->made);
    site->comm = site->made = NULL;
}

/* A locality that has lost a message has given another one up. In a job that ends one of them. */
static void end_localities(void)
{
    for (uint32_t i = 0; i < scene->num_localities; i++)
        for (uint32_t peer = 0; peer < scene->num_localities; peer++)
            if (peer != i)
                cluster_tell_death(cluster, i, peer, peer, "ended by the test");
}

static void look_at(struct site *site, cohort_future *future)
{
    const cohort_status status = cohort_await(future);
    const char *text = cohort_error_message();
    num_good += status == COHORT_OK;
    num_causes += status == COHORT_ERR_NO_MEMORY || status == COHORT_ERR_PEER_DIED;
    if (!status)
        return;
    if (getenv("SCARCE_SHOW"))
        printf("%s %ld site %u: %s: %s\n", scene->name, number, site->number,
               cohort_status_name(status), text);
    if (status == COHORT_ERR_PEER_DIED)
        end_localities();
    else if (status != COHORT_ERR_NO_MEMORY && status != COHORT_ERR_GONE &&
             status != COHORT_ERR_CANCELLED && !strstr(text, "not there any more") &&
             !(scene->begin == create_comm &&
               (status == COHORT_ERR_TIMEOUT || status == COHORT_ERR_REVOKED)))
        test_failed(__FILE__, __LINE__, "%s, allocation %ld, site %u: %s: %s", scene->name, number,
                    site->number, cohort_status_name(status), text);
    site->has_failed = true;
}

/* Whether all calls have ended. Those that have are looked at. */
static bool are_over(void)
{
    uint32_t num_left = 0;
    for (struct site *site = sites; site < sites + SITES; site++) {
        for (uint32_t i = 0; i < site->num_futures; i++) {
            cohort_future *future = site->futures[i];
            if (future && cohort_future_ready(future)) {
                site->futures[i] = NULL;
                look_at(site, future);
            }
            num_left += site->futures[i] != NULL;
        }
        if (site->has_failed)
            give_back(site);
    }
    return num_left == 0;
}

static void wait_for_all(const char *what)
{
    const uint64_t end = cohort__clock_after(patience);
    while (!are_over()) {
        if (cohort__clock_now() > end)
            test_failed(__FILE__, __LINE__, "%s, allocation %ld: %s does not end", scene->name,
                        number, what);
        cohort_yield();
    }
    for (struct site *site = sites; site < sites + SITES; site++)
        site->num_futures = 0;
}

/* Returns whether an allocation has failed. */
static bool play(void)
{
    bool has_failed, all_well = true;
    num_good = num_causes = 0;
    for (uint32_t i = 0; i < SITES; i++)
        sites[i] = (struct site){.number = i};
    cluster = cluster_create(1, scene->num_localities, scene->eager_budget);
    cluster_place(cluster, CLUSTER_BLOCKS);
    for (uint32_t i = 0; i < SITES && scene->begin != create_comm; i++)
        create_comm(&sites[i]);
    wait_for_all("its begin");
    scarce_begin(number);
    for (uint32_t i = 0; i < SITES; i++)
        scene->begin(&sites[i]);
    wait_for_all("the call");
    has_failed = scarce_end();
    for (uint32_t i = 0; i < SITES; i++)
        all_well = all_well && !sites[i].has_failed;
    for (uint32_t i = 0; i < SITES && all_well && scene->check; i++)
        scene->check(&sites[i]);
    CHECK(has_failed || all_well);
    CHECK(all_well || num_causes > 0);
    for (uint32_t i = 0; i < SITES; i++)
        if (sites[i].comm)
            add(&sites[i], cohort_barrier(sites[i].comm, 100));
    wait_for_all("a barrier");
    CHECK(!all_well || num_good > 0);
    for (uint32_t i = 0; i < SITES; i++) {
        give_back(&sites[i]);
        for (uint32_t j = 0; j < SITES; j++)
            cohort_object_fini(&sites[i].objects_out[j]);
        cohort_site_objects_fini(&sites[i].list);
    }
    if (all_well)
        cluster_destroy(cluster);
    else
        cluster_abandon(cluster);
    return has_failed;
}

/* Scenes -------------------------------------------------------------------------------------- */

static void create_check(struct site *site)
{
    CHECK(site->comm != NULL);
}

static void all_to_all_begin(struct site *site)
{
    for (uint32_t i = 0; i < SITES; i++)
        fill(site, i, BYTES);
    add(site, cohort_all_to_all(site->comm, site->in, site->out, BYTES, COHORT_UINT8, 1));
}

static void all_to_all_check(struct site *site)
{
    for (uint32_t i = 0; i < SITES; i++)
        CHECK(has_block(site, i, i, site->number, BYTES));
}

static void sparse_begin(struct site *site)
{
    const uint32_t next = (site->number + 1) % SITES;
    fill(site, 0, BYTES);
    const cohort_site_object to[] = {{site->number, {site->in[0], 100}},
                                     {next, {site->in[0], BYTES}}};
    add(site, cohort_all_to_all_sparse(site->comm, to, 2, &site->list, 1));
}

static void sparse_check(struct site *site)
{
    CHECK_INT((long long)site->list.num, 2);
    for (size_t i = 0; i < 2; i++) {
        const cohort_site_object *one = &site->list.list[i];
        const size_t bytes = one->site == site->number ? 100 : BYTES;
        CHECK_INT((long long)one->object.bytes, (long long)bytes);
        CHECK(memcmp(one->object.data, sites[one->site].in[0], bytes) == 0);
    }
}

static const struct scene scenes[] = {
    {.name = "create",
     .num_localities = 2,
     .options = {.create_deadline = 50000000},
     .begin = create_comm,
     .check = create_check},
    {.name = "all_to_all",
     .num_localities = 2,
     .begin = all_to_all_begin,
     .check = all_to_all_check},
    {.name = "sparse", .num_localities = 2, .begin = sparse_begin, .check = sparse_check},
    {.name = "sparse_here", .num_localities = 1, .begin = sparse_begin, .check = sparse_check},
};

static void run(const char *name)
{
    bool has_failed = true;
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
        if (strcmp(scenes[i].name, name) == 0)
            scene = &scenes[i];
    for (number = 0; has_failed; number++)
        has_failed = play();
    printf("%s: %ld\n", name, number);
    CHECK(number > 1);
}

static void test_create(void)
{
    run("create");
}
static void test_all_to_all(void)
{
    run("all_to_all");
}
static void test_sparse(void)
{
    run("sparse");
    run("sparse_here");
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"create", test_create},
        {"all_to_all", test_all_to_all},
        {"sparse", test_sparse},
    };
    scarce_init();
    return cluster_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), 1);
}
