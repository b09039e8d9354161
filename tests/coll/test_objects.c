/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cohort/call.h"
#include "cohort/collectives.h"
#include "cohort/objects.h"
#include "cohort/task.h"
#include "collectives/algo/algorithm.h"
#include "runtime/base/hash.h"
#include "collectives/comm/endpoint.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Collectives of objects whose sizes only their owners know. */

/* Objects ------------------------------------------------------------------------------------- */

/* The name of an object tells which site gives it to which site, and in which call. */
static uint64_t name_of(uint64_t generation, uint32_t from, uint32_t to)
{
    return cohort__hash_mix(cohort__hash_mix(generation, from), to);
}

/* Mostly few bytes or none, sometimes up to 100 KiB. */
static size_t size_of(uint64_t name)
{
    uint64_t draw = cohort__hash_u64(name);
    return draw % 16 == 0 ? (draw >> 8) % 102401 : draw % 5 == 0 ? 0 : (draw >> 8) % 200;
}

static unsigned char content(uint64_t name, size_t place)
{
    return (unsigned char)(name + place * 31 + (place >> 8));
}

static void fill(cohort_object *object, uint64_t name)
{
    object->bytes = size_of(name);
    object->data = object->bytes > 0 ? malloc(object->bytes) : NULL;
    CHECK(object->data || object->bytes == 0);
    for (size_t i = 0; i < object->bytes; i++)
        ((unsigned char *)object->data)[i] = content(name, i);
}

/* Also writes to the object: no other site may have the same memory. */
static void check(const cohort_object *object, uint64_t name)
{
    unsigned char *data = object->data;
    CHECK_INT((long long)object->bytes, (long long)size_of(name));
    for (size_t i = 0; i < object->bytes; i++) {
        if (data[i] != content(name, i))
            FAIL("an object of %zu bytes differs at %zu", object->bytes, i);
        data[i] = 0;
    }
}

/* Every algorithm ------------------------------------------------------------------------------ */

struct call {
    cohort_comm *comm;
    uint32_t me, num, root;
    uint64_t generation;
    cohort_object *in, *out; /* num of each */
};

/* Whether a site gives, or gets, several objects. */
static bool gives_many(enum cohort__collective collective)
{
    return collective == COHORT__SCATTER || collective == COHORT__ALL_TO_ALL;
}

static cohort_future *begin(const struct call *call, enum cohort__collective collective)
{
    cohort_comm *comm = call->comm;
    bool is_root = call->me == call->root;
    switch (collective) {
    case COHORT__GATHER:
        return is_root ? cohort_gather_objects_here(comm, call->in, call->out, call->generation)
                       : cohort_gather_objects_there(comm, call->in, call->generation);
    case COHORT__SCATTER:
        return is_root ? cohort_scatter_objects_to(comm, call->in, call->out, call->generation)
                       : cohort_scatter_objects_from(comm, call->out, call->generation);
    case COHORT__BROADCAST:
        return is_root ? cohort_broadcast_object_to(comm, call->in, call->generation)
                       : cohort_broadcast_object_from(comm, call->out, call->generation);
    case COHORT__ALL_GATHER:
        return cohort_all_gather_objects(comm, call->in, call->out, call->generation);
    default:
        return cohort_all_to_all_objects(comm, call->in, call->out, call->generation);
    }
}

static void fill_in(const struct call *call, enum cohort__collective collective)
{
    for (uint32_t to = 0; to < (gives_many(collective) ? call->num : 1); to++)
        fill(&call->in[to], name_of(call->generation, call->me, to));
}

static void check_out(const struct call *call, enum cohort__collective collective)
{
    uint64_t generation = call->generation;
    bool is_root = call->me == call->root;
    bool gets_all = collective == COHORT__ALL_GATHER || collective == COHORT__ALL_TO_ALL ||
                    (collective == COHORT__GATHER && is_root);
    for (uint32_t from = 0; gets_all && from < call->num; from++)
        check(&call->out[from],
              name_of(generation, from, collective == COHORT__ALL_TO_ALL ? call->me : 0));
    if (collective == COHORT__SCATTER)
        check(call->out, name_of(generation, call->root, call->me));
    if (collective == COHORT__BROADCAST && !is_root)
        check(call->out, name_of(generation, call->root, 0));
}

