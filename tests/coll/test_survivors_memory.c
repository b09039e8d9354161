/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include <cohort/cohort.h>

#include "runtime/names/home.h"
#include "tests/support/await_within.h"
#include "tests/support/cluster.h"
#include "tests/support/scarce.h"

/* Each allocation of a site's agree or shrink fails in turn, and each join of a dup. The site calls
 * again, as whoever gets COHORT_ERR_NO_MEMORY may do. Nobody waits for ever: either all get the
 * same right result, or all get an error, since one that could not join is known to all. */

enum { SITES = 4, LOCALITIES = 2, POOR = SITES - 1, ROUNDS = 3 };
static const uint64_t patience = 20 * UINT64_C(1000000000);

/* How many letters of the registry there are before there is no memory for one. -1: no end. */
static long letters_left = -1;

struct cohort__registry_letter *__real_cohort__registry_letter_add(struct cohort__list *outbox,
                                                                   const uint32_t *ranks,
                                                                   uint32_t num_ranks);

struct cohort__registry_letter *__wrap_cohort__registry_letter_add(struct cohort__list *outbox,
                                                                   const uint32_t *ranks,
                                                                   uint32_t num_ranks)
{
    const bool fails = letters_left >= 0 && letters_left-- == 0;
    return fails ? NULL : __real_cohort__registry_letter_add(outbox, ranks, num_ranks);
}

/* What a site has called, and where its results go. */
struct site {
    cohort_comm *comm, *next;
    cohort_agreed agreed;
    cohort_status status;
};

struct scene {
    struct cluster *cluster;
    struct site sites[SITES];
    bool shrinks;
};

static void begin(struct scene *scene)
{
    cohort_future *futures[SITES];
    scene->cluster = cluster_create(1, LOCALITIES, 0);
    cluster_place(scene->cluster, CLUSTER_BLOCKS);
    for (uint32_t site = 0; site < SITES; site++)
        futures[site] =
            cluster_create_comm(scene->cluster, &scene->sites[site].comm, "poor",
                                &(cohort_comm_options){.num_sites = SITES, .this_site = site});
    CHECK_OK(cohort_await(cohort_when_all(futures, SITES)));
}

static void end(struct scene *scene)
{
    for (uint32_t site = 0; site < SITES; site++) {
        cohort_comm_unref(scene->sites[site].next);
        cohort_comm_unref(scene->sites[site].comm);
    }
    cluster_destroy(scene->cluster);
}

static cohort_future *call(struct scene *scene, uint32_t number)
{
    struct site *site = &scene->sites[number];
    return scene->shrinks ? cohort_comm_shrink(&site->next, site->comm)
                          : cohort_comm_agree(site->comm, ~(UINT64_C(1) << number), &site->agreed);
}

static void check_right(const struct scene *scene)
{
    for (uint32_t site = 0; site < SITES; site++) {
        if (scene->shrinks)
            CHECK_INT(cohort_comm_num_sites(scene->sites[site].next), SITES);
        else
            CHECK(scene->sites[site].agreed.value == ~((UINT64_C(1) << SITES) - 1));
    }
}

/* All wait for their calls, the poor one first, and call again where there was no memory. Returns
 * how many have no result. */
static uint32_t wait_for_all(struct scene *scene, cohort_future **futures)
{
    uint32_t num = 0;
    for (uint32_t i = 0; i < SITES; i++) {
        const uint32_t number = (POOR + i) % SITES;
        if (!futures[number])
            continue;
        const cohort_status status = await_within(futures[number], patience);
        CHECK(status == COHORT_OK || status == COHORT_ERR_NO_MEMORY);
        futures[number] = status ? call(scene, number) : NULL;
        num += status != COHORT_OK;
    }
    return num;
}

