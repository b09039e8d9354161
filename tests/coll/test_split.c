/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/split.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/machine.h"
#include "collectives/comm/endpoint.h"
#include "runtime/base/hash.h"
#include "runtime/base/random.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Communicators out of communicators, with several sites in each of several localities. */

enum { MAX_SITES = 23, MAX_LOCALITIES = 5, NUM_SEEDS = 60, FEW_SEEDS = 12 };

struct scene {
    uint64_t seed;
    uint32_t num_sites, num_localities;
    enum cluster_placement placement;
    const struct cohort__position *positions; /* or NULL */
    const char *const *levels;                /* as COHORT_LEVELS has them, or NULL */
    struct cluster *cluster;
    cohort_comm_options options;
    _Atomic uint32_t num_there; /* sites that have come to where all wait for all */
};

static cohort_status run_in(struct scene *scene, cohort_status (*site)(cohort_comm *, void *))
{
    scene->cluster = cluster_create(scene->seed, scene->num_localities, 0);
    if (scene->positions)
        cluster_locate(scene->cluster, scene->positions);
    if (scene->levels)
        cluster_name_levels(scene->cluster, scene->levels);
    cluster_place(scene->cluster, scene->placement);
    scene->options.num_sites = scene->num_sites;
    return cluster_sites(
        scene->cluster,
        (struct sites){.name = "world", .options = scene->options, .run = site, .arg = scene});
}

static void run(struct scene *scene, cohort_status (*site)(cohort_comm *, void *))
{
    CHECK_OK(run_in(scene, site));
    cluster_destroy(scene->cluster);
}

/* The ROUNDth time that all wait for all, without the library. */
static void wait_for_all(struct scene *scene, uint32_t round)
{
    atomic_fetch_add(&scene->num_there, 1);
    YIELD_WHILE(atomic_load(&scene->num_there) < round * scene->num_sites);
}

/* Checks that CHILD has these members, in this order, by what they bring. Uses GENERATION. */
static void check_members(cohort_comm *child, uint32_t me, const uint32_t *members, uint32_t num,
                          uint64_t generation)
{
    uint32_t all[MAX_SITES];
    CHECK_INT(cohort_comm_num_sites(child), num);
    CHECK_INT(members[cohort_comm_this_site(child)], me);
    CHECK_OK(cohort_await(cohort_all_gather(child, &me, all, 1, COHORT_UINT32, generation)));
    CHECK(memcmp(all, members, num * sizeof(*all)) == 0);
}

/* Random colors and keys against an oracle ---------------------------------------------------- */

static int32_t color_of(uint64_t seed, uint32_t round, uint32_t site)
{
    static const int32_t colors[] = {COHORT_COLOR_NONE, 0, 7, -1, INT32_MAX};
    uint64_t num = 1 + seed % 5;
    return colors[cohort__hash_mix(cohort__hash_mix(seed, round), site) % num +
                  (num < 5 && seed % 3)];
}

static int32_t key_of(uint64_t seed, uint32_t round, uint32_t site)
{
    return (int32_t)(cohort__hash_mix(cohort__hash_mix(seed + 1, round), site) % 4) - 2;
}

/* Of the sites of the parent, which are sites of the world, those with the color of this one. */
static uint32_t divide(const struct scene *scene, uint32_t round, uint32_t me,
                       const uint32_t *parent, uint32_t num, uint32_t *members)
{
    uint32_t num_members = 0;
    for (int32_t key = -2; key < 2; key++)
        for (uint32_t i = 0; i < num; i++)
            if (color_of(scene->seed, round, parent[i]) == color_of(scene->seed, round, me) &&
                key_of(scene->seed, round, parent[i]) == key)
                members[num_members++] = parent[i];
    return num_members;
}

/* Shows the message. */
static void check_ok(cohort_status status)
{
    CHECK_TEXT(status ? cohort_error_message() : "", "");
}

/* Splits again and again, until a site is alone or has no color. Some parents are given back before
 * the child is used, and some before it is there. */