static void call_one(struct call *call, const struct cohort__algorithm *algorithm)
{
    enum cohort__collective collective = algorithm->collective;
    bool rooted = cohort__collective_is_rooted(collective);
    call->generation++;
    CHECK_OK(cohort_comm_next_call(
        call->comm, &(cohort_call_options){.algorithm = algorithm->name,
                                           .check_asymmetric = call->generation % 3 == 0,
                                           .root_site = rooted ? &call->root : NULL}));
    fill_in(call, collective);
    cohort_status status = cohort_await(begin(call, collective));
    if (status)
        FAIL("%s %s, %u sites: %s", cohort__collective_name(collective), algorithm->name, call->num,
             cohort_error_message());
    check_out(call, collective);
    cohort_objects_fini(call->in, call->num);
    cohort_objects_fini(call->out, call->num);
}

static bool is_possible(const struct call *call, const struct cohort__algorithm *algorithm)
{
    struct cohort__request request = {.collective = algorithm->collective,
                                      .num_sites = call->num,
                                      .root = call->root,
                                      .arity = cohort_comm_arity(call->comm),
                                      .bytes = 1,
                                      .commutative = true,
                                      .can_meet = call->comm->group->is_whole,
                                      .machine = call->comm->group->machine};
    bool of_objects =
        algorithm->collective == COHORT__GATHER || algorithm->collective == COHORT__SCATTER ||
        algorithm->collective == COHORT__BROADCAST || algorithm->collective == COHORT__ALL_GATHER ||
        algorithm->collective == COHORT__ALL_TO_ALL;
    return of_objects && !cohort__algorithm_refuses(algorithm, &request);
}

static void call_create(struct call *call, cohort_comm *comm)
{
    *call = (struct call){
        .comm = comm, .me = cohort_comm_this_site(comm), .num = cohort_comm_num_sites(comm)};
    call->in = test_calloc(call->num, sizeof(cohort_object));
    call->out = test_calloc(call->num, sizeof(cohort_object));
}

static void call_destroy(struct call *call)
{
    free(call->in);
    free(call->out);
}

static cohort_status every_algorithm(cohort_comm *comm, void *arg)
{
    struct call call;
    call_create(&call, comm);
    for (uint32_t row = 0; row < cohort__num_algorithms; row++) {
        const struct cohort__algorithm *algorithm = cohort__algorithms[row];
        call.root = row % call.num;
        if (is_possible(&call, algorithm))
            call_one(&call, algorithm);
    }
    call_destroy(&call);
    return COHORT_OK;
}

static void run(uint64_t seed, uint32_t num_localities, uint32_t num_sites, size_t budget,
                cohort_status (*site)(cohort_comm *comm, void *arg))
{
    cluster_run(seed, num_localities, budget,
                (struct sites){.name = "objects",
                               .options = {.num_sites = num_sites, .arity = 3},
                               .run = site});
}

TEST(every_algorithm)
{
    for (uint32_t num_sites = 1; num_sites <= 17; num_sites++) {
        run(num_sites, 1, num_sites, 0, every_algorithm);
        run(num_sites, 1 + num_sites % 4, num_sites, num_sites % 2 ? 0 : 2000, every_algorithm);
    }
}

