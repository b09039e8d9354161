/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cohort/call.h"
#include "cohort/collectives.h"
#include "cohort/objects.h"
#include "cohort/task.h"
#include "collectives/algo/algorithm.h"
#include "collectives/comm/endpoint.h"
#include "runtime/base/hash.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Sparse exchanges: who has what for whom is drawn, so each site knows what it should get. */

static uint64_t draw(uint64_t generation, uint32_t from, uint32_t to)
{
    return cohort__hash_u64(cohort__hash_mix(cohort__hash_mix(generation, from), to));
}

/* Mostly nothing; of what there is, most is short. Now and then a site has something for all, or
 * nobody has anything. */
static size_t size_of(uint64_t generation, uint32_t from, uint32_t to)
{
    uint64_t name = draw(generation, from, to);
    bool is_for_all = draw(generation, from, UINT32_MAX) % 9 == 0;
    if (generation % 7 == 0 || (name % 5 > 0 && !is_for_all))
        return 0;
    return 1 + (name >> 8) % (name % 40 == 0 ? 100000 : 200);
}

static unsigned char content(uint64_t name, size_t place)
{
    return (unsigned char)(name + place * 31 + (place >> 8));
}

static cohort_object make(uint64_t generation, uint32_t from, uint32_t to)
{
    cohort_object object = {.bytes = size_of(generation, from, to)};
    object.data = object.bytes > 0 ? malloc(object.bytes) : NULL;
    CHECK(object.data || object.bytes == 0);
    for (size_t i = 0; i < object.bytes; i++)
        ((unsigned char *)object.data)[i] = content(draw(generation, from, to), i);
    return object;
}

static bool is_object(const cohort_object *object, uint64_t name)
{
    const unsigned char *data = object->data;
    for (size_t i = 0; i < object->bytes; i++)
        if (data[i] != content(name, i))
            return false;
    return true;
}

/* Begins a call; what it was given is gone when it returns. From the last site to the first. */
static cohort_future *begin(cohort_comm *comm, cohort_site_objects *ret_from, uint64_t generation)
{
    uint32_t me = cohort_comm_this_site(comm), num_sites = cohort_comm_num_sites(comm);
    cohort_site_objects to = {.list = calloc(num_sites, sizeof(*to.list))};
    CHECK(to.list);
    for (uint32_t site = num_sites; site-- > 0;) {
        cohort_object object = make(generation, me, site);
        if (object.bytes > 0 || site % 3 == 0) /* also some of no bytes */
            to.list[to.num++] = (cohort_site_object){site, object};
    }
    cohort_future *future =
        cohort_all_to_all_sparse(comm, to.num ? to.list : NULL, to.num, ret_from, generation);
    for (size_t i = 0; i < to.num; i++)
        if (to.list[i].object.data)
            memset(to.list[i].object.data, 0, to.list[i].object.bytes);
    cohort_site_objects_fini(&to);
    return future;
}

static void check(cohort_comm *comm, cohort_site_objects *from, uint64_t generation)
{
    uint32_t me = cohort_comm_this_site(comm), num_sites = cohort_comm_num_sites(comm);
    size_t next = 0;
    for (uint32_t site = 0; site < num_sites; site++) {
        size_t bytes = size_of(generation, site, me);
        if (bytes == 0)
            continue;
        CHECK(next < from->num);
        CHECK_INT(from->list[next].site, site);
        CHECK_INT((long long)from->list[next].object.bytes, (long long)bytes);
        CHECK(is_object(&from->list[next].object, draw(generation, site, me)));
        next++;
    }
    CHECK_INT((long long)from->num, (long long)next);
    CHECK(from->num > 0 || !from->list);
    cohort_site_objects_fini(from);
}

static bool is_possible(cohort_comm *comm, const struct cohort__algorithm *algorithm)
{
    struct cohort__request request = {.collective = algorithm->collective,
                                      .num_sites = cohort_comm_num_sites(comm),
                                      .arity = cohort_comm_arity(comm),
                                      .bytes = 1,
                                      .commutative = true,
                                      .can_meet = comm->group->is_whole,
                                      .machine = comm->group->machine};
    return algorithm->collective == COHORT__ALL_TO_ALL &&
           !cohort__algorithm_refuses(algorithm, &request);
}

static cohort_status every_algorithm(cohort_comm *comm, void *arg)
{
    uint64_t generation = 0;
    for (uint32_t row = 0; row < cohort__num_algorithms; row++) {
        const struct cohort__algorithm *algorithm = cohort__algorithms[row];
        for (int round = 0; is_possible(comm, algorithm) && round < 2; round++) {
            cohort_site_objects from;
            generation++;
            CHECK_OK(cohort_comm_next_call(
                comm, &(cohort_call_options){.algorithm = algorithm->name,
                                             .check_asymmetric = generation % 3 == 0}));
            if (cohort_await(begin(comm, &from, generation)))
                FAIL("%s: %s", algorithm->name, cohort_error_message());
            check(comm, &from, generation);
        }
    }
    return COHORT_OK;
}

/* All at once, and between calls of objects and of bytes. */
static cohort_status many_at_once(cohort_comm *comm, void *arg)
{
    enum { NUM = 24 };
    cohort_site_objects from[NUM];
    cohort_future *done[NUM], *barriers[NUM];
    for (uint64_t i = 0; i < NUM; i++) {
        done[i] = begin(comm, &from[i], 2 * i + 1);
        barriers[i] = cohort_barrier(comm, 2 * i + 2);
    }
    for (uint64_t i = NUM; i-- > 0;) {
        CHECK_OK(cohort_await(done[i]));
        CHECK_OK(cohort_await(barriers[i]));
        check(comm, &from[i], 2 * i + 1);
    }
    return COHORT_OK;
}

