/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/remote.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/task.h"
#include "runtime/remote/tasks.h"
#include "tests/support/cluster.h"

/* One call in all localities: each runs it once, and the results are in their places. All
 * localities are in this process, so a function does not know by itself which one it runs in: the
 * first to run is told by a counter. */

enum { MAX_LOCALITIES = 33 };

static struct cluster *cluster;
static atomic_uint num_run;

/* Results of all lengths, each of which is given once. */
static size_t length_of(uint32_t number)
{
    static const size_t lengths[] = {0, 4, 300, 5000, 70000, 2 << 20};
    return lengths[number % 6];
}

static cohort_status number(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint32_t mine = atomic_fetch_add(&num_run, 1);
    CHECK_INT((long long)in->bytes, 3);
    CHECK(memcmp(in->data, "all", 3) == 0);
    size_t bytes = length_of(mine);
    if (bytes == 0)
        return COHORT_OK;
    unsigned char *data = test_malloc(bytes);
    memset(data, (int)mine, bytes);
    *ret_out = (cohort_object){data, bytes};
    return COHORT_OK;
}

static void check_numbers(const cohort_object *outs, uint32_t num)
{
    bool is_seen[MAX_LOCALITIES] = {false};
    uint32_t num_empty = 0;
    for (uint32_t i = 0; i < num; i++) {
        const unsigned char *data = outs[i].data;
        if (outs[i].bytes == 0) {
            num_empty++;
            continue;
        }
        CHECK(data[0] < num && !is_seen[data[0]]);
        is_seen[data[0]] = true;
        CHECK_INT((long long)outs[i].bytes, (long long)length_of(data[0]));
        CHECK(data[outs[i].bytes - 1] == data[0]);
    }
    CHECK_INT(num_empty, (num + 5) / 6);
}

static uint32_t log2_ceiling(uint32_t value)
{
    uint32_t log = 0;
    while ((1u << log) < value)
        log++;
    return log;
}

TEST(sizes)
{
    static const uint32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, MAX_LOCALITIES};
    for (size_t i = 0; i < NUM_OF(sizes); i++) {
        uint32_t num = sizes[i];
        cluster = cluster_create(i, num, 0);
        for (uint32_t root = 0; root < num; root += 1 + num / 3) {
            cohort_object outs[MAX_LOCALITIES] = {{(void *)"x", 1}};
            char in[] = "all";
            uint64_t sent = cluster_num_sent(cluster);
            uint64_t sent_by_root = cluster_num_sent_by(cluster, root);
            atomic_store(&num_run, 0);
            cohort_future *future = cohort__async_everywhere_from(
                cluster_process(cluster, root), "number", &(cohort_object){in, 3}, outs);
            memset(in, 'x', sizeof(in)); /* it is copied */
            CHECK_OK(cohort_await(future));
            CHECK_INT(atomic_load(&num_run), num);
            check_numbers(outs, num);
            cohort_objects_fini(outs, num);
            /* A call and a result for each other locality, and FETCHED for what is long. */
            CHECK((cluster_num_sent(cluster) - sent) <= 3 * (num - 1));
            /* Over a tree: a call for each of its branches, and FETCHED for their results. */
            CHECK(cluster_num_sent_by(cluster, root) - sent_by_root <= 2 * log2_ceiling(num));
        }
        cluster_destroy(cluster);
    }
}

/* Each locality in its place: the addresses of the processes can't tell, so locality i fails. */
static cohort_status where(const cohort_object *in, cohort_object *ret_out, void *context)
{
    *ret_out = *in;
    return COHORT_OK;
}

