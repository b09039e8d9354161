/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* Agreement in front of collectives: each kind of disagreement, at the root and at another site.
 * All sites get the same error, no data has moved, and the communicator can be used afterwards. */

enum { MAX_SITES = 17, COUNT = 2, RUBBISH = 0xee };

enum mistake {
    NONE,
    TYPE,           /* a double where the others have int32 */
    USER_TYPE,      /* a user's type of the same size as the others' type */
    WRONG_ROLE,     /* the root calls what others call, or the reverse */
    NO_BUFFER,      /* no buffer, although there are elements to put there */
    NO_TYPE,        /* a number that is not a type */
    USER_AND_TYPE,  /* a user's type at this site, a double at the next one */
    USER_AND_WRONG, /* no buffer at this site, a user's type at the next one */
    NUM_MISTAKES
};

enum variant { GATHER, SCATTER, GATHERV, SCATTERV, CHECK_ALONE, NUM_VARIANTS };

struct scene {
    enum variant variant;
    enum mistake mistake;
    uint32_t culprit;
    bool in_place; /* at the root, where that is allowed */
};

/* The arguments of one site. */
struct arguments {
    cohort_datatype datatype;
    bool is_wrong_role;
    bool has_no_buffer;
};

static struct arguments arguments_of(const struct scene *scene, uint32_t me, uint32_t num_sites)
{
    struct arguments given = {.datatype = COHORT_INT32};
    bool is_next = me == (scene->culprit + 1) % num_sites;
    enum mistake mistake = scene->mistake;
    if (me == scene->culprit) {
        given.is_wrong_role = mistake == WRONG_ROLE;
        given.has_no_buffer = mistake == NO_BUFFER || mistake == USER_AND_WRONG;
        if (mistake == TYPE)
            given.datatype = COHORT_DOUBLE;
        else if (mistake == USER_TYPE || mistake == USER_AND_TYPE)
            given.datatype = cohort_datatype_of_bytes(sizeof(int32_t));
        else if (mistake == NO_TYPE)
            given.datatype = 999;
    } else if (is_next && mistake == USER_AND_TYPE) {
        given.datatype = COHORT_DOUBLE;
    } else if (is_next && mistake == USER_AND_WRONG) {
        given.datatype = cohort_datatype_of_bytes(sizeof(int32_t));
    }
    return given;
}

static bool is_possible(const struct scene *scene, uint32_t num_sites)
{
    if (num_sites == 1 && (scene->mistake == TYPE || scene->mistake == USER_AND_TYPE ||
                           scene->mistake == USER_AND_WRONG))
        return false;
    return scene->variant != CHECK_ALONE ||
           (scene->mistake != WRONG_ROLE && scene->mistake != NO_BUFFER &&
            scene->mistake != USER_AND_WRONG);
}

static cohort_status expected(enum mistake mistake)
{
    return mistake == NONE                                    ? COHORT_OK
           : mistake == USER_TYPE || mistake == USER_AND_TYPE ? COHORT_ERR_NOT_SUPPORTED
                                                              : COHORT_ERR_BAD_PARAMETER;
}

/* Large enough for any type and any root. */
struct buffers {
    int64_t in[MAX_SITES * COUNT];
    int64_t out[MAX_SITES * COUNT];
};

static cohort_future *call(cohort_comm *comm, const struct scene *scene, struct buffers *buffers,
                           uint64_t generation)
{
    static const size_t counts[MAX_SITES] = {COUNT, COUNT, COUNT, COUNT, COUNT, COUNT,
                                             COUNT, COUNT, COUNT, COUNT, COUNT, COUNT,
                                             COUNT, COUNT, COUNT, COUNT, COUNT};
    uint32_t me = cohort_comm_this_site(comm);
    struct arguments given = arguments_of(scene, me, cohort_comm_num_sites(comm));
    bool is_root = (me == cohort_comm_root_site(comm)) != given.is_wrong_role;
    bool in_place = scene->in_place && scene->mistake != NO_BUFFER;
    const void *in = given.has_no_buffer ? NULL : buffers->in;
    void *out = given.has_no_buffer ? NULL : buffers->out;
    cohort_datatype type = given.datatype;
    const void *root_in = in_place ? COHORT_IN_PLACE : in;
    void *root_out = in_place ? (void *)COHORT_IN_PLACE : out;
    switch (scene->variant) {
    case GATHER:
        return is_root ? cohort_gather_here(comm, root_in, out, COUNT, type, generation)
                       : cohort_gather_there(comm, in, COUNT, type, generation);
    case SCATTER:
        return is_root ? cohort_scatter_to(comm, in, root_out, COUNT, type, generation)
                       : cohort_scatter_from(comm, out, COUNT, type, generation);
    case GATHERV:
        return is_root
                   ? cohort_gatherv_here(comm, root_in, COUNT, out, counts, NULL, type, generation)
                   : cohort_gatherv_there(comm, in, COUNT, type, generation);
    case SCATTERV:
        return is_root
                   ? cohort_scatterv_to(comm, in, counts, NULL, root_out, COUNT, type, generation)
                   : cohort_scatterv_from(comm, out, COUNT, type, generation);
    default:
        return cohort_check_rooted(comm, type, generation);
    }
}

