/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "runtime/base/clock.h"
#include "runtime/proc/process.h"
#include "tests/support/cluster.h"
#include "tests/support/inproc_end.h"
#include "tests/support/scarce.h"

/* All sites of a communicator make a call, and one allocation fails, wherever in the library it is
 * made: the first one, then, in the next round, the second one, and so on, until there is no such
 * one any more. A site whose call has failed gives its endpoint back, as programs do. Then all
 * calls end: they succeed, and have the right results, or fail with an error that says why. So does
 * a barrier of those that are left. (No leaks: a build with the address sanitizer shows them.) */

enum { SITES = 4, FUTURES = 7, BYTES = 20000, ROWS = SITES };
static const uint64_t patience = 20 * UINT64_C(1000000000);
static const uint64_t lateness = 20000000; /* 20 ms, after which a site that leaves does it */

struct site {
    uint32_t number;
    cohort_comm *comm;
    cohort_comm *made; /* by the call */
    cohort_future *futures[FUTURES];
    uint32_t num_futures;
    bool has_failed;
    bool leaves; /* if an allocation has failed, and the call does not end soon */
    _Alignas(64) unsigned char in[SITES][BYTES];
    _Alignas(64) unsigned char out[SITES][BYTES];
    cohort_object objects_in[SITES], objects_out[2 * SITES];
    cohort_site_objects list;
    cohort_future *text; /* of a roll-call */
};

/* A kind of call. BEGIN makes it, and adds its futures. CHECK: it has succeeded at all sites. */
struct scene {
    const char *name;
    uint32_t num_localities;
    cohort_comm_options options;
    void (*begin)(struct site *site);
    void (*check)(struct site *site);
    cohort_status expected; /* of all calls; then CHECK is NULL */
};

static const struct scene *scene;
static struct cluster *cluster;
static struct site sites[SITES];
static long number; /* of the allocation that fails */
static uint32_t num_good, num_causes;
static bool are_ended; /* the localities */

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

static void create_with(struct site *site, uint64_t create_deadline)
{
    cohort_comm_options options = scene->options;
    options.create_deadline = create_deadline;
    options.num_sites = SITES;
    options.this_site = site->number;
    options.stall_after = 1000000; /* 1 ms: who is not told asks at each tick */
    add(site, cluster_create_comm(cluster, &site->comm, "scarce", &options));
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
    return scene->begin == create_comm || strstr(text, "\"scarce") ||
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
        !strstr(text, "the call of a site is wrong") &&
        !(scene->begin == create_comm &&
          (status == COHORT_ERR_TIMEOUT || status == COHORT_ERR_REVOKED)))
        test_failed(__FILE__, __LINE__, "%s, allocation %ld, site %u: %s: %s", scene->name, number,
                    site->number, cohort_status_name(status), text);
    if (status == COHORT_ERR_NO_MEMORY && !is_named(text))
        test_failed(__FILE__, __LINE__, "%s, allocation %ld, site %u: whose call? %s", scene->name,
                    number, site->number, text);
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

static void wait_for_all(const char *what)
{
    const uint64_t end = cohort__clock_after(patience);
    const uint64_t late = cohort__clock_after(lateness);
    while (!are_over()) {
        for (struct site *site = sites; site < sites + SITES; site++)
            if (site->leaves && scarce_has_failed() && cohort__clock_now() > late)
                give_back(site);
        if (cohort__clock_now() > end)
            test_failed(__FILE__, __LINE__, "%s, allocation %ld: %s does not end", scene->name,
                        number, what);
        cohort_yield();
    }
    for (struct site *site = sites; site < sites + SITES; site++)
        site->num_futures = 0;
}

/* Some had an endpoint, others had no memory for theirs, and none has one any more: the name is
 * free. */
