/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "tests/support/program.h"
#include "tests/support/sites.h"
#include "tests/support/test.h"

/* The hooks write down each call, and then the sites look up their own: each has begun once and
 * ended once, before its future was complete. They are set for the whole process, so all is in one
 * case. */

enum { N = 3, RECORDS_MAX = 256, COOKIE = 1000 };

static struct record {
    char name[64], communicator[64];
    uint32_t site, num_sites;
    uint64_t generation, in_bytes, out_bytes;
    int num_ends;
    cohort_status status;
} records[RECORDS_MAX];
static uint64_t num_records;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct record record_of(const cohort_hook_call *call)
{
    struct record record = {.site = call->site,
                            .num_sites = call->num_sites,
                            .generation = call->generation,
                            .in_bytes = call->in_bytes,
                            .out_bytes = call->out_bytes};
    strncpy(record.name, call->name, sizeof(record.name) - 1);
    strncpy(record.communicator, call->communicator, sizeof(record.communicator) - 1);
    return record;
}

static uint64_t begin(const cohort_hook_call *call, void *arg)
{
    CHECK(arg == &num_records);
    pthread_mutex_lock(&lock);
    CHECK(num_records < RECORDS_MAX);
    records[num_records] = record_of(call);
    uint64_t begun = COOKIE + num_records++;
    pthread_mutex_unlock(&lock);
    return begun;
}

/* The same call is described again. */
static void end(const cohort_hook_call *call, cohort_status status, uint64_t begun, void *arg)
{
    CHECK(arg == &num_records);
    pthread_mutex_lock(&lock);
    CHECK(begun >= COOKIE && begun - COOKIE < num_records);
    struct record *record = &records[begun - COOKIE];
    const struct record again = record_of(call);
    CHECK_TEXT(again.name, record->name);
    CHECK_TEXT(again.communicator, record->communicator);
    CHECK(again.site == record->site && again.generation == record->generation &&
          again.in_bytes == record->in_bytes && again.out_bytes == record->out_bytes);
    record->num_ends++;
    record->status = status;
    pthread_mutex_unlock(&lock);
}

/* Awaits FUTURE, a call of GENERATION, and checks what the hooks have been told of it. */
static void check_call(cohort_comm *comm, cohort_future *future, uint64_t generation,
                       const char *name, uint64_t in_bytes, uint64_t out_bytes,
                       cohort_status status)
{
    int num = 0;
    CHECK_INT(cohort_await(future), status);
    pthread_mutex_lock(&lock);
    for (uint64_t i = 0; i < num_records; i++) {
        const struct record *record = &records[i];
        if (record->site != cohort_comm_this_site(comm) || record->generation != generation ||
            strcmp(record->communicator, "hooked") != 0)
            continue;
        num++;
        CHECK_TEXT(record->name, name);
        CHECK_INT(record->num_sites, N);
        CHECK_INT((long long)record->in_bytes, (long long)in_bytes);
        CHECK_INT((long long)record->out_bytes, (long long)out_bytes);
        CHECK_INT(record->num_ends, 1);
        CHECK_INT(record->status, status);
    }
    pthread_mutex_unlock(&lock);
    CHECK_INT(num, status == COHORT_ERR_GENERATION ? 0 : 1);
}

static void one_size(cohort_comm *comm, bool is_root)
{
    int32_t in[N * 2] = {0}, out[N * 2];
    check_call(comm, cohort_all_reduce(comm, in, out, 2, COHORT_INT32, COHORT_SUM, 1), 1,
               "all_reduce", 8, 8, COHORT_OK);
    check_call(comm,
               is_root ? cohort_gather_here(comm, in, out, 2, COHORT_INT32, 2)
                       : cohort_gather_there(comm, in, 2, COHORT_INT32, 2),
               2, "gather", 8, is_root ? N * 8 : 0, COHORT_OK);
    check_call(comm,
               is_root ? cohort_scatter_to(comm, in, out, 2, COHORT_INT32, 3)
                       : cohort_scatter_from(comm, out, 2, COHORT_INT32, 3),
               3, "scatter", is_root ? N * 8 : 0, 8, COHORT_OK);
    check_call(comm,
               is_root ? cohort_broadcast_to(comm, in, 2, COHORT_INT32, 4)
                       : cohort_broadcast_from(comm, out, 2, COHORT_INT32, 4),
               4, "broadcast", is_root ? 8 : 0, is_root ? 0 : 8, COHORT_OK);
    check_call(comm, cohort_all_gather(comm, in, out, 2, COHORT_INT32, 5), 5, "all_gather", 8,
               N * 8, COHORT_OK);
    check_call(comm, cohort_all_to_all(comm, in, out, 2, COHORT_INT32, 6), 6, "all_to_all", N * 8,
               N * 8, COHORT_OK);
    check_call(comm, cohort_reduce_scatter(comm, in, out, 2, COHORT_INT32, COHORT_SUM, 7), 7,
               "reduce_scatter", N * 8, 8, COHORT_OK);
    check_call(comm, cohort_barrier(comm, 8), 8, "barrier", 0, 0, COHORT_OK);
}

