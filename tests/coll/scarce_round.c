/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/coll/scarce_round.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/endpoint.h"
#include "runtime/base/clock.h"
#include "runtime/proc/boards.h"
#include "runtime/proc/process.h"
#include "tests/support/cluster.h"
#include "tests/support/scarce.h"

static const uint64_t patience = 20 * UINT64_C(1000000000);
static const uint64_t lateness = 20000000; /* 20 ms, after which a site that leaves does it */

static const struct cohort__position two_hosts[] = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 0}};

struct site sites[SITES];
static const struct scene *scene;
static struct cluster *cluster;
static long number; /* of the allocation that fails */
static uint32_t num_good, num_causes;
static bool are_ended; /* the localities */

void site_add(struct site *site, cohort_future *future)
{
    CHECK(site->num_futures < FUTURES);
    site->futures[site->num_futures++] = future;
}

static void create_with(struct site *site, uint64_t create_deadline)
{
    cohort_comm_options options = scene->options;
    options.create_deadline = create_deadline;
    options.num_sites = SITES;
    options.this_site = site->number;
    options.stall_after = 1000000; /* 1 ms: who is not told asks at each tick */
    site_add(site, cluster_create_comm(cluster, &site->comm, "scarce", &options));
}

static void create_comm(struct site *site)
{
    create_with(site, scene->options.create_deadline);
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
    bool is_any_dead = false;
    for (uint32_t i = 0; i < scene->num_localities; i++)
        is_any_dead |= cohort__process_any_dead(cluster_process(cluster, i));
    if (!is_any_dead || are_ended)
        return;
    are_ended = true;
    for (uint32_t i = 0; i < scene->num_localities; i++)
        for (uint32_t peer = 0; peer < scene->num_localities; peer++)
            if (peer != i)
                cluster_tell_death(cluster, i, peer, peer + 1, "ended by the test");
}

/* Whether TEXT says whose call has failed. Where there is no memory for words, there are none, and
 * what is not of a communicator does not name one. */
static bool is_named(const char *text)
{
    return !scene->begin || strstr(text, "\"scarce") ||
           strcmp(text, cohort_status_text(COHORT_ERR_NO_MEMORY)) == 0 ||
           strncmp(text, "cohort_op_create: ", 18) == 0 || strncmp(text, "locality ", 9) == 0;
}

static void look_at(struct site *site, cohort_future *future)
{
    const cohort_status status = cohort_await(future);
    const char *text = cohort_error_message();
    num_good += status == scene->expected || status == COHORT_OK;
    num_causes += status == COHORT_ERR_NO_MEMORY || status == COHORT_ERR_PEER_DIED;
    if (status == scene->expected || status == COHORT_OK)
        return;
    if (status != COHORT_ERR_NO_MEMORY && status != COHORT_ERR_PEER_DIED &&
        status != COHORT_ERR_GONE && status != COHORT_ERR_CANCELLED &&
        status != COHORT_ERR_MOVED_PAST && !strstr(text, "not there any more") &&
        !strstr(text, "the call of a site is wrong") && !strstr(text, "too long ago to remember") &&
        !(!scene->begin && (status == COHORT_ERR_TIMEOUT || status == COHORT_ERR_REVOKED)))
        FAIL("%s, allocation %ld, site %u: %s: %s", scene->name, number, site->number,
             cohort_status_name(status), text);
    if (status == COHORT_ERR_NO_MEMORY && !is_named(text))
        FAIL("%s, allocation %ld, site %u: whose call? %s", scene->name, number, site->number,
             text);
    site->has_failed = true;
}