static void check_text(const struct scene *scene, uint32_t me, uint32_t num_sites)
{
    const char *text = cohort_error_message();
    struct arguments given = arguments_of(scene, me, num_sites);
    char site[32];
    snprintf(site, sizeof(site), "site %u", me);
    CHECK_CONTAINS(text, site); /* every site's message names that site itself */
    if (given.is_wrong_role) {
        CHECK_CONTAINS(text, me == scene->culprit ? "call" : "");
        CHECK(strstr(text, "only the root calls this") ||
              strstr(text, "all call this but the root"));
    } else if (given.has_no_buffer) {
        CHECK(strstr(text, "no input buffer") || strstr(text, "no output buffer"));
    } else if (given.datatype == 999) {
        CHECK_CONTAINS(text, "999 is no datatype");
    } else {
        char mine[64];
        snprintf(mine, sizeof(mine), "this site %s", cohort_datatype_name(given.datatype));
        CHECK_CONTAINS(text, mine);
        CHECK_CONTAINS(text, scene->mistake == TYPE ? "different types: from int32 to double"
                             : scene->mistake == USER_TYPE || scene->mistake == USER_AND_TYPE
                                 ? "user types can't be compared: from "
                                 : "the call of a site is wrong");
        if (num_sites > 1 && scene->mistake == USER_TYPE)
            CHECK_CONTAINS(text, "from int32 to a user type");
    }
}

/* Plays the scene, and then a call without mistakes. */
static void play(cohort_comm *comm, const struct scene *scene, uint64_t *generation)
{
    uint32_t me = cohort_comm_this_site(comm), num_sites = cohort_comm_num_sites(comm);
    struct buffers *buffers = malloc(sizeof(*buffers)); /* too large for a task's stack */
    CHECK(buffers);
    memset(buffers->in, 7, sizeof(buffers->in));
    memset(buffers->out, RUBBISH, sizeof(buffers->out));
    cohort_status status = cohort_await(call(comm, scene, buffers, ++*generation));
    if (status != expected(scene->mistake))
        FAIL("%u sites, variant %d, mistake %d at site %u: site %u gets %s: %s", num_sites,
             scene->variant, scene->mistake, scene->culprit, me, cohort_status_name(status),
             cohort_error_message());
    if (status) {
        check_text(scene, me, num_sites);
        for (size_t i = 0; i < sizeof(buffers->out); i++)
            CHECK_INT(((unsigned char *)buffers->out)[i], RUBBISH);
    }
    free(buffers);
}

static cohort_status check_usable(cohort_comm *comm, enum exercise_kind kind, uint64_t *generation)
{
    struct exercise exercise;
    exercise_begin_with(&exercise, comm, kind, 3, ++*generation, (struct exercise_options){0});
    return exercise_end(&exercise);
}

static cohort_status every_mistake(cohort_comm *comm, void *arg)
{
    uint32_t num_sites = cohort_comm_num_sites(comm), root = cohort_comm_root_site(comm);
    const uint32_t culprits[] = {root, (root + 1) % num_sites, (root + num_sites - 1) % num_sites,
                                 (root + num_sites / 2) % num_sites};
    uint64_t generation = 0;
    cohort_status status = COHORT_OK;
    for (unsigned mistake = NONE; !status && mistake < NUM_MISTAKES; mistake++)
        for (unsigned variant = 0; !status && variant < NUM_VARIANTS; variant++)
            for (unsigned i = 0; !status && i < 4; i++) {
                struct scene scene = {(enum variant)variant, (enum mistake)mistake, culprits[i],
                                      i % 2};
                if (!is_possible(&scene, num_sites))
                    continue;
                play(comm, &scene, &generation);
                status = check_usable(comm, variant % 2 ? EXERCISE_SCATTER : EXERCISE_GATHER,
                                      &generation);
            }
    return status;
}