static void run(uint64_t seed, uint32_t num_localities, uint32_t num_sites, size_t budget,
                cohort_status (*site)(cohort_comm *comm, void *arg))
{
    cluster_run(seed, num_localities, budget,
                (struct sites){.name = "sparse",
                               .options = {.num_sites = num_sites, .arity = 3},
                               .run = site});
}

TEST(every_algorithm)
{
    for (uint32_t num_sites = 1; num_sites <= 17; num_sites++) {
        run(num_sites, 1, num_sites, 0, every_algorithm);
        run(num_sites, 1 + num_sites % 5, num_sites, num_sites % 2 ? 0 : 2000, every_algorithm);
    }
}

TEST(many_at_once)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        run(seed, 3, 7, 4096, many_at_once);
        run(seed, 2, 18, 0, many_at_once);
    }
}

/* One site is wrong: all are told, nothing comes, and the next call is right. */
static void check_wrong(cohort_comm *comm, uint64_t generation, const cohort_site_object *to,
                        size_t num_to, const char *why)
{
    bool is_wrong = cohort_comm_this_site(comm) == 1;
    cohort_site_objects from = {(cohort_site_object *)&from, 7};
    CHECK_FAILS(cohort_await(cohort_all_to_all_sparse(comm, is_wrong ? to : NULL,
                                                      is_wrong ? num_to : 0, &from, generation)),
                COHORT_ERR_BAD_PARAMETER, why);
    CHECK_CONTAINS(cohort_error_message(), "site 1, cohort_all_to_all_sparse");
    CHECK(!from.list && from.num == 0);
}

static cohort_status wrong(cohort_comm *comm, void *arg)
{
    const cohort_object object = {"abc", 3};
    const cohort_site_object far[] = {{2, object}, {3, object}};
    const cohort_site_object twice[] = {{2, object}, {0, object}, {2, object}};
    const cohort_site_object none[] = {{0, {NULL, 5}}}, huge[] = {{0, {"abc", SIZE_MAX}}};
    cohort_site_objects from;
    bool is_wrong = cohort_comm_this_site(comm) == 1;
    check_wrong(comm, 1, far, 2, "object 1 is for site 3 of 3");
    check_wrong(comm, 2, twice, 3, "object 2 is another one for site 2");
    check_wrong(comm, 3, none, 1, "object 0 has 5 bytes, but no data");
    check_wrong(comm, 4, NULL, 1, "TO is NULL");
    check_wrong(comm, 5, huge, 1, "bytes, which are more than memory");
    CHECK_FAILS(cohort_await(cohort_all_to_all_sparse(comm, NULL, 0, is_wrong ? NULL : &from, 6)),
                COHORT_ERR_BAD_PARAMETER, "site 1, cohort_all_to_all_sparse: no output buffer");
    CHECK_INT(cohort_await(cohort_all_to_all_sparse(NULL, NULL, 0, &from, 7)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_OK(cohort_await(begin(comm, &from, 7)));
    check(comm, &from, 7);
    cohort_site_objects_fini(NULL);
    return COHORT_OK;
}

static cohort_status against_objects(cohort_comm *comm, void *arg)
{
    cohort_object in[2] = {{0}}, out[2];
    cohort_site_objects from;
    bool is_sparse = cohort_comm_this_site(comm) == 0;
    CHECK_FAILS(cohort_await(is_sparse ? cohort_all_to_all_sparse(comm, NULL, 0, &from, 1)
                                       : cohort_all_to_all_objects(comm, in, out, 1)),
                COHORT_ERR_MISMATCH, "site 0 called all_to_all_sparse (");
    CHECK_CONTAINS(cohort_error_message(), "site 1 called all_to_all of objects");
    return COHORT_OK;
}

TEST(errors)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        run(seed, 1 + seed % 3, 3, 0, wrong);
        run(seed, 1 + seed % 2, 2, 0, against_objects);
    }
}

/* A site leaves, or its locality dies, during the call: it ends everywhere, with all or nothing. */
static void end_meanwhile(uint64_t seed, bool dies)
{
    enum { NUM = 4 };
    struct cluster *cluster = cluster_create(seed, dies ? NUM : 1 + seed % NUM, 0);
    uint32_t victim = (uint32_t)(seed % NUM);
    cohort_comm *comms[NUM];
    cohort_future *futures[NUM];
    cohort_site_objects from[NUM];
    cluster_create_comms(cluster, comms, "ending",
                         (cohort_comm_options){.num_sites = NUM, .stall_after = 20000000});
    for (uint32_t site = 0; site < NUM; site++) {
        futures[site] = begin(comms[site], &from[site], 1);
        cohort_yield();
    }
    if (dies)
        cluster_kill(cluster, victim);
    cohort_comm_unref(comms[victim]);
    for (uint32_t site = 0; site < NUM; site++) {
        cohort_status status = cohort_await(futures[site]);
        CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED || status == COHORT_ERR_GONE ||
              status == COHORT_ERR_PEER_DIED);
        CHECK(!status || (!from[site].list && from[site].num == 0));
        cohort_site_objects_fini(&from[site]);
        if (site != victim)
            cohort_comm_unref(comms[site]);
    }
    if (dies)
        cluster_abandon(cluster);
    else
        cluster_destroy(cluster);
}

TEST(endings)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        end_meanwhile(seed, false);
        end_meanwhile(seed, true);
    }
}