static cohort_status descend(cohort_comm *world, void *arg)
{
    const struct scene *scene = arg;
    uint32_t me = cohort_comm_this_site(world), num = scene->num_sites, members[2][MAX_SITES];
    cohort_comm *comm = world;
    for (uint32_t site = 0; site < num; site++)
        members[0][site] = site;
    for (uint32_t round = 0; comm && num > 1 && round < 4; round++) {
        const uint32_t *parent = members[round % 2];
        cohort_comm *child = comm, *again = comm;
        uint64_t generation = 2 + cohort__hash_mix(scene->seed, round) % 5;
        int32_t color = color_of(scene->seed, round, me);
        cohort_future *made[] = {
            cohort_comm_split(&child, comm, color, key_of(scene->seed, round, me), generation),
            round == 0 ? cohort_comm_dup(&again, comm, generation + 2) : cohort_future_of_value(0)};
        if (comm != world && scene->seed % 3 == 0)
            cohort_comm_unref(comm);
        check_ok(cohort_await(made[1]));
        check_ok(cohort_await(made[0]));
        if (round == 0) {
            CHECK_INT(cohort_comm_root_site(again), cohort_comm_root_site(comm));
            check_members(again, me, parent, num, 1);
            cohort_comm_unref(again);
        }
        if (comm != world && scene->seed % 3 == 1)
            cohort_comm_unref(comm);
        num = divide(scene, round, me, parent, num, members[(round + 1) % 2]);
        CHECK((child == NULL) == (color == COHORT_COLOR_NONE));
        if (child)
            check_members(child, me, members[(round + 1) % 2], num, 1);
        if (comm != world && scene->seed % 3 == 2)
            cohort_comm_unref(comm);
        comm = child;
    }
    if (comm != world)
        cohort_comm_unref(comm);
    return COHORT_OK;
}

static struct scene random_scene(uint64_t seed)
{
    struct cohort__random random = cohort__random_seeded(seed);
    struct scene scene = {.seed = seed, .placement = seed % CLUSTER_NUM_PLACEMENTS};
    scene.num_localities = 1 + (uint32_t)cohort__random_below(&random, MAX_LOCALITIES);
    scene.num_sites = scene.num_localities +
                      (uint32_t)cohort__random_below(&random, MAX_SITES - scene.num_localities + 1);
    scene.options.root_site = (uint32_t)cohort__random_below(&random, scene.num_sites);
    scene.options.flat_fallback_threshold = seed % 2 ? COHORT_FORCE_TREE : 0;
    return scene;
}

TEST(random)
{
    for (uint64_t seed = 1; seed <= test_rounds(NUM_SEEDS, FEW_SEEDS); seed++) {
        struct scene scene = random_scene(seed);
        run(&scene, descend);
    }
}

/* Levels --------------------------------------------------------------------------------------- */

static bool are_together(const struct scene *scene, int level, uint32_t left, uint32_t right)
{
    uint32_t of[] = {cluster_locality(scene->placement, scene->seed, scene->num_localities, left,
                                      scene->num_sites),
                     cluster_locality(scene->placement, scene->seed, scene->num_localities, right,
                                      scene->num_sites)};
    const struct cohort__position *a = &scene->positions[of[0]], *b = &scene->positions[of[1]];
    return level == COHORT_LEVEL_LOCALITY ? a == b
           : level == COHORT_LEVEL_DOMAIN ? a->host == b->host && a->domain == b->domain
           : level == COHORT_LEVEL_HOST   ? a->host == b->host
                                          : a->host / 2 == b->host / 2; /* switch */
}

/* All levels at once, on one parent, most of them twice. The names are the same in both times. */
static cohort_status split_levels(cohort_comm *world, void *arg)
{
    static const char *const names[] = {"world/locality ", "world/domain ", "world/host ",
                                        "world/switch "};
    const struct scene *scene = arg;
    uint32_t me = cohort_comm_this_site(world);
    cohort_comm *children[7];
    cohort_future *made[7];
    for (int i = 0; i < 7; i++)
        made[i] = i < 4 ? cohort_comm_split_named_level(&children[i], world,
                                                        cohort_comm_level_name(world, (uint32_t)i),
                                                        1 + (uint64_t)i)
                        : cohort_comm_split_level(&children[i], world, (cohort_level)(i % 4),
                                                  1 + (uint64_t)i);
    CHECK_OK(cohort_await(cohort_when_all(made, 7)));
    for (int i = 0; i < 7; i++) {
        uint32_t members[MAX_SITES], num = 0;
        for (uint32_t site = 0; site < scene->num_sites; site++)
            if (are_together(scene, i % 4, site, me))
                members[num++] = site;
        check_members(children[i], me, members, num, 5);
        CHECK_CONTAINS(cohort_comm_name(children[i]), names[i % 4]);
        CHECK_INT(cohort_comm_root_site(children[i]), 0);
        cohort_comm_unref(children[i]);
    }
    return COHORT_OK;
}