static void run(const char *name, cohort_comm_options options, uint32_t num_localities,
                cohort_status (*site)(cohort_comm *comm, void *arg), void *arg)
{
    struct cluster *cluster = cluster_create(options.num_sites, num_localities, 0);
    options.stall_after = 10000000;
    cohort_status status = cluster_sites(cluster, (struct sites){
                                                      .name = name,
                                                      .options = options,
                                                      .run = site,
                                                      .arg = arg,
                                                  });
    if (status)
        FAIL("%s: %u sites in %u localities: %s", name, options.num_sites, num_localities,
             cohort_error_message());
    cluster_destroy(cluster);
}

static void test_every_mistake(uint32_t threshold, bool one_locality)
{
    for (uint32_t num_sites = 1; num_sites <= MAX_SITES; num_sites++)
        run("mistakes",
            (cohort_comm_options){.num_sites = num_sites,
                                  .root_site = num_sites * 3 / 5 % num_sites,
                                  .arity = 2 + num_sites % 3,
                                  .flat_fallback_threshold = threshold,
                                  .check_asymmetric = true},
            one_locality ? 1 : 2 + num_sites % 4, every_mistake, NULL);
}

TEST_CALL(flat_tasks, test_every_mistake(1024, true))
TEST_CALL(tree_tasks, test_every_mistake(COHORT_FORCE_TREE, true))
TEST_CALL(flat_localities, test_every_mistake(1024, false))
TEST_CALL(tree_localities, test_every_mistake(COHORT_FORCE_TREE, false))

/* Asked for in other ways ---------------------------------------------------------------------- */

static cohort_status ask(cohort_comm *comm)
{
    return cohort_comm_next_call(comm, &(cohort_call_options){.check_asymmetric = true});
}

/* Asked for by a call: for that call only, and for any collective. */
static cohort_status by_call(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm);
    uint64_t generation = 0;
    int64_t in[MAX_SITES] = {0}, out[MAX_SITES] = {0};
    for (int kind = 0; kind < EXERCISE_NUM_KINDS; kind++) {
        struct exercise exercise;
        if (kind == EXERCISE_REDUCE_ORDERED || kind == EXERCISE_ALL_REDUCE_ORDERED)
            continue; /* a user's type */
        CHECK_OK(ask(comm));
        exercise_begin_with(&exercise, comm, (enum exercise_kind)kind, 3, ++generation,
                            (struct exercise_options){.in_place = kind % 2});
        CHECK_OK(exercise_end(&exercise));
        cohort_datatype type = me == 1 ? COHORT_DOUBLE : COHORT_INT64;
        CHECK_OK(ask(comm));
        CHECK_FAILS(
            cohort_await(cohort_all_reduce(comm, in, out, 1, type, COHORT_SUM, ++generation)),
            COHORT_ERR_BAD_PARAMETER, "from int64 to double");
        type = cohort_datatype_of_bytes(sizeof(int64_t));
        CHECK_OK(ask(comm));
        CHECK_FAILS(cohort_await(cohort_all_gather(comm, in, out, 1, type, ++generation)),
                    COHORT_ERR_NOT_SUPPORTED, "user types can't be compared");
        CHECK_OK(ask(comm));
        CHECK_INT(cohort_await(cohort_all_to_all(comm, me == 1 ? NULL : in, out, 1, COHORT_INT64,
                                                 ++generation)),
                  COHORT_ERR_BAD_PARAMETER);
        /* The next call has no agreement. */
        type = me == 1 ? COHORT_DOUBLE : COHORT_INT64;
        CHECK_INT(cohort_await(cohort_all_reduce(comm, in, out, 1, type, COHORT_SUM, ++generation)),
                  COHORT_ERR_MISMATCH);
    }
    return COHORT_OK;
}