/* Without a forced algorithm: many calls at once, and then the same again. */
static cohort_status many_at_once(cohort_comm *comm, void *arg)
{
    enum { NUM = 20 };
    struct call calls[NUM];
    cohort_future *done[NUM];
    for (int i = 0; i < NUM; i++) {
        call_create(&calls[i], comm);
        calls[i].generation = (uint64_t)i + 1;
        fill_in(&calls[i], i % 2 ? COHORT__ALL_TO_ALL : COHORT__ALL_GATHER);
        done[i] = begin(&calls[i], i % 2 ? COHORT__ALL_TO_ALL : COHORT__ALL_GATHER);
    }
    for (int i = 0; i < NUM; i++) {
        CHECK_OK(cohort_await(done[i]));
        check_out(&calls[i], i % 2 ? COHORT__ALL_TO_ALL : COHORT__ALL_GATHER);
        cohort_objects_fini(calls[i].in, calls[i].num);
        cohort_objects_fini(calls[i].out, calls[i].num);
        call_destroy(&calls[i]);
    }
    return COHORT_OK;
}

TEST(many_at_once)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        run(seed, 3, 7, 4096, many_at_once);
        run(seed, 2, 18, 0, many_at_once);
    }
}

/* Errors -------------------------------------------------------------------------------------- */

/* One site calls with objects, the other with bytes. Both are told what the other one called, and
 * OUT stays empty. */
static cohort_status against_bytes(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm);
    unsigned char bytes[2], all[4];
    cohort_object in = {bytes, 2}, out[2] = {{all, 4}, {all, 4}};
    cohort_status status =
        cohort_await(me == 0 ? cohort_all_gather_objects(comm, &in, out, 1)
                             : cohort_all_gather(comm, bytes, all, 1, COHORT_UINT8, 1));
    CHECK_FAILS(status, COHORT_ERR_MISMATCH, "site 0 called all_gather of objects");
    CHECK_CONTAINS(cohort_error_message(), "site 1 called all_gather (");
    if (me == 0)
        CHECK(!out[0].data && !out[1].data && out[0].bytes == 0 && out[1].bytes == 0);
    return COHORT_OK;
}

/* A call that is wrong at one site fails at all sites that need it. The next call works. */
static cohort_status wrong_object(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm);
    cohort_object in = {me == 1 ? NULL : "abc", me == 1 ? 1 : 3}, out[3] = {{0}};
    CHECK_FAILS(cohort_await(cohort_all_gather_objects(comm, &in, out, 1)),
                COHORT_ERR_BAD_PARAMETER, "object 0 of IN has 1 bytes, but no data");
    CHECK_CONTAINS(cohort_error_message(), "site 1");
    CHECK(!out[0].data && !out[1].data && !out[2].data);
    in = (cohort_object){"abc", me == 2 ? SIZE_MAX : 3};
    CHECK_FAILS(cohort_await(cohort_all_gather_objects(comm, &in, out, 2)),
                COHORT_ERR_BAD_PARAMETER, "bytes, which are more than memory");
    CHECK_CONTAINS(cohort_error_message(), "site 2");
    out[1] = in = (cohort_object){"abc", 3};
    CHECK_FAILS(cohort_await(cohort_all_gather_objects(comm, &out[1], out, 3)),
                COHORT_ERR_BAD_PARAMETER, "overlap");
    CHECK_TEXT(out[1].data, "abc"); /* it is IN */
    CHECK_OK(cohort_await(cohort_all_gather_objects(comm, &in, out, 4)));
    CHECK_INT((long long)out[1].bytes, 3);
    cohort_objects_fini(out, 3);
    return COHORT_OK;
}

/* With an agreement in front all sites are told before data moves. */
static cohort_status wrong_and_checked(cohort_comm *comm, void *arg)
{
    bool is_root = cohort_comm_this_site(comm) == 0;
    cohort_object in[4] = {{"abc", 3}, {"de", 2}, {NULL, 7}, {"", 0}}, out = {0};
    for (uint64_t generation = 1; generation <= 2; generation++) {
        if (generation == 2)
            in[2].data = "fghijkl";
        CHECK_OK(cohort_comm_next_call(comm, &(cohort_call_options){.check_asymmetric = true}));
        cohort_status status =
            cohort_await(is_root ? cohort_scatter_objects_to(comm, in, &out, generation)
                                 : cohort_scatter_objects_from(comm, &out, generation));
        CHECK_INT(status, generation == 1 ? COHORT_ERR_BAD_PARAMETER : COHORT_OK);
    }
    CHECK_INT((long long)out.bytes, (long long)in[cohort_comm_this_site(comm)].bytes);
    cohort_object_fini(&out);
    return COHORT_OK;
}

