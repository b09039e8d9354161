/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/resource.h>

#include <cohort/cohort.h>

#include "tests/coll/scarce_round.h"
#include "tests/support/cluster.h"
#include "tests/support/scarce.h"

/* The calls of which each allocation fails in turn. */

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

static void create_check(struct site *site)
{
    CHECK(site->comm != NULL);
}

static void all_to_all_begin(struct site *site)
{
    for (uint32_t i = 0; i < SITES; i++)
        fill(site, i, BYTES);
    site_add(site, cohort_all_to_all(site->comm, site->in, site->out, BYTES, COHORT_UINT8, 1));
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
    site_add(site, cohort_all_to_all_sparse(site->comm, to, 2, &site->list, 1));
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
    site_add(site, cohort_all_to_all_objects(site->comm, site->objects_in, site->objects_out, 1));
    site_add(site,
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
    CHECK_OK(cohort_comm_next_call(site->comm, &(cohort_call_options){.ret_rows = rows}));
    site_add(site, cohort_all_to_all(site->comm, site->in, site->out, BYTES, COHORT_UINT8, 1));
    for (uint32_t i = 0; i < SITES; i++)
        site_add(site, rows[i]);
}

/* In place, with the agreement in front. */
static void in_place_begin(struct site *site)
{
    for (uint32_t i = 0; i < SITES; i++)
        fill(site, i, BYTES);
    memcpy(site->out, site->in, sizeof(site->out));
    CHECK_OK(cohort_comm_next_call(site->comm, &(cohort_call_options){.check_asymmetric = true}));
    site_add(site,
             cohort_all_to_all(site->comm, COHORT_IN_PLACE, site->out, BYTES, COHORT_UINT8, 1));
}

static void plain_in_place_begin(struct site *site)
{
    for (uint32_t i = 0; i < SITES; i++)
        fill(site, i, BYTES);
    memcpy(site->out, site->in, sizeof(site->out));
    site_add(site,
             cohort_all_to_all(site->comm, COHORT_IN_PLACE, site->out, BYTES, COHORT_UINT8, 1));
}

/* A wrong call of one site fails at all, also where there is no memory to tell them, and it calls
 * nothing more: they ask. */
static void wrong_begin(struct site *site)
{
    site_add(site, cohort_all_reduce(site->comm, site->in, site->number == 1 ? NULL : site->out, 8,
                                     COHORT_DOUBLE, COHORT_SUM, 1));
}

static cohort_status add_up(void *result, const void *left, const void *right, size_t count,
                            cohort_datatype datatype, void *arg)
{
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
    site_add(site, status ? cohort_future_of_error(status, "%s", cohort_error_message())
                          : cohort_all_reduce(site->comm, site->in[0], site->out[0], BYTES / 8,
                                              COHORT_UINT64, op, 1));
    site_add(site, cohort_scan(site->comm, site->in[0], site->out[1], BYTES / 8, COHORT_UINT64,
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

static void ragged_begin(struct site *site)
{
    size_t own[SITES];
    for (uint32_t i = 0; i < SITES; i++) {
        fill(site, i, BYTES);
        own[i] = counts[site->number];
    }
    site_add(site, cohort_all_to_allv(site->comm, site->in, counts, displacements, site->out, own,
                                      displacements, COHORT_UINT8, 1));
    const cohort_neighbour to = {(site->number + 1) % SITES, 0, 3000};
    const cohort_neighbour from = {(site->number + SITES - 1) % SITES, 3 * BYTES + 6000, 3000};
    site_add(site,
             cohort_exchange(site->comm, site->in, &to, 1, site->out, &from, 1, COHORT_UINT8, 2));
}

static void ragged_check(struct site *site)
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
        site_add(site, cohort_channel_set(site->comm, next, i, site->in[i], bytes));
    }
    site_add(site, cohort_channel_get_object(site->comm, previous, 2, &site->objects_out[0]));
    site_add(site, cohort_channel_get_object(site->comm, previous, 1, &site->objects_out[1]));
    site_add(site, cohort_channel_probe(site->comm, previous, 0, NULL, NULL));
    site_add(site, cohort_channel_get(site->comm, previous, 0, site->out[0], BYTES, NULL));
}

/* A get of a message of any site waits as long as another site is there. */
static void any_begin(struct site *site)
{
    site->leaves = true;
    fill(site, 0, 50);
    site_add(site, cohort_channel_set(site->comm, (site->number + 1) % SITES, 1, site->in[0], 50));
    site_add(site, cohort_channel_get_any_object(site->comm, 1, &site->objects_out[0], NULL));
    site_add(site, cohort_channel_probe(site->comm, COHORT_ANY_SITE, 2, NULL, NULL));
    site_add(site, cohort_channel_set(site->comm, (site->number + 2) % SITES, 2, site->in[0], 50));
    site_add(site, cohort_channel_get_any(site->comm, 2, site->out[0], BYTES, NULL, NULL));
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

/* In a task that is in a scope. What is made around that never fails. */
struct scoped {
    void (*begin)(struct site *site);
    struct site *site;
    bool cancels; /* its scope, when it has called */
};

static cohort_status call_in_scope(void *arg)
{
    const struct scoped *scoped = arg;
    scarce_go_on();
    scoped->begin(scoped->site);
    scarce_pause();
    if (scoped->cancels)
        cohort_scope_cancel(cohort_scope_current());
    return COHORT_OK;
}

static void begin_in_scope(struct site *site, void (*begin)(struct site *site), bool cancels)
{
    struct scoped scoped = {begin, site, cancels};
    scarce_pause();
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, call_in_scope, &scoped));
    CHECK_INT(cohort_scope_await(scope), cancels ? COHORT_ERR_CANCELLED : COHORT_OK);
    scarce_go_on();
}

static void scoped_reduce_begin(struct site *site)
{
    begin_in_scope(site, reduce_begin, false);
}

static void scoped_channels_begin(struct site *site)
{
    begin_in_scope(site, channels_long_begin, false);
}

/* The last site does not call, and the scope of another one is cancelled. */
static void barrier_begin(struct site *site)
{
    site_add(site, cohort_barrier(site->comm, 1));
}

static void scope_cancel_begin(struct site *site)
{
    site->leaves = site->number == SITES - 1;
    if (!site->leaves)
        begin_in_scope(site, barrier_begin, site->number == 1);
}

/* The last site leaves the generation out. */
static void skip_begin(struct site *site)
{
    if (site->number < SITES - 1)
        site_add(site, cohort_barrier(site->comm, 1));
    site_add(site, cohort_barrier(site->comm, 3));
}

/* The last site does not call. The others' deadline ends, or one of them cancels the call. */
static void deadline_begin(struct site *site)
{
    site->leaves = site->number == SITES - 1;
    if (site->leaves)
        return;
    CHECK_OK(cohort_comm_next_call(site->comm, &(cohort_call_options){.deadline = 5000000}));
    site_add(site, cohort_barrier(site->comm, 1));
}

static void cancel_begin(struct site *site)
{
    site->leaves = site->number == SITES - 1;
    if (!site->leaves)
        site_add(site, cohort_barrier(site->comm, 1));
    else if (cohort_comm_cancel(site->comm, 1))
        site->has_failed = true;
}

static void split_begin(struct site *site)
{
    site_add(site, cohort_comm_split(&site->made, site->comm, site->number % 2, 0, 1));
}

static void split_check(struct site *site)
{
    CHECK_INT(cohort_comm_num_sites(site->made), 2);
}

static void look_begin(struct site *site)
{
    fill(site, 0, 8);
    site_add(site, cohort_all_reduce(site->comm, site->in[0], site->out[0], 8, COHORT_UINT8,
                                     COHORT_MAX, 1));
    site->text = cohort_comm_roll_call(site->comm);
    site_add(site, cohort_future_ref(site->text));
    site_add(site, cohort_comm_idle(site->comm));
}

static const struct scene scenes[] = {
    {"create", 2, {.create_deadline = 20000000}, NULL, create_check, COHORT_OK},
    {"create", 4, {.create_deadline = 20000000}, NULL, create_check, COHORT_OK},
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
    {"sparse", 2, {.algorithms = "all_to_all=tree"}, sparse_begin, sparse_check, COHORT_OK},
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
    {"ragged", 2, {0}, ragged_begin, ragged_check, COHORT_OK},
    {"ragged", 1, {0}, ragged_begin, ragged_check, COHORT_OK},
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
    {"scope", 2, {0}, scoped_reduce_begin, reduce_check, COHORT_OK},
    {"scope", 1, {0}, scoped_reduce_begin, reduce_check, COHORT_OK},
    {"scope", 2, {0}, scoped_channels_begin, channels_check, COHORT_OK},
    {"scope", 1, {0}, scoped_channels_begin, channels_check, COHORT_OK},
    {"scope", 2, {0}, scope_cancel_begin, NULL, COHORT_ERR_CANCELLED},
    {"scope", 1, {0}, scope_cancel_begin, NULL, COHORT_ERR_CANCELLED},
    {"skip", 2, {0}, skip_begin, NULL, COHORT_ERR_MOVED_PAST},
    {"skip", 1, {0}, skip_begin, NULL, COHORT_ERR_MOVED_PAST},
    {"notes", 4, {.algorithms = "all_reduce=levels"}, reduce_begin, reduce_check, COHORT_OK},
    {"split", 2, {0}, split_begin, split_check, COHORT_OK},
    {"look", 2, {0}, look_begin, NULL, COHORT_OK},
};

/* All scenes of this name. */
static void run(const char *name)
{
    for (size_t i = 0; i < NUM_OF(scenes); i++)
        if (strcmp(scenes[i].name, name) == 0)
            scarce_rounds(&scenes[i]);
}

TEST_CALL(create, run("create"))
TEST_CALL(bytes, run("bytes"))
TEST_CALL(sparse, run("sparse"))
TEST_CALL(objects, run("objects"))
TEST_CALL(rows, run("rows"))
TEST_CALL(in_place, run("in_place"))
TEST_CALL(wrong, run("wrong"))
TEST_CALL(reduce, run("reduce"))
TEST_CALL(ragged, run("ragged"))
TEST_CALL(channels, run("channels"))
TEST_CALL(any, run("any"))
TEST_CALL(deadline, run("deadline"))
TEST_CALL(cancel, run("cancel"))
TEST_CALL(scope, run("scope"))
TEST_CALL(skip, run("skip"))

/* In shared memory. */
TEST_CALL(notes, run("notes"))
TEST_CALL(split, run("split"))
TEST_CALL(look, run("look"))

/* In shared memory the clusters of all rounds keep theirs until the program ends. */
static void allow_descriptors(void)
{
    struct rlimit limit;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

int main(int argc, char **argv)
{
    allow_descriptors();
    scarce_init();
    return cluster_test(argc, argv, 1);
}
