/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/explain.h"
#include "cohort/machine.h"
#include "collectives/comm/endpoint.h"
#include "collectives/plan/machine.h"
#include "runtime/base/random.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* What communicators know and say of the machine, on hosts and domains that are played. */

enum { MAX_SITES = 20, MAX_LOCALITIES = 6, NUM_SEEDS = 60 };

/* The hosts have numbers below 4. The last level has all of them. */
static const char *const levels_of_hosts[] = {"switch=s0,rack=r", "switch=s0,rack=r",
                                              "switch=s1,rack=r", "switch=s1,rack=r"};
enum { NUM_LEVELS = 5 };
static const char *const names[NUM_LEVELS] = {"locality", "domain", "host", "switch", "rack"};

struct scene {
    enum cluster_placement placement;
    uint64_t seed;
    uint32_t num_sites, num_localities;
    struct cohort__position positions[MAX_LOCALITIES];
    char *texts[MAX_SITES];
};

static const struct cohort__position *position_of(const struct scene *scene, uint32_t site)
{
    return &scene->positions[cluster_locality(scene->placement, scene->seed, scene->num_localities,
                                              site, scene->num_sites)];
}

/* Whether two sites are together at LEVEL. */
static bool are_together(const struct scene *scene, uint32_t level, uint32_t left, uint32_t right)
{
    const struct cohort__position *a = position_of(scene, left), *b = position_of(scene, right);
    return level == 0   ? a == b
           : level == 1 ? a->host == b->host && a->domain == b->domain
           : level == 2 ? a->host == b->host
           : level == 3 ? a->host / 2 == b->host / 2
                        : true;
}

/* What a program may ask, about the subgroup of SITE at LEVEL. */
static void ask(const struct scene *scene, const cohort_comm *comm, uint32_t level, uint32_t site)
{
    uint32_t num = 77, me = cohort_comm_this_site(comm);
    uint32_t subgroup = cohort_comm_subgroup(comm, level, site);
    uint32_t leader = cohort_comm_subgroup_leader(comm, level, subgroup);
    const uint32_t *sites = cohort_comm_subgroup_sites(comm, level, subgroup, &num);
    CHECK(subgroup < cohort_comm_num_subgroups(comm, level));
    CHECK_INT(subgroup == cohort_comm_subgroup(comm, level, me),
              are_together(scene, level, site, me));
    CHECK(are_together(scene, level, site, leader));
    if (level > 0 && leader == site)
        CHECK_INT(cohort_comm_subgroup_leader(comm, level - 1,
                                              cohort_comm_subgroup(comm, level - 1, site)),
                  site);
    for (uint32_t i = 0; i < num; i++) {
        CHECK(are_together(scene, level, site, sites[i]));
        CHECK(sites[i] >= sites[0]);
    }
    uint32_t num_there = 0;
    for (uint32_t other = 0; other < scene->num_sites; other++)
        num_there += are_together(scene, level, site, other);
    CHECK_INT(num, num_there);
}

static void ask_too_much(const cohort_comm *comm)
{
    uint32_t num = 77, most = cohort_comm_num_sites(comm);
    CHECK(!cohort_comm_level_name(comm, NUM_LEVELS));
    CHECK_INT(cohort_comm_num_subgroups(comm, NUM_LEVELS), 0);
    CHECK_INT(cohort_comm_subgroup(comm, NUM_LEVELS, 0), UINT32_MAX);
    CHECK_INT(cohort_comm_subgroup(comm, 0, most), UINT32_MAX);
    CHECK(!cohort_comm_subgroup_sites(comm, NUM_LEVELS, 0, &num));
    CHECK(!cohort_comm_subgroup_sites(comm, 0, most, &num));
    CHECK_INT(num, 77);
    CHECK_INT(cohort_comm_subgroup_leader(comm, NUM_LEVELS, 0), UINT32_MAX);
    CHECK_INT(cohort_comm_subgroup_leader(comm, 0, most), UINT32_MAX);
}

static cohort_status describe(cohort_comm *comm, void *arg)
{
    struct scene *scene = arg;
    uint32_t me = cohort_comm_this_site(comm);
    CHECK_INT(cohort_comm_num_machine_levels(comm), NUM_LEVELS);
    for (uint32_t level = 0; level < NUM_LEVELS; level++) {
        CHECK_TEXT(cohort_comm_level_name(comm, level), names[level]);
        for (uint32_t site = 0; site < scene->num_sites; site++)
            ask(scene, comm, level, site);
    }
    ask_too_much(comm);
    for (uint32_t i = 0; i < comm->group->local.num; i++)
        CHECK(are_together(scene, 0, comm->group->local.sites[i], me));
    return cohort_comm_describe(comm, &scene->texts[me]);
}

static cohort_status explain(cohort_comm *comm, void *arg)
{
    struct scene *scene = arg;
    return cohort_explain(comm, "broadcast", 1, COHORT_DOUBLE, NULL,
                          &scene->texts[cohort_comm_this_site(comm)]);
}