/* Returns whether an allocation has failed. *RET_RIGHT: all have a result in the end. */
static bool play(bool shrinks, long number, bool *ret_right)
{
    struct scene scene = {.shrinks = shrinks};
    cohort_future *futures[SITES];
    uint32_t num_left = SITES;
    begin(&scene);
    for (uint32_t site = 0; site < POOR; site++)
        futures[site] = call(&scene, site);
    scarce_begin(number);
    futures[POOR] = call(&scene, POOR);
    const bool has_failed = scarce_end();
    for (int round = 0; round < ROUNDS && num_left > 0; round++)
        num_left = wait_for_all(&scene, futures);
    for (uint32_t site = 0; site < SITES && num_left > 0; site++)
        CHECK_INT(await_within(futures[site], patience), COHORT_ERR_NO_MEMORY); /* all of them */
    *ret_right = num_left == 0;
    if (num_left == 0)
        check_right(&scene);
    end(&scene);
    return has_failed;
}

static void fail_each(bool shrinks)
{
    long number = 0, num_right = 0;
    for (bool has_failed = true, is_right; has_failed; number++) {
        has_failed = play(shrinks, number, &is_right);
        CHECK(is_right || has_failed);
        num_right += is_right;
    }
    CHECK(number > 4 && num_right >= 3); /* two of `begin`, and where none fails */
}

TEST_CALL(agree, fail_each(false))
TEST_CALL(shrink, fail_each(true))

/* A dup, whose sites join each other behind its collective. Each of their letters fails in turn. */
TEST(dup)
{
    for (long number = 0; number < SITES; number++) {
        struct scene scene = {0};
        cohort_future *futures[SITES];
        begin(&scene);
        letters_left = number;
        for (uint32_t site = 0; site < SITES; site++)
            futures[site] = cohort_comm_dup(&scene.sites[site].next, scene.sites[site].comm, 1);
        for (uint32_t site = 0; site < SITES; site++)
            CHECK_INT(await_within(futures[site], patience), COHORT_ERR_NO_MEMORY);
        CHECK(letters_left < 0);
        letters_left = -1;
        end(&scene);
    }
}

/* A site that leaves has no memory to tell the home. It does so later, or the others would wait for
 * it for ever. */
TEST(leave)
{
    struct scene scene = {0};
    cohort_future *futures[SITES] = {NULL};
    begin(&scene);
    letters_left = 0;
    cohort_comm_unref(scene.sites[POOR].comm);
    scene.sites[POOR].comm = NULL;
    CHECK(letters_left < 0);
    for (uint32_t site = 0; site < POOR; site++)
        futures[site] = call(&scene, site);
    for (uint32_t site = 0; site < POOR; site++)
        CHECK_INT(await_within(futures[site], patience), COHORT_ERR_GONE);
    end(&scene);
}

static cohort_future *create(struct scene *scene, uint32_t site)
{
    return cluster_create_comm(scene->cluster, &scene->sites[site].comm, "poor",
                               &(cohort_comm_options){.num_sites = SITES, .this_site = site});
}

/* Each allocation of the last site's creation fails in turn; and so does the next letter behind its
 * join, in which a site without memory for its endpoint says that nobody is to wait for it. Returns
 * whether an allocation has failed. */
static bool create_poor(long number)
{
    struct scene scene = {.cluster = cluster_create(1, 1, 0)};
    cohort_future *futures[SITES];
    for (uint32_t site = 0; site < POOR; site++)
        futures[site] = create(&scene, site);
    letters_left = 1;
    scarce_begin(number);
    futures[POOR] = create(&scene, POOR);
    const bool has_failed = scarce_end();
    letters_left = -1;
    while (await_within(futures[POOR], patience) && !cohort_future_ready(futures[0]))
        futures[POOR] = create(&scene, POOR); /* it has not joined */
    for (uint32_t site = 0; site < POOR; site++)
        (void)!await_within(futures[site], patience);
    for (uint32_t site = 0; site < SITES; site++)
        futures[site] = scene.sites[site].comm ? cohort_barrier(scene.sites[site].comm, 1) : NULL;
    for (uint32_t site = 0; site < SITES; site++)
        CHECK(!futures[site] || await_within(futures[site], patience) != COHORT_ERR_TIMEOUT);
    end(&scene);
    return has_failed;
}

TEST(create)
{
    long number = 0;
    while (create_poor(number))
        number++;
    CHECK(number > 4);
}

int main(int argc, char **argv)
{
    scarce_init();
    return cluster_test(argc, argv, 1);
}