static void check_name(void)
{
    for (uint32_t i = 0; i < SITES; i++) {
        give_back(&sites[i]);
        sites[i].has_failed = false;
    }
    for (uint32_t i = 0; i < SITES; i++)
        create_with(&sites[i], 0);
    wait_for_all("the next creation");
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
    /* On a machine that is busy a deadline may end by itself. */
    const bool may_be_late = scene->options.create_deadline > 0;
    CHECK(has_failed || all_well || may_be_late);
    CHECK(all_well || num_causes > 0 || sites[SITES - 1].leaves || scene->expected || may_be_late);
    for (uint32_t i = 0; i < SITES; i++) {
        sites[i].leaves = false;
        if (sites[i].comm)
            add(&sites[i], cohort_barrier(sites[i].comm, 100));
    }
    const uint32_t num_made = num_good;
    wait_for_all("a barrier");
    if (scene->begin == create_comm && num_made > 0 && !all_well && !are_ended)
        check_name();
    CHECK(!all_well || num_good > 0);
    for (uint32_t i = 0; i < SITES; i++) {
        give_back(&sites[i]);
        cohort_objects_fini(sites[i].objects_out, 2 * SITES);
        cohort_site_objects_fini(&sites[i].list);
        free_text(sites[i].text);
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

static void objects_begin(struct site *site, size_t bytes)
{
    fill(site, 0, bytes);
    for (uint32_t i = 0; i < SITES; i++)
        site->objects_in[i] = (cohort_object){site->in[0], bytes};
    add(site, cohort_all_to_all_objects(site->comm, site->objects_in, site->objects_out, 1));
    add(site,
        cohort_all_gather_objects(site->comm, site->objects_in, site->objects_out + SITES, 2));
}

static void short_objects_begin(struct site *site)
{
    objects_begin(site, 100);
}

static void long_objects_begin(struct site *site)
{
    objects_begin(site, BYTES);
}

static void objects_check(struct site *site)
{
    for (uint32_t i = 0; i < 2 * SITES; i++) {
        const cohort_object *object = &site->objects_out[i];
        CHECK(object->bytes > 0);
        CHECK(memcmp(object->data, sites[i % SITES].in[0], object->bytes) == 0);
    }
}

/* Each with a future for each row. */
static void rows_begin(struct site *site)
{
    cohort_future *rows[SITES];
    for (uint32_t i = 0; i < SITES; i++)
        fill(site, i, BYTES);
    CHECK_INT(cohort_comm_next_call(site->comm, &(cohort_call_options){.ret_rows = rows}),
              COHORT_OK);
    add(site, cohort_all_to_all(site->comm, site->in, site->out, BYTES, COHORT_UINT8, 1));
    for (uint32_t i = 0; i < SITES; i++)
        add(site, rows[i]);
}

/* In place, with the agreement in front. */
static void in_place_begin(struct site *site)
{
    for (uint32_t i = 0; i < SITES; i++)
        fill(site, i, BYTES);
    memcpy(site->out, site->in, sizeof(site->out));
    CHECK_INT(cohort_comm_next_call(site->comm, &(cohort_call_options){.check_asymmetric = true}),
              COHORT_OK);
    add(site, cohort_all_to_all(site->comm, COHORT_IN_PLACE, site->out, BYTES, COHORT_UINT8, 1));
}

static void plain_in_place_begin(struct site *site)
{
    for (uint32_t i = 0; i < SITES; i++)
        fill(site, i, BYTES);
    memcpy(site->out, site->in, sizeof(site->out));
    add(site, cohort_all_to_all(site->comm, COHORT_IN_PLACE, site->out, BYTES, COHORT_UINT8, 1));
}

/* A wrong call of one site fails at all, also where there is no memory to tell them: they hear of
 * its next call. */
static void wrong_begin(struct site *site)
{
    add(site, cohort_all_reduce(site->comm, site->in, site->number == 1 ? NULL : site->out, 8,
                                COHORT_DOUBLE, COHORT_SUM, 1));
    add(site, cohort_barrier(site->comm, 2));
}

static cohort_status add_up(void *result, const void *left, const void *right, size_t count,
                            cohort_datatype datatype, void *arg)
{
    (void)datatype;
    (void)arg;
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)result)[i] = ((const uint64_t *)left)[i] + ((const uint64_t *)right)[i];
    return COHORT_OK;
}

static void reduce_begin(struct site *site)
{
    cohort_op *op;
    memset(site->in[0], 1, BYTES);
    const cohort_status status =
        cohort_op_create(&op, &(struct cohort_op_options){.name = "add_up", .function = add_up});
    add(site, status ? cohort_future_of_error(status, "%s", cohort_error_message())
                     : cohort_all_reduce(site->comm, site->in[0], site->out[0], BYTES / 8,
                                         COHORT_UINT64, op, 1));
    add(site, cohort_scan(site->comm, site->in[0], site->out[1], BYTES / 8, COHORT_UINT64,
                          COHORT_SUM, 2));
    if (!status)
        cohort_op_unref(op);
}

static void reduce_check(struct site *site)
{
    CHECK_INT(site->out[0][0], SITES);
    CHECK_INT(site->out[1][0], site->number + 1);
}

static const size_t counts[SITES] = {BYTES, 10, 5000, 0};
static const size_t displacements[SITES] = {0, BYTES, 2 * BYTES, 3 * BYTES};