static void ragged(cohort_comm *comm, bool is_root)
{
    const size_t counts[N] = {1, 2, 3};
    uint32_t me = cohort_comm_this_site(comm);
    size_t mine = counts[me];
    int32_t in[N * N] = {0}, out[N * N];
    check_call(comm,
               is_root ? cohort_gatherv_here(comm, in, 1, out, counts, NULL, COHORT_INT32, 11)
                       : cohort_gatherv_there(comm, in, mine, COHORT_INT32, 11),
               11, "gatherv", mine * 4, is_root ? 24 : 0, COHORT_OK);
    check_call(comm, cohort_reduce_scatterv(comm, in, out, counts, COHORT_INT32, COHORT_SUM, 12),
               12, "reduce_scatterv", 24, mine * 4, COHORT_OK);
    const size_t same[N] = {mine, mine, mine};
    check_call(comm, cohort_all_to_allv(comm, in, same, NULL, out, counts, NULL, COHORT_INT32, 13),
               13, "all_to_allv", N * mine * 4, 24, COHORT_OK);
    const size_t one[N] = {1, 1, 1};
    const cohort_datatype types[N] = {COHORT_INT32, COHORT_FLOAT, COHORT_UINT32};
    check_call(
        comm,
        cohort_all_to_allw(comm, COHORT_IN_PLACE, NULL, NULL, NULL, out, one, NULL, types, 14), 14,
        "all_to_allw", 12, 12, COHORT_OK);
    const cohort_neighbour to = {(me + 1) % N, 0, 2}, from = {(me + N - 1) % N, 0, 2};
    check_call(comm, cohort_exchange(comm, in, &to, 1, out, &from, 1, COHORT_INT32, 15), 15,
               "exchange", 8, 8, COHORT_OK);
    cohort_object object = {.data = in, .bytes = 5}, objects[N] = {{0}};
    check_call(comm, cohort_all_gather_objects(comm, &object, objects, 16), 16,
               "all_gather of objects", 5, 0, COHORT_OK);
    cohort_objects_fini(objects, N);
}

/* Calls that fail, and one that takes no generation. */
static void wrong(cohort_comm *comm)
{
    int32_t in = 0, out;
    check_call(comm, cohort_all_reduce(comm, NULL, &out, 1, COHORT_INT32, COHORT_SUM, 21), 21,
               "all_reduce", 0, 0, COHORT_ERR_BAD_PARAMETER);
    check_call(comm, cohort_all_gatherv(comm, &in, &out, NULL, NULL, COHORT_INT32, 22), 22,
               "all_gatherv", 0, 0, COHORT_ERR_BAD_PARAMETER);
    const cohort_neighbour to = {0, 0, 1};
    check_call(comm, cohort_exchange(comm, &in, &to, SIZE_MAX, &out, &to, 1, COHORT_INT32, 23), 23,
               "exchange", 0, 0, COHORT_ERR_BAD_PARAMETER);
    cohort_object objects[N];
    check_call(comm, cohort_all_gather_objects(comm, COHORT_IN_PLACE, objects, 24), 24,
               "all_gather of objects", 0, 0, COHORT_ERR_BAD_PARAMETER);
    check_call(comm, cohort_all_to_all_objects(comm, COHORT_IN_PLACE, objects, 25), 25,
               "all_to_all of objects", 0, 0, COHORT_ERR_BAD_PARAMETER);
    cohort_future *late = cohort_barrier(comm, 5);
    CHECK_INT(cohort_await(late), COHORT_ERR_GENERATION);
    cohort_comm *part;
    check_call(comm, cohort_comm_split(&part, comm, 0, 0, 26), 26, "split: all_gather", 8, N * 8,
               COHORT_OK);
    cohort_comm_unref(part);
}

static cohort_status hooked(cohort_comm *comm, void *arg)
{
    bool is_root = cohort_comm_this_site(comm) == 0;
    one_size(comm, is_root);
    ragged(comm, is_root);
    wrong(comm);
    return COHORT_OK;
}

static void set_hooks(void)
{
    const cohort_hooks hooks = {.begin = begin, .end = end, .arg = &num_records};
    CHECK_INT(cohort_hooks_set(NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_OK(cohort_hooks_set(&hooks));
    CHECK_FAILS(cohort_hooks_set(&hooks), COHORT_ERR_STATE,
                "cohort_hooks_set: this process has hooks already");
}

struct late {
    cohort_promise *set; /* site 0 fulfils it */
    cohort_future *is_set;
};

/* Site 0's call is in flight when the hooks are set, and has none. Those of the others begin
 * later. */
static cohort_status set_late(cohort_comm *comm, void *arg)
{
    struct late *late = arg;
    if (cohort_comm_this_site(comm) == 0) {
        cohort_future *barrier = cohort_barrier(comm, 1);
        set_hooks();
        cohort_promise_fulfil(late->set, NULL);
        return cohort_await(barrier);
    }
    CHECK_OK(cohort_await(cohort_future_ref(late->is_set)));
    return cohort_await(cohort_barrier(comm, 1));
}

static void run(const char *name, cohort_status (*site)(cohort_comm *comm, void *arg), void *arg)
{
    cohort_status status = sites_run(
        &(struct sites){.name = name, .options = {.num_sites = N}, .run = site, .arg = arg});
    if (status)
        FAIL("%s: %s", name, cohort_error_message());
}

TEST(all)
{
    struct late late;
    CHECK_OK(cohort_promise_create(&late.set, &late.is_set));
    run("set-late", set_late, &late);
    cohort_future_unref(late.is_set);
    CHECK_INT((long long)num_records, N - 1);
    for (uint64_t i = 0; i < num_records; i++)
        CHECK(records[i].site > 0 && records[i].num_ends == 1);
    run("hooked", hooked, NULL);
    CHECK_INT((long long)num_records, N - 1 + N * (8 + 6 + 6));
}

int main(int argc, char **argv)
{
    return program_main(argc, argv);
}