TEST(long_in)
{
    enum { NUM = 6, BYTES = 300000 };
    cohort_object outs[NUM];
    unsigned char *data = test_malloc(BYTES);
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (unsigned char)(i * 7 + (i >> 8));
    cluster = cluster_create(5, NUM, 4096);
    CHECK_OK(cohort_await(cohort__async_everywhere_from(cluster_process(cluster, 3), "where",
                                                        &(cohort_object){data, BYTES}, outs)));
    for (uint32_t i = 0; i < NUM; i++)
        CHECK(outs[i].bytes == BYTES && memcmp(outs[i].data, data, BYTES) == 0);
    cohort_objects_fini(outs, NUM);
    CHECK_OK(cohort_await(cohort__async_everywhere_from(cluster_process(cluster, 3), "where",
                                                        &(cohort_object){data, BYTES}, NULL)));
    cluster_destroy(cluster);
    free(data);
}

/* Fails in some localities: those that come as number NUM of the calls and later. */
static cohort_status fail_from(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint32_t from;
    memcpy(&from, in->data, sizeof(from));
    *ret_out = *in;
    return atomic_fetch_add(&num_run, 1) >= from
               ? cohort_fail(COHORT_ERR_MISMATCH, "this one fails")
               : COHORT_OK;
}

static void check_empty(const cohort_object *outs, uint32_t num)
{
    for (uint32_t i = 0; i < num; i++)
        CHECK(!outs[i].data && outs[i].bytes == 0);
}

TEST(fails)
{
    enum { NUM = 9 };
    for (uint32_t from = 0; from < NUM; from++) {
        cohort_object outs[NUM];
        cluster = cluster_create(from, NUM, 0);
        atomic_store(&num_run, 0);
        CHECK_FAILS(
            cohort_await(cohort__async_everywhere_from(cluster_process(cluster, 2), "fail_from",
                                                       &(cohort_object){&from, 4}, outs)),
            COHORT_ERR_MISMATCH,
            from == 0 ? "remote task \"fail_from\" at locality 2: "
                      : "remote task \"fail_from\" at locality ");
        CHECK_CONTAINS(cohort_error_message(), ": this one fails");
        CHECK(!strstr(strstr(cohort_error_message(), "remote") + 1, "remote")); /* named once */
        CHECK_INT(atomic_load(&num_run), NUM);                                  /* all have run */
        check_empty(outs, NUM);
        cluster_destroy(cluster);
    }
}

TEST(unknown)
{
    cohort_object outs[5];
    cluster = cluster_create(1, 5, 0);
    CHECK_FAILS(cohort_await(cohort__async_everywhere_from(cluster_process(cluster, 4), "nowhere",
                                                           NULL, outs)),
                COHORT_ERR_BAD_PARAMETER,
                "remote task \"nowhere\" at locality 4: no function of that name");
    check_empty(outs, 5);
    CHECK_FAILS(cohort_await(cohort__async_everywhere_from(cluster_process(cluster, 4), "where",
                                                           &(cohort_object){NULL, 5}, outs)),
                COHORT_ERR_BAD_PARAMETER, "cohort_async_everywhere: no data");
    cluster_destroy(cluster);
}

/* Many at once, from all sides. */
TEST(many)
{
    enum { NUM = 5, CALLS = 60 };
    static cohort_object outs[CALLS][NUM];
    cohort_future *futures[CALLS];
    cluster = cluster_create(6, NUM, 0);
    for (uint32_t i = 0; i < CALLS; i++)
        futures[i] = cohort__async_everywhere_from(cluster_process(cluster, i % NUM), "where",
                                                   &(cohort_object){&i, sizeof(i)}, outs[i]);
    for (uint32_t i = 0; i < CALLS; i++) {
        CHECK_OK(cohort_await(futures[i]));
        for (uint32_t j = 0; j < NUM; j++)
            CHECK(outs[i][j].bytes == sizeof(i) && memcmp(outs[i][j].data, &i, sizeof(i)) == 0);
        cohort_objects_fini(outs[i], NUM);
    }
    cluster_destroy(cluster);
}

int main(int argc, char **argv)
{
    CHECK_OK(cohort_remote_register("number", number, NULL));
    CHECK_OK(cohort_remote_register("where", where, NULL));
    CHECK_OK(cohort_remote_register("fail_from", fail_from, NULL));
    return cluster_test(argc, argv, 1);
}