static void parcels_begin(struct site *site)
{
    size_t own[SITES];
    for (uint32_t i = 0; i < SITES; i++) {
        fill(site, i, BYTES);
        own[i] = counts[site->number];
    }
    add(site, cohort_all_to_allv(site->comm, site->in, counts, displacements, site->out, own,
                                 displacements, COHORT_UINT8, 1));
    const cohort_neighbour to = {(site->number + 1) % SITES, 0, 3000};
    const cohort_neighbour from = {(site->number + SITES - 1) % SITES, 3 * BYTES + 6000, 3000};
    add(site, cohort_exchange(site->comm, site->in, &to, 1, site->out, &from, 1, COHORT_UINT8, 2));
}

static void parcels_check(struct site *site)
{
    for (uint32_t i = 0; i < SITES - 1; i++)
        CHECK(has_block(site, i, i, site->number, counts[site->number]));
}

/* Every site has a message for the next one, three of them in another order than they are got. */
static void channels_begin_with(struct site *site, size_t bytes)
{
    const uint32_t next = (site->number + 1) % SITES, previous = (site->number + SITES - 1) % SITES;
    for (uint32_t i = 0; i < 3; i++) {
        fill(site, i, bytes);
        add(site, cohort_channel_set(site->comm, next, i, site->in[i], bytes));
    }
    add(site, cohort_channel_get_object(site->comm, previous, 2, &site->objects_out[0]));
    add(site, cohort_channel_get_object(site->comm, previous, 1, &site->objects_out[1]));
    add(site, cohort_channel_probe(site->comm, previous, 0, NULL, NULL));
    add(site, cohort_channel_get(site->comm, previous, 0, site->out[0], BYTES, NULL));
}

/* A get of a message of any site waits as long as another site is there. */
static void any_begin(struct site *site)
{
    site->leaves = true;
    fill(site, 0, 50);
    add(site, cohort_channel_set(site->comm, (site->number + 1) % SITES, 1, site->in[0], 50));
    add(site, cohort_channel_get_any_object(site->comm, 1, &site->objects_out[0], NULL));
    add(site, cohort_channel_probe(site->comm, COHORT_ANY_SITE, 2, NULL, NULL));
    add(site, cohort_channel_set(site->comm, (site->number + 2) % SITES, 2, site->in[0], 50));
    add(site, cohort_channel_get_any(site->comm, 2, site->out[0], BYTES, NULL, NULL));
}

static void channels_begin(struct site *site)
{
    channels_begin_with(site, 50);
}

static void channels_copies_begin(struct site *site)
{
    channels_begin_with(site, 3000);
}

static void channels_long_begin(struct site *site)
{
    channels_begin_with(site, BYTES);
}

static void channels_check(struct site *site)
{
    const struct site *previous = &sites[(site->number + SITES - 1) % SITES];
    for (uint32_t i = 0; i < 2; i++)
        CHECK(memcmp(site->objects_out[i].data, previous->in[2 - i], site->objects_out[i].bytes) ==
              0);
    CHECK(memcmp(site->out[0], previous->in[0], site->objects_out[0].bytes) == 0);
}

/* The last site does not call. The others' deadline ends, or one of them cancels the call. */
static void deadline_begin(struct site *site)
{
    site->leaves = site->number == SITES - 1;
    if (site->leaves)
        return;
    CHECK_INT(cohort_comm_next_call(site->comm, &(cohort_call_options){.deadline = 5000000}),
              COHORT_OK);
    add(site, cohort_barrier(site->comm, 1));
}

static void cancel_begin(struct site *site)
{
    site->leaves = site->number == SITES - 1;
    if (!site->leaves)
        add(site, cohort_barrier(site->comm, 1));
    else if (cohort_comm_cancel(site->comm, 1))
        site->has_failed = true;
}

static void split_begin(struct site *site)
{
    add(site, cohort_comm_split(&site->made, site->comm, site->number % 2, 0, 1));
}

static void split_check(struct site *site)
{
    CHECK_INT(cohort_comm_num_sites(site->made), 2);
}

static void look_begin(struct site *site)
{
    fill(site, 0, 8);
    add(site,
        cohort_all_reduce(site->comm, site->in[0], site->out[0], 8, COHORT_UINT8, COHORT_MAX, 1));
    site->text = cohort_comm_roll_call(site->comm);
    add(site, cohort_future_ref(site->text));
    add(site, cohort_comm_idle(site->comm));
}