/* Whether all calls have ended. Those that have are looked at. */
static bool are_over(void)
{
    uint32_t num_left = 0;
    end_localities();
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

/* A site whose call has failed has told nobody of those that wait for one that does not call. But
 * what is taken back is so at all sites, if no call fails for want of memory. */
static void let_leave(void)
{
    bool has_any_failed = false;
    for (uint32_t i = 0; i < SITES; i++)
        has_any_failed |= sites[i].has_failed;
    for (uint32_t i = 0; i < SITES && has_any_failed; i++)
        if (sites[i].leaves)
            give_back(&sites[i]);
}

static void wait_for_all(const char *what)
{
    const uint64_t end = cohort__clock_after(patience);
    const uint64_t late = cohort__clock_after(lateness);
    while (!are_over()) {
        if (cohort__clock_now() > late)
            let_leave();
        if (cohort__clock_now() > end)
            FAIL("%s, allocation %ld: %s does not end", scene->name, number, what);
        cohort_yield();
    }
    for (struct site *site = sites; site < sites + SITES; site++)
        site->num_futures = 0;
}

/* Some had an endpoint, others had no memory for theirs, and none has one any more: the name is
 * free. Returns whether the next ones have theirs; where news of one was lost there are none. */
static bool check_name(void)
{
    bool is_made = true;
    for (uint32_t i = 0; i < SITES; i++) {
        give_back(&sites[i]);
        sites[i].has_failed = false;
    }
    for (uint32_t i = 0; i < SITES; i++)
        create_with(&sites[i], 0);
    wait_for_all("the next creation");
    for (uint32_t i = 0; i < SITES; i++)
        is_made = is_made && sites[i].comm;
    return is_made;
}

/* The number of what all of this round's communicators have had is free: each home lends its lowest
 * first. */
static void check_free(void)
{
    const uint64_t end = cohort__clock_after(patience);
    uint32_t lent;
    do {
        for (uint32_t i = 0; i < SITES; i++)
            create_with(&sites[i], 0);
        wait_for_all("a creation");
        lent = sites[0].comm->group->membership->number;
        for (uint32_t i = 0; i < SITES; i++)
            give_back(&sites[i]);
        if (cohort__clock_now() > end)
            FAIL("allocation %ld: a number is not given back", number);
    } while (lent >= scene->num_localities);
}

static void free_text(cohort_future *future)
{
    void *text = NULL;
    if (future && cohort_await_value(future, &text) == COHORT_OK)
        free(text);
}

/* Returns whether an allocation has failed. */
static bool play(void)
{
    bool has_failed, all_well = true;
    num_good = num_causes = 0;
    are_ended = false;
    for (uint32_t i = 0; i < SITES; i++)
        sites[i] = (struct site){.number = i};
    cluster = cluster_create(1, scene->num_localities, 0);
    cluster_place(cluster, CLUSTER_BLOCKS);
    if (scene->num_localities == 4)
        cluster_locate(cluster, two_hosts);
    for (uint32_t i = 0; i < SITES && scene->begin; i++)
        create_comm(&sites[i]);
    wait_for_all("its begin");
    scarce_begin(number);
    for (uint32_t i = 0; i < SITES; i++)
        (scene->begin ? scene->begin : create_comm)(&sites[i]);
    wait_for_all("the call");
    has_failed = scarce_end();
    for (uint32_t i = 0; i < SITES; i++)
        all_well = all_well && !sites[i].has_failed;
    for (uint32_t i = 0; i < SITES && all_well && scene->check; i++)
        scene->check(&sites[i]);
    /* On a machine that is busy a deadline may end by itself. */
    const bool may_be_late = scene->options.create_deadline > 0;
    CHECK(has_failed || all_well || may_be_late);
    CHECK(all_well || num_causes > 0 || sites[SITES - 1].leaves || scene->expected || may_be_late);
    for (uint32_t i = 0; i < SITES; i++) {
        sites[i].leaves = false;
        if (sites[i].comm)
            site_add(&sites[i], cohort_barrier(sites[i].comm, 100));
    }
    const uint32_t num_made = num_good;
    wait_for_all("a barrier");
    const bool has_next = !scene->begin && num_made > 0 && !all_well && !are_ended && check_name();
    CHECK(!all_well || num_good > 0);
    for (uint32_t i = 0; i < SITES; i++) {
        give_back(&sites[i]);
        cohort_objects_fini(sites[i].objects_out, 2 * SITES);
        cohort_site_objects_fini(&sites[i].list);
        free_text(sites[i].text);
    }
    if (has_next)
        check_free();
    if (all_well)
        cluster_destroy(cluster);
    else
        cluster_abandon(cluster);
    return has_failed;
}

void scarce_rounds(const struct scene *played)
{
    bool has_failed = true;
    scene = played;
    for (number = 0; has_failed; number++)
        has_failed = play();
    CHECK(number > 1);
}