static void run(struct scene *scene, uint32_t root, cohort_status (*site)(cohort_comm *, void *))
{
    struct cluster *cluster = cluster_create(scene->seed, scene->num_localities, 0);
    cluster_locate(cluster, scene->positions);
    const char *levels[MAX_LOCALITIES];
    for (uint32_t i = 0; i < scene->num_localities; i++)
        levels[i] = levels_of_hosts[scene->positions[i].host];
    cluster_name_levels(cluster, levels);
    cluster_place(cluster, scene->placement);
    CHECK_OK(cluster_sites(
        cluster, (struct sites){.name = "c",
                                .options = {.num_sites = scene->num_sites, .root_site = root},
                                .run = site,
                                .arg = scene}));
    cluster_destroy(cluster);
    for (uint32_t i = 1; i < scene->num_sites; i++)
        CHECK_TEXT(scene->texts[i], scene->texts[0]);
}

static void forget(struct scene *scene)
{
    for (uint32_t site = 0; site < scene->num_sites; site++)
        free(scene->texts[site]);
}

/* Sites in turn in 4 localities, two of them in a domain. */
static const struct scene in_turn = {
    .num_sites = 8, .num_localities = 4, .positions = {{0, 5, 0}, {0, 9, 0}, {0, 5, 0}, {0, 9, 0}}};

/* The leaders depend on the instance, so all that is known is that they are in their subgroups. */
TEST(text)
{
    struct scene scene = in_turn;
    unsigned leaders[7];
    run(&scene, 0, describe);
    CHECK_INT(sscanf(scene.texts[0],
                     "communicator \"c\": 8 sites\n"
                     "locality: 4, at most 2 in one, scattered\n"
                     "  %u leads 0,4\n  %u leads 2,6\n  %u leads 1,5\n  %u leads 3,7\n"
                     "domain: 2, at most 4 in one, scattered\n"
                     "  %u leads 0,4,2,6\n  %u leads 1,5,3,7\n"
                     "host: 1, at most 8 in one, in order\n  %u leads 0,4,2,6,1,5,3,7\n",
                     &leaders[0], &leaders[1], &leaders[2], &leaders[3], &leaders[4], &leaders[5],
                     &leaders[6]),
              7);
    CHECK_CONTAINS(scene.texts[0], "\nswitch: 1, as host\nrack: 1, as switch\n");
    for (unsigned i = 0; i < 4; i++)
        CHECK_INT(leaders[i] % 4, i % 2 * 2 + i / 2);
    CHECK(leaders[4] == leaders[0] || leaders[4] == leaders[1]);
    CHECK(leaders[6] == leaders[4] || leaders[6] == leaders[5]);
    forget(&scene);
}

/* The root leads its subgroups. */
TEST(explain)
{
    struct scene scene = in_turn;
    run(&scene, 7, explain);
    CHECK_CONTAINS(scene.texts[0], "\n  levels: ");
    CHECK_CONTAINS(scene.texts[0], "\n  7 leads 3,7\n");
    CHECK_CONTAINS(scene.texts[0], "\n  7 leads 1,5,3,7\n");
    CHECK_CONTAINS(scene.texts[0], "\n  7 leads 0,4,2,6,1,5,3,7\n");
    forget(&scene);
}

TEST(random)
{
    for (uint64_t seed = 0; seed < NUM_SEEDS; seed++) {
        struct cohort__random random = cohort__random_seeded(seed);
        struct scene scene = {
            .placement = seed % CLUSTER_NUM_PLACEMENTS,
            .seed = seed,
            .num_localities = 1 + (uint32_t)cohort__random_below(&random, MAX_LOCALITIES),
        };
        scene.num_sites = scene.num_localities + (uint32_t)cohort__random_below(
                                                     &random, MAX_SITES - scene.num_localities + 1);
        for (uint32_t i = 0; i < scene.num_localities; i++)
            scene.positions[i] =
                (struct cohort__position){(uint32_t)cohort__random_below(&random, 4),
                                          (uint32_t)cohort__random_below(&random, 2), 0};
        run(&scene, 0, describe);
        forget(&scene);
    }
}

static cohort_status misuse(cohort_comm *comm, void *arg)
{
    char *text = NULL;
    CHECK_FAILS(cohort_comm_describe(comm, NULL), COHORT_ERR_BAD_PARAMETER,
                "cohort_comm_describe: no place for the text");
    CHECK_FAILS(cohort_comm_describe(NULL, &text), COHORT_ERR_BAD_PARAMETER,
                "cohort_comm_describe: no communicator");
    CHECK(!text);
    return cohort_comm_describe(comm, &((struct scene *)arg)->texts[cohort_comm_this_site(comm)]);
}

TEST(misuse)
{
    struct scene scene = in_turn;
    run(&scene, 0, misuse);
    forget(&scene);
}