static const struct scene scenes[] = {
    {"create", 2, {.create_deadline = 20000000}, create_comm, create_check, COHORT_OK},
    {"bytes", 2, {0}, all_to_all_begin, all_to_all_check, COHORT_OK},
    {"bytes", 1, {0}, all_to_all_begin, all_to_all_check, COHORT_OK},
    {"bytes",
     2,
     {.algorithms = "all_to_all=pairwise"},
     all_to_all_begin,
     all_to_all_check,
     COHORT_OK},
    {"bytes", 2, {.algorithms = "all_to_all=bruck"}, all_to_all_begin, all_to_all_check, COHORT_OK},
    {"sparse", 2, {0}, sparse_begin, sparse_check, COHORT_OK},
    {"sparse", 1, {0}, sparse_begin, sparse_check, COHORT_OK},
    {"sparse", 2, {.algorithms = "all_to_all=bruck"}, sparse_begin, sparse_check, COHORT_OK},
    {"objects", 2, {0}, short_objects_begin, objects_check, COHORT_OK},
    {"objects", 2, {0}, long_objects_begin, objects_check, COHORT_OK},
    {"objects", 1, {0}, long_objects_begin, objects_check, COHORT_OK},
    {"rows", 2, {0}, rows_begin, all_to_all_check, COHORT_OK},
    {"rows", 1, {0}, rows_begin, all_to_all_check, COHORT_OK},
    {"in_place", 2, {0}, in_place_begin, all_to_all_check, COHORT_OK},
    {"in_place", 1, {0}, in_place_begin, all_to_all_check, COHORT_OK},
    {"in_place", 1, {0}, plain_in_place_begin, all_to_all_check, COHORT_OK},
    {"wrong", 2, {0}, wrong_begin, NULL, COHORT_ERR_BAD_PARAMETER},
    {"wrong", 1, {0}, wrong_begin, NULL, COHORT_ERR_BAD_PARAMETER},
    {"reduce", 2, {0}, reduce_begin, reduce_check, COHORT_OK},
    {"reduce", 1, {0}, reduce_begin, reduce_check, COHORT_OK},
    {"parcels", 2, {0}, parcels_begin, parcels_check, COHORT_OK},
    {"parcels", 1, {0}, parcels_begin, parcels_check, COHORT_OK},
    {"channels", 2, {0}, channels_begin, channels_check, COHORT_OK},
    {"channels", 2, {0}, channels_copies_begin, channels_check, COHORT_OK},
    {"channels", 2, {0}, channels_long_begin, channels_check, COHORT_OK},
    {"channels", 1, {0}, channels_copies_begin, channels_check, COHORT_OK},
    {"channels", 1, {0}, channels_long_begin, channels_check, COHORT_OK},
    {"any", 2, {0}, any_begin, NULL, COHORT_OK},
    {"any", 1, {0}, any_begin, NULL, COHORT_OK},
    {"deadline", 2, {0}, deadline_begin, NULL, COHORT_ERR_TIMEOUT},
    {"deadline", 1, {0}, deadline_begin, NULL, COHORT_ERR_TIMEOUT},
    {"cancel", 2, {0}, cancel_begin, NULL, COHORT_ERR_CANCELLED},
    {"cancel", 1, {0}, cancel_begin, NULL, COHORT_ERR_CANCELLED},
    {"split", 2, {0}, split_begin, split_check, COHORT_OK},
    {"look", 2, {0}, look_begin, NULL, COHORT_OK},
};

/* All scenes of this name. */
static void run(const char *name)
{
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
        if (strcmp(scenes[i].name, name) != 0)
            continue;
        bool has_failed = true;
        scene = &scenes[i];
        for (number = 0; has_failed; number++)
            has_failed = play();
        CHECK(number > 1);
    }
}

static void test_create(void)
{
    run("create");
}

static void test_bytes(void)
{
    run("bytes");
}

static void test_sparse(void)
{
    run("sparse");
}

static void test_objects(void)
{
    run("objects");
}

static void test_rows(void)
{
    run("rows");
}

static void test_in_place(void)
{
    run("in_place");
}

static void test_wrong(void)
{
    run("wrong");
}

static void test_reduce(void)
{
    run("reduce");
}

static void test_parcels(void)
{
    run("parcels");
}

static void test_channels(void)
{
    run("channels");
}

static void test_any(void)
{
    run("any");
}

static void test_deadline(void)
{
    run("deadline");
}

static void test_cancel(void)
{
    run("cancel");
}

static void test_split(void)
{
    run("split");
}

static void test_look(void)
{
    run("look");
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"create", test_create},   {"bytes", test_bytes},       {"sparse", test_sparse},
        {"objects", test_objects}, {"rows", test_rows},         {"in_place", test_in_place},
        {"wrong", test_wrong},     {"reduce", test_reduce},     {"parcels", test_parcels},
        {"any", test_any},         {"channels", test_channels}, {"deadline", test_deadline},
        {"cancel", test_cancel},   {"split", test_split},       {"look", test_look},
    };
    scarce_init();
    return cluster_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), 1);
}