TEST(levels)
{
    for (uint64_t seed = 1; seed <= test_rounds(NUM_SEEDS, FEW_SEEDS); seed++) {
        struct scene scene = random_scene(seed);
        struct cohort__position positions[MAX_LOCALITIES];
        const char *levels[MAX_LOCALITIES];
        struct cohort__random random = cohort__random_seeded(seed);
        for (uint32_t i = 0; i < scene.num_localities; i++) {
            positions[i] = (struct cohort__position){(uint32_t)cohort__random_below(&random, 3),
                                                     (uint32_t)cohort__random_below(&random, 2), 0};
            levels[i] = positions[i].host / 2 ? "switch=one" : "switch=other";
        }
        scene.positions = positions;
        scene.levels = levels;
        run(&scene, split_levels);
    }
}

/* What is taken over, and names ---------------------------------------------------------------- */

static cohort_status take_over(cohort_comm *world, void *arg)
{
    const struct scene *scene = arg;
    char *text = NULL;
    cohort_comm *child = NULL, *named = NULL, *again = NULL;
    uint32_t me = cohort_comm_this_site(world);
    CHECK_OK(cohort_await(cohort_comm_split(&child, world, 5, 0, COHORT_AUTO_GENERATION)));
    CHECK_TEXT(cohort_comm_name(child), "world/split 1 color 5");
    CHECK_INT(cohort_comm_arity(child), 3);
    CHECK_INT(cohort_comm_levels(child), cohort_comm_levels(world));
    CHECK_INT(cohort_comm_root_site(child), 0);
    CHECK_OK(cohort_await(cohort_barrier(child, COHORT_AUTO_GENERATION)));
    CHECK_OK(cohort_explain(child, "all_gather", 1, COHORT_UINT32, NULL, &text));
    CHECK_CONTAINS(text, "chosen: ring");
    free(text);
    /* The same name, from a user: of a communicator that lives, and of a new one. */
    cohort_comm_options options = {.num_sites = scene->num_sites, .this_site = me};
    for (int i = 0; i < 2; i++) {
        cohort_comm **comm = i == 0 ? &named : &again;
        CHECK_OK(cohort_await(
            cluster_create_comm(scene->cluster, comm, cohort_comm_name(child), &options)));
        CHECK_OK(cohort_await(cohort_barrier(*comm, 1)));
        cohort_comm_unref(*comm);
    }
    cohort_comm_unref(child);
    return COHORT_OK;
}

TEST(take_over)
{
    struct scene scene = {.seed = 3,
                          .num_sites = 9,
                          .num_localities = 3,
                          .options = {.arity = 3,
                                      .root_site = 4,
                                      .auto_generation = true,
                                      .flat_fallback_threshold = COHORT_FORCE_TREE,
                                      .algorithms = "all_gather=ring"}};
    run(&scene, take_over);
}

/* The names grow with each split, up to their limit. Where they are cut off they are still told
 * apart. */
static cohort_status grow(cohort_comm *world, void *arg)
{
    uint32_t me = cohort_comm_this_site(world);
    cohort_comm *comm = world;
    for (int i = 0; i < 20; i++) {
        cohort_comm *child = NULL, *other = NULL;
        cohort_future *made[] = {cohort_comm_split(&child, comm, 1, 0, 1),
                                 cohort_comm_split(&other, comm, (int32_t)me % 2, 0, 2)};
        CHECK_OK(cohort_await(cohort_when_all(made, 2)));
        CHECK_OK(cohort_await(cohort_barrier(other, 1)));
        cohort_comm_unref(other);
        if (comm != world)
            cohort_comm_unref(comm);
        comm = child;
    }
    CHECK_INT(strlen(cohort_comm_name(comm)), 255);
    CHECK_CONTAINS(cohort_comm_name(comm) + 255 - strlen("/split 1 color 1"), "/split 1 color 1");
    cohort_comm_unref(comm);
    return COHORT_OK;
}

TEST(grow)
{
    struct scene scene = {.seed = 1, .num_sites = 6, .num_localities = 3};
    run(&scene, grow);
}

/* In a loop: nothing is used up. --------------------------------------------------------------- */