TEST(by_call)
{
    for (uint32_t num_sites = 2; num_sites <= 9; num_sites++)
        for (uint32_t tree = 0; tree < 2; tree++)
            run("by call",
                (cohort_comm_options){.num_sites = num_sites,
                                      .arity = 2,
                                      .flat_fallback_threshold = tree ? COHORT_FORCE_TREE : 1024},
                1 + num_sites % 3, by_call, NULL);
}

/* Asked for by the environment: for gather and scatter, not for other collectives. */
static cohort_status by_environment(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm), num_sites = cohort_comm_num_sites(comm);
    uint64_t generation = 0;
    for (unsigned variant = 0; variant < CHECK_ALONE; variant++)
        play(comm, &(struct scene){(enum variant)variant, TYPE, num_sites - 1, false}, &generation);
    int64_t in = 0, out;
    cohort_datatype type = me == 1 ? COHORT_DOUBLE : COHORT_INT64;
    CHECK_INT(cohort_await(cohort_all_reduce(comm, &in, &out, 1, type, COHORT_SUM, ++generation)),
              COHORT_ERR_MISMATCH);
    return check_usable(comm, EXERCISE_GATHER, &generation);
}

TEST(by_environment)
{
    setenv("COHORT_CHECK_ASYMMETRIC", "1", 1);
    run("by environment", (cohort_comm_options){.num_sites = 5}, 3, by_environment, NULL);
    setenv("COHORT_CHECK_ASYMMETRIC", "", 1);
}

static const size_t large = 100000; /* elements: announced, lent and reduced by works */

static cohort_status large_blocks(cohort_comm *comm, void *arg)
{
    cohort_status status = COHORT_OK;
    for (uint64_t generation = 1; !status && generation <= 6; generation++) {
        struct exercise exercise;
        exercise_begin_with(&exercise, comm, generation % 2 ? EXERCISE_GATHER : EXERCISE_SCATTER,
                            large, generation,
                            (struct exercise_options){.in_place = generation % 3 == 0});
        status = exercise_end(&exercise);
    }
    return status;
}

TEST(large)
{
    for (uint32_t tree = 0; tree < 2; tree++)
        run("large",
            (cohort_comm_options){.num_sites = 6,
                                  .root_site = 2,
                                  .arity = 2,
                                  .flat_fallback_threshold = tree ? COHORT_FORCE_TREE : 1024,
                                  .check_asymmetric = true},
            3, large_blocks, NULL);
}

/* Calls all generations at the same time. */
static cohort_status many_at_once(cohort_comm *comm, void *arg)
{
    enum { NUM = 100 };
    static int64_t in;
    uint32_t me = cohort_comm_this_site(comm);
    cohort_future *futures[NUM];
    int64_t *out = test_calloc(NUM * MAX_SITES, sizeof(*out));
    for (uint32_t i = 0; i < NUM; i++) {
        cohort_datatype type = i % 3 == 0 && me == i % 5 ? COHORT_DOUBLE : COHORT_INT64;
        futures[i] = me == 0 ? cohort_gather_here(comm, &in, out + i * MAX_SITES, 1, type, i + 1)
                             : cohort_gather_there(comm, &in, 1, type, i + 1);
    }
    for (uint32_t i = 0; i < NUM; i++)
        CHECK_INT(cohort_await(futures[i]), i % 3 == 0 ? COHORT_ERR_BAD_PARAMETER : COHORT_OK);
    free(out);
    return COHORT_OK;
}

TEST(many_at_once)
{
    for (uint32_t tree = 0; tree < 2; tree++)
        run("many at once",
            (cohort_comm_options){.num_sites = 7,
                                  .arity = 2,
                                  .flat_fallback_threshold = tree ? COHORT_FORCE_TREE : 1024,
                                  .check_asymmetric = true},
            3, many_at_once, NULL);
}

/* What it costs ---------------------------------------------------------------------------------
 */

enum { NUM_CALLS = 5 };

/* What some_gathers costs. It is counted while all sites have the communicator: what its end costs
 * is not told in time by all localities. */
struct cost {
    struct cluster *cluster;
    _Atomic uint32_t num_over; /* sites whose calls are over */
    _Atomic bool is_counted;
    uint64_t num_messages;
};