static cohort_status bad_parameters(cohort_comm *comm, void *arg)
{
    cohort_object object = {0}, out[1];
    CHECK_INT(cohort_await(cohort_all_gather_objects(NULL, &object, out, 1)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_all_gather_objects(comm, NULL, out, 1)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_all_gather_objects(comm, &object, NULL, 2)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_all_gather_objects(comm, COHORT_IN_PLACE, out, 3)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_scatter_objects_from(comm, out, 4)), COHORT_ERR_WRONG_ROLE);
    CHECK_INT(cohort_await(cohort_all_gather_objects(comm, &object, out, 4)),
              COHORT_ERR_GENERATION);
    cohort_object_fini(NULL);
    cohort_objects_fini(NULL, 3);
    return COHORT_OK;
}

TEST(errors)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        run(seed, 2, 2, 0, against_bytes);
        run(seed, 1, 2, 0, against_bytes);
        run(seed, 2, 3, 0, wrong_object);
        run(seed, 3, 4, 0, wrong_and_checked);
    }
    run(1, 1, 1, 0, bad_parameters);
}

/* One site releases its endpoint, or dies, during the call. The call ends at every site, with all
 * of the data or none. */
struct ending {
    struct cluster *cluster;
    bool dies;
};

static cohort_status end_meanwhile(const struct ending *ending, cohort_comm **comms, uint32_t num,
                                   uint32_t victim)
{
    struct call calls[4];
    cohort_future *done[4];
    for (uint32_t site = 0; site < num; site++) {
        call_create(&calls[site], comms[site]);
        calls[site].generation = 1;
        fill_in(&calls[site], COHORT__ALL_TO_ALL);
        done[site] = begin(&calls[site], COHORT__ALL_TO_ALL);
        cohort_yield();
    }
    if (ending->dies)
        cluster_kill(ending->cluster, victim);
    cohort_comm_unref(comms[victim]);
    comms[victim] = NULL;
    cohort_status first = COHORT_OK;
    for (uint32_t site = 0; site < num; site++) {
        cohort_status status = cohort_await(done[site]);
        if (!status)
            check_out(&calls[site], COHORT__ALL_TO_ALL);
        for (uint32_t i = 0; status && i < num; i++)
            CHECK(!calls[site].out[i].data && calls[site].out[i].bytes == 0);
        first = first ? first : status;
        cohort_objects_fini(calls[site].in, num);
        cohort_objects_fini(calls[site].out, num);
        call_destroy(&calls[site]);
    }
    return first;
}

static void run_ending(uint64_t seed, uint32_t num_localities, bool dies)
{
    enum { NUM = 4 };
    struct ending ending = {cluster_create(seed, num_localities, 0), dies};
    cohort_comm *comms[NUM];
    cluster_create_comms(ending.cluster, comms, "ending",
                         (cohort_comm_options){.num_sites = NUM, .stall_after = 20000000});
    cohort_status status = end_meanwhile(&ending, comms, NUM, (uint32_t)(seed % num_localities));
    CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED || status == COHORT_ERR_GONE ||
          status == COHORT_ERR_PEER_DIED);
    for (uint32_t site = 0; site < NUM; site++)
        cohort_comm_unref(comms[site]);
    if (dies)
        cluster_abandon(ending.cluster);
    else
        cluster_destroy(ending.cluster);
}

TEST(endings)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        run_ending(seed, 1 + seed % 4, false);
        run_ending(seed, 4, true);
    }
}