enum { LOOPS = 200 };

/* Sites 0, 1, ... are in localities 0, 1, ..., so each row of this grid needs a board. */
static cohort_status loop(cohort_comm *world, void *arg)
{
    uint32_t me = cohort_comm_this_site(world);
    for (uint64_t i = 1; i <= LOOPS; i++) {
        cohort_comm *row = NULL;
        CHECK_OK(cohort_await(cohort_comm_split(&row, world, (int32_t)(me / 3), 0, i)));
        CHECK_INT(row->group->has_board, world->group->has_board);
        CHECK_INT(row->group->has_notes, world->group->has_notes);
        CHECK_OK(cohort_await(cohort_barrier(row, 1)));
        cohort_comm_unref(row);
    }
    return COHORT_OK;
}

TEST(loop)
{
    struct scene scene = {.seed = 1, .num_sites = 6, .num_localities = 3};
    run(&scene, loop);
}

/* On two hosts, of which one has two localities: these leave each other notes. */
TEST(loop_of_hosts)
{
    static const struct cohort__position positions[] = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}};
    struct scene scene = {.seed = 1,
                          .num_sites = 6,
                          .num_localities = 3,
                          .positions = positions,
                          .options = {.algorithms = "barrier=levels"}};
    run(&scene, loop);
}

/* Mistakes ------------------------------------------------------------------------------------ */

enum { DEVIANT = 4 };

static uint64_t untouched;

/* Whether the outcome of MADE is STATUS, with a message that has TEXT and nothing in *CHILD. */
static void check_fails(cohort_future *made, cohort_comm *const *child, cohort_status status,
                        const char *text)
{
    CHECK_FAILS(cohort_await(made), status, text);
    CHECK((const void *)*child == (const void *)&untouched);
}

/* In generation 1 to 8 one site calls something else, or what is wrong. After that all is well. */
static cohort_status deviate(cohort_comm *world, void *arg)
{
    bool is_deviant = cohort_comm_this_site(world) == DEVIANT;
    int32_t in[2] = {1, 2}, out[2 * MAX_SITES];
    cohort_comm *child = (cohort_comm *)&untouched;
    check_fails(is_deviant ? cohort_all_gather(world, in, out, 2, COHORT_INT32, 1)
                           : cohort_comm_split(&child, world, 0, 0, 1),
                &child, COHORT_ERR_MISMATCH, "called split: all_gather (");
    check_fails(is_deviant ? cohort_barrier(world, 2) : cohort_comm_dup(&child, world, 2), &child,
                COHORT_ERR_MISMATCH, "called dup: barrier (");
    check_fails(cohort_comm_split_level(&child, world,
                                        is_deviant ? COHORT_LEVEL_HOST : COHORT_LEVEL_DOMAIN, 3),
                &child, COHORT_ERR_MISMATCH, "called split by hosts: barrier (");
    check_fails(cohort_comm_split(is_deviant ? NULL : &child, world, 0, 0, 4), &child,
                COHORT_ERR_BAD_PARAMETER,
                "generation 4, site 4, cohort_comm_split: no place for the communicator");
    check_fails(cohort_comm_split_level(&child, world, is_deviant ? 3 : COHORT_LEVEL_HOST, 5),
                &child, COHORT_ERR_BAD_PARAMETER,
                "generation 5, site 4, cohort_comm_split_level: there is no such level");
    check_fails(cohort_comm_dup(&child, world, 5), &child, COHORT_ERR_GENERATION, "generation 5");
    check_fails(cohort_comm_split_named_level(&child, world, is_deviant ? "rack" : "switch", 6),
                &child, COHORT_ERR_MISMATCH, "called split by named level 2: barrier (");
    check_fails(cohort_comm_split_named_level(&child, world, is_deviant ? "swich" : "switch", 7),
                &child, COHORT_ERR_BAD_PARAMETER,
                "generation 7, site 4, cohort_comm_split_named_level: there is no level 'swich', "
                "only locality, domain, host, switch, rack");
    check_fails(cohort_comm_split_named_level(&child, world, is_deviant ? NULL : "host", 8), &child,
                COHORT_ERR_BAD_PARAMETER, "no name of a level");
    check_fails(cohort_comm_split_named_level(&child, NULL, "host", 8), &child,
                COHORT_ERR_BAD_PARAMETER, "cohort_comm_split_named_level: no communicator");
    check_fails(cohort_comm_dup(&child, NULL, 5), &child, COHORT_ERR_BAD_PARAMETER,
                "cohort_comm_dup: no communicator");
    CHECK_OK(cohort_await(cohort_comm_dup(&child, world, 9)));
    CHECK_OK(cohort_await(cohort_barrier(child, 1)));
    cohort_comm_unref(child);
    return COHORT_OK;
}