/* The barriers prevent early messages, whose budget would be given back by a separate message. */
static cohort_status some_gathers(cohort_comm *comm, void *arg)
{
    struct cost *cost = arg;
    cohort_status status = COHORT_OK;
    uint64_t generation = 0;
    for (int i = 0; !status && i < NUM_CALLS; i++) {
        status = check_usable(comm, EXERCISE_GATHER, &generation);
        if (!status)
            status = check_usable(comm, EXERCISE_BARRIER, &generation);
    }
    if (atomic_fetch_add(&cost->num_over, 1) + 1 == cohort_comm_num_sites(comm)) {
        cost->num_messages = cluster_num_sent(cost->cluster);
        atomic_store(&cost->is_counted, true);
    }
    YIELD_WHILE(!atomic_load(&cost->is_counted));
    return status;
}

static uint64_t count_messages(cohort_comm_options options)
{
    struct cost cost = {.cluster = cluster_create(0, options.num_sites, 0)};
    CHECK_OK(cluster_sites(cost.cluster, (struct sites){
                                             .name = "cost",
                                             .options = options,
                                             .run = some_gathers,
                                             .arg = &cost,
                                         }));
    cluster_destroy(cost.cluster);
    return cost.num_messages;
}

/* Two messages for each site but one, with the linear row and with the tree. */
TEST(messages)
{
    for (uint32_t num_sites = 1; num_sites <= 9; num_sites++)
        for (uint32_t tree = 0; tree < 2; tree++) {
            cohort_comm_options options = {
                .num_sites = num_sites,
                .arity = 2,
                .flat_fallback_threshold = tree ? COHORT_FORCE_TREE : 1024,
                .algorithms = tree ? "all_reduce=hierarchical" : "all_reduce=linear",
                .stall_after = UINT64_C(3600000000000), /* no roll-call, however slow we are */
            };
            uint64_t without = count_messages(options);
            options.check_asymmetric = true;
            CHECK_INT(count_messages(options) - without, NUM_CALLS * 2 * (num_sites - 1));
        }
}

/* What goes wrong besides -----------------------------------------------------------------------
 */

/* One site checks and the others don't, or the reverse. The message names that site, wherever the
 * difference is noticed. */
static cohort_status one_sided(cohort_comm *comm, void *arg)
{
    const uint32_t *odd = arg; /* odd[0]: the site; odd[1]: whether it is the one that checks */
    uint32_t me = cohort_comm_this_site(comm);
    bool checks = (me == odd[0]) == odd[1];
    uint64_t generation = 0;
    for (unsigned variant = GATHER; variant <= SCATTERV; variant++) {
        struct buffers *buffers = test_calloc(1, sizeof(*buffers));
        if (checks)
            CHECK_OK(ask(comm));
        cohort_status status = cohort_await(
            call(comm, &(struct scene){.variant = (enum variant)variant}, buffers, ++generation));
        CHECK(!checks || status == COHORT_ERR_MISMATCH);
        CHECK(!status || status == COHORT_ERR_MISMATCH);
        if (status)
            CHECK_CONTAINS(cohort_error_message(), ", checked");
        free(buffers);
    }
    return check_usable(comm, EXERCISE_ALL_TO_ALL, &generation);
}

TEST(one_sided)
{
    for (uint32_t num_sites = 2; num_sites <= 5; num_sites++)
        for (uint32_t site = 0; site < num_sites; site += 1 + num_sites / 4)
            for (uint32_t i = 0; i < 4; i++)
                run("one-sided",
                    (cohort_comm_options){.num_sites = num_sites,
                                          .arity = 2,
                                          .root_site = 1,
                                          .flat_fallback_threshold =
                                              i % 2 ? COHORT_FORCE_TREE : 1024},
                    1 + site % 3, one_sided, (uint32_t[]){site, i / 2});
}

/* A gather against a scatter, and a gatherv against a gather. The types are the same. */
static cohort_status other_collective(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm);
    struct buffers *buffers = test_calloc(1, sizeof(*buffers));
    uint64_t generation = 0;
    for (unsigned variant = SCATTER; variant <= CHECK_ALONE; variant++) {
        struct scene scene = {.variant = me == 2 ? GATHER : (enum variant)variant};
        CHECK_FAILS(cohort_await(call(comm, &scene, buffers, ++generation)), COHORT_ERR_MISMATCH,
                    "site 2 called gather");
    }
    free(buffers);
    return check_usable(comm, EXERCISE_GATHER, &generation);
}