TEST(deviate)
{
    static const char *const levels[] = {"switch=s,rack=r", "switch=s,rack=r", "switch=s,rack=r"};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct scene scene = {.seed = seed,
                              .num_sites = 9,
                              .num_localities = 1 + (uint32_t)seed % 3,
                              .levels = levels,
                              .options = {.stall_after = 1000000}};
        run(&scene, deviate);
    }
}

/* One site leaves the parent without calling. */
static cohort_status leave(cohort_comm *world, void *arg)
{
    cohort_comm *child = (cohort_comm *)&untouched;
    if (cohort_comm_this_site(world) != DEVIANT)
        check_fails(cohort_comm_split(&child, world, 1, 0, 1), &child, COHORT_ERR_GONE,
                    "site 4 (locality ");
    return COHORT_OK;
}

TEST(leave)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct scene scene = {.seed = seed,
                              .num_sites = 9,
                              .num_localities = 1 + (uint32_t)seed % 3,
                              .options = {.stall_after = 1000000}};
        run(&scene, leave);
    }
}

/* All sites give the parent back at once. Other calls in flight there still end. */
static cohort_status leave_at_once(cohort_comm *world, void *arg)
{
    const struct scene *scene = arg;
    cohort_comm *child = NULL, *mine = NULL;
    cohort_comm_options options = {.num_sites = scene->num_sites,
                                   .this_site = cohort_comm_this_site(world)};
    CHECK_OK(cohort_await(cluster_create_comm(scene->cluster, &mine, "mine", &options)));
    cohort_future *made = cohort_comm_dup(&child, mine, 1);
    cohort_comm_unref(mine);
    CHECK_OK(cohort_await(made));
    CHECK_OK(cohort_await(cohort_barrier(child, 1)));
    cohort_comm_unref(child);
    return COHORT_OK;
}

TEST(leave_at_once)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct scene scene = {.seed = seed, .num_sites = 9, .num_localities = 3};
        run(&scene, leave_at_once);
    }
}

/* Death --------------------------------------------------------------------------------------- */

enum { VICTIM = 2 };

/* Locality 2 is disconnected during the split. All sites get an error that names a locality, except
 * those whose communicator is complete. */
static cohort_status die(cohort_comm *world, void *arg)
{
    struct scene *scene = arg;
    uint32_t me = cohort_comm_this_site(world);
    cohort_comm *child = NULL;
    wait_for_all(scene, 1);
    cohort_future *made = cohort_comm_split(&child, world, (int32_t)(me % 2), 0, 1);
    /* Now, or when the victim's part of the parent's collective is over, so that it joins. */
    YIELD_WHILE(me == VICTIM && scene->seed % 2 && atomic_load(&world->refs) > 1);
    for (uint64_t turns = scene->seed % 7; turns > 0; turns--)
        cohort_yield();
    if (me == VICTIM) {
        cluster_kill(scene->cluster, VICTIM);
        for (uint32_t peer = 0, order = 1; peer < scene->num_localities; peer++) {
            if (peer == VICTIM)
                continue;
            cluster_tell_death(scene->cluster, VICTIM, peer, order++, "is out of reach");
            cluster_tell_death(scene->cluster, peer, VICTIM, 1, "was killed"); /* by the launcher */
        }
    }
    cohort_status status = cohort_await(made);
    if (status) {
        CHECK_FAILS(status, COHORT_ERR_PEER_DIED, "locality ");
    }
    wait_for_all(scene, 2); /* a site that leaves would be another error */
    cohort_comm_unref(child);
    return COHORT_OK;
}

TEST(death)
{
    for (uint64_t seed = 1; seed <= 40 && !cluster_is_shared(); seed++) {
        struct scene scene = {.seed = seed,
                              .num_sites = 9,
                              .num_localities = 4,
                              .options = {.stall_after = 100000000}};
        CHECK_OK(run_in(&scene, die));
        cluster_abandon(scene.cluster);
    }
}