TEST(other_collective)
{
    for (uint32_t tree = 0; tree < 2; tree++)
        run("other collective",
            (cohort_comm_options){.num_sites = 5,
                                  .arity = 2,
                                  .flat_fallback_threshold = tree ? COHORT_FORCE_TREE : 1024,
                                  .check_asymmetric = true},
            2, other_collective, NULL);
}

/* Sites don't agree on counts beforehand. The fingerprint shows different counts afterwards. */
static cohort_status other_count(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm), root = cohort_comm_root_site(comm);
    int64_t in[2] = {0}, out[2 * MAX_SITES];
    size_t count = me == 3 ? 2 : 1;
    cohort_status status =
        cohort_await(me == root ? cohort_gather_here(comm, in, out, count, COHORT_INT64, 1)
                                : cohort_gather_there(comm, in, count, COHORT_INT64, 1));
    CHECK(status == COHORT_ERR_MISMATCH || (!status && me != root));
    uint64_t generation = 1;
    return check_usable(comm, EXERCISE_GATHER, &generation);
}

TEST(other_count)
{
    for (uint32_t root = 0; root < 5; root++)
        run("other count",
            (cohort_comm_options){.num_sites = 5, .root_site = root, .check_asymmetric = true}, 2,
            other_count, NULL);
}

/* The agreement itself fails: a site leaves instead of calling. */
static cohort_status one_leaves(cohort_comm *comm, void *arg)
{
    const uint32_t *leaver = arg;
    uint32_t me = cohort_comm_this_site(comm);
    struct buffers *buffers = test_malloc(sizeof(*buffers));
    memset(buffers, RUBBISH, sizeof(*buffers));
    if (me != *leaver) {
        CHECK_INT(cohort_await(call(comm, &(struct scene){.variant = SCATTER}, buffers, 1)),
                  COHORT_ERR_GONE);
        CHECK_INT(buffers->out[0], (int64_t)0xeeeeeeeeeeeeeeee);
    }
    free(buffers);
    return COHORT_OK;
}

TEST(one_leaves)
{
    for (uint32_t num_sites = 2; num_sites <= 7; num_sites++)
        for (uint32_t leaver = 0; leaver < num_sites; leaver += 2)
            for (uint32_t tree = 0; tree < 2; tree++)
                run("one leaves",
                    (cohort_comm_options){.num_sites = num_sites,
                                          .arity = 2,
                                          .root_site = num_sites - 1,
                                          .flat_fallback_threshold =
                                              tree ? COHORT_FORCE_TREE : 1024,
                                          .check_asymmetric = true},
                    1 + leaver % 3, one_leaves, &leaver);
}

/* A locality dies while the others wait for the agreement of its sites. */
struct death {
    struct cluster *cluster;
    uint32_t num_waiting;
};

static cohort_status one_dies(cohort_comm *comm, void *arg)
{
    struct death *death = arg;
    uint32_t me = cohort_comm_this_site(comm), num_sites = cohort_comm_num_sites(comm);
    struct buffers *buffers = test_malloc(sizeof(*buffers));
    memset(buffers, RUBBISH, sizeof(*buffers));
    if (me == 1) {
        YIELD_WHILE(death->num_waiting < num_sites - 1);
        cluster_kill(death->cluster, 1);
    } else {
        cohort_future *future = call(comm, &(struct scene){.variant = GATHER}, buffers, 1);
        death->num_waiting++;
        CHECK_INT(cohort_await(future), COHORT_ERR_PEER_DIED);
        CHECK_INT(buffers->out[0], (int64_t)0xeeeeeeeeeeeeeeee);
    }
    free(buffers);
    return COHORT_OK;
}

TEST(one_dies)
{
    for (uint32_t num_sites = 2; num_sites <= 7; num_sites++)
        for (uint32_t tree = 0; tree < 2; tree++) {
            struct death death = {.cluster = cluster_create(num_sites, num_sites, 0)};
            cohort_status status = cluster_sites(
                death.cluster,
                (struct sites){
                    .name = "one dies",
                    .options = {.num_sites = num_sites,
                                .arity = 2,
                                .flat_fallback_threshold = tree ? COHORT_FORCE_TREE : 1024,
                                .check_asymmetric = true},
                    .run = one_dies,
                    .arg = &death,
                });
            CHECK_OK(status);
            cluster_abandon(death.cluster);
        }
}
