/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cohort/channel.h"
#include "cohort/task.h"
#include "tests/coll/random_layout.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Sets and gets with layouts. Each message is set, and got, with a layout of its own, or as bytes.
 */

enum { MESSAGES = 80, TAGS = 3 };

/* Each size is transferred in another way: in the message, copied, lent or announced. */
static const size_t nums[] = {0, 1, 8, 9, 100, 512, 513, 700, 12500};
enum { NUM_SIZES = NUM_OF(nums) };

static int64_t content(uint32_t from, int number, size_t i)
{
    return (int64_t)from * 1000000000 + number * 1000000 + (int64_t)i;
}

struct lying {
    cohort_layout *layout; /* NULL: bytes */
    size_t *places;
    int64_t *array;
    size_t span;
};

static void lay_out(struct lying *lying, struct cohort__random *random, size_t num)
{
    cohort_layout *layout = random_layout(random, num, &lying->places);
    lying->span = cohort_layout_span(layout);
    lying->layout = layout;
    if (cohort__random_below(random, 4) == 0) {
        for (size_t i = 0; i < num; i++)
            lying->places[i] = i;
        lying->span = num;
        lying->layout = NULL;
        cohort_layout_unref(layout);
    }
    lying->array = test_malloc((lying->span + 1) * sizeof(*lying->array));
    for (size_t i = 0; i <= lying->span; i++)
        lying->array[i] = -1;
}

static void lying_fini(struct lying *lying)
{
    free(lying->places);
    free(lying->array);
}

struct transfer {
    struct lying in, out;
    size_t num;
    cohort_future *set, *get;
    uint32_t from;
    bool is_any;
};

static size_t num_of(uint32_t site, int number)
{
    return nums[(site * 5 + (unsigned)number * 7 + site * (unsigned)number) % NUM_SIZES];
}

/* The layouts are given back as soon as the call has returned. */
static void begin_set(cohort_comm *comm, struct transfer *transfer, struct cohort__random *random,
                      uint32_t to, int number)
{
    struct lying *in = &transfer->in;
    size_t num = num_of(cohort_comm_this_site(comm), number);
    lay_out(in, random, num);
    for (size_t i = 0; i < num; i++)
        in->array[in->places[i]] = content(cohort_comm_this_site(comm), number, i);
    uint64_t tag = (uint64_t)number % TAGS;
    transfer->set = in->layout ? cohort_channel_set_layout(comm, to, tag, num ? in->array : NULL,
                                                           in->layout, COHORT_INT64)
                               : cohort_channel_set(comm, to, tag, in->array, num * 8);
    cohort_layout_unref(in->layout);
}

static void begin_get(cohort_comm *comm, struct transfer *transfer, struct cohort__random *random,
                      uint32_t from, int number)
{
    struct lying *out = &transfer->out;
    uint64_t tag = (uint64_t)number % TAGS;
    size_t num = transfer->num = num_of(from, number);
    lay_out(out, random, num);
    transfer->is_any = cohort_comm_num_sites(comm) == 1 && cohort__random_below(random, 2);
    transfer->from = 99;
    transfer->get =
        out->layout
            ? cohort_channel_get_layout(comm, transfer->is_any ? COHORT_ANY_SITE : from, tag,
                                        num ? out->array : NULL, out->layout, COHORT_INT64,
                                        transfer->is_any ? &transfer->from : NULL)
            : cohort_channel_get(comm, from, tag, out->array, num * 8, NULL);
    cohort_layout_unref(out->layout);
}

static void check(const struct transfer *transfer, uint32_t from, int number)
{
    const struct lying *out = &transfer->out;
    size_t num_written = 0;
    for (size_t i = 0; i < transfer->num; i++)
        if (out->array[out->places[i]] != content(from, number, i))
            FAIL("message %d from %u differs at %zu", number, from, i);
    for (size_t i = 0; i <= out->span; i++)
        num_written += out->array[i] != -1;
    CHECK_INT(num_written, transfer->num);
    if (transfer->is_any && out->layout)
        CHECK_INT(transfer->from, from);
}

static cohort_status random_site(cohort_comm *comm, void *arg)
{
    const uint32_t me = cohort_comm_this_site(comm), num_sites = cohort_comm_num_sites(comm);
    const uint32_t to = (me + 1) % num_sites, from = (me + num_sites - 1) % num_sites;
    struct transfer *transfers = calloc(MESSAGES, sizeof(*transfers));
    int num_set = 0, num_got = 0;
    CHECK(transfers);
    struct cohort__random random = cohort__random_seeded(10 * num_sites + me);
    while (num_set < MESSAGES || num_got < MESSAGES) {
        bool sets = num_got == MESSAGES || cohort__random_below(&random, 2);
        if (sets && num_set < MESSAGES) {
            begin_set(comm, &transfers[num_set], &random, to, num_set);
            num_set++;
        } else if (num_got < MESSAGES) {
            begin_get(comm, &transfers[num_got], &random, from, num_got);
            num_got++;
        }
        if (cohort__random_below(&random, 4) == 0)
            cohort_yield();
    }
    for (int i = 0; i < MESSAGES; i++) {
        CHECK_OK(cohort_await(transfers[i].get));
        check(&transfers[i], from, i);
        CHECK_OK(cohort_await(transfers[i].set));
        lying_fini(&transfers[i].in);
        lying_fini(&transfers[i].out);
    }
    free(transfers);
    return COHORT_OK;
}

static void run(uint32_t num_localities, uint32_t num_sites,
                cohort_status (*site)(cohort_comm *comm, void *arg))
{
    cluster_run(CLUSTER_NUM_PLACEMENTS * num_sites, num_localities, 0,
                (struct sites){.name = "laid", .options = {.num_sites = num_sites}, .run = site});
}

TEST(random)
{
    run(1, 1, random_site);
    run(1, 3, random_site);
    run(2, 2, random_site);
    run(2, 3, random_site);
}

static void refused(cohort_future *future, cohort_status status, const char *why)
{
    CHECK_FAILS(cohort_await(future), status, why);
}

static cohort_status wrong(cohort_comm *comm, void *arg)
{
    const uint32_t me = cohort_comm_this_site(comm);
    const cohort_status bad = COHORT_ERR_BAD_PARAMETER;
    static double arrays[2][8000];
    double *array = arrays[me];
    cohort_layout *steps, *large, *twice, *far, *same;
    uint32_t from = 99;
    CHECK_OK(cohort_layout_create_vector(&steps, 3, 1, 2));
    CHECK_OK(cohort_layout_create_vector(&large, 4000, 1, 2));
    CHECK_OK(cohort_layout_create_vector(&twice, 3, 2, 1));
    CHECK_OK(cohort_layout_create_vector(&far, 2, 1, SIZE_MAX / 8));
    CHECK_OK(cohort_layout_create_vector(&same, SIZE_MAX / 16, 1, 0));
    if (me == 0) {
        refused(cohort_channel_set_layout(NULL, 1, 1, array, steps, COHORT_DOUBLE), bad,
                "cohort_channel_set_layout: no communicator");
        refused(cohort_channel_set_layout(comm, 2, 1, array, steps, COHORT_DOUBLE), bad,
                "cohort_channel_set_layout for site 2: there is no such site");
        refused(cohort_channel_set_layout(comm, 1, 1, array, NULL, COHORT_DOUBLE), bad,
                "no layout");
        refused(cohort_channel_set_layout(comm, 1, 1, array, steps, 999), bad, "no datatype");
        refused(cohort_channel_set_layout(comm, 1, 1, NULL, steps, COHORT_DOUBLE), bad,
                "there is no buffer");
        refused(cohort_channel_set_layout(comm, 1, 1, array, far, COHORT_DOUBLE), bad,
                "more than memory");
        refused(cohort_channel_set_layout(comm, 1, 1, array, same, COHORT_DOUBLE_COMPLEX), bad,
                "more than memory");
        refused(cohort_channel_get_layout(NULL, 1, 1, array, steps, COHORT_DOUBLE, NULL), bad,
                "cohort_channel_get_layout: no communicator");
        refused(cohort_channel_get_layout(comm, 2, 1, array, steps, COHORT_DOUBLE, NULL), bad,
                "site 2 is out of range");
        refused(cohort_channel_get_layout(comm, 1, 1, array, NULL, COHORT_DOUBLE, NULL), bad,
                "site 0, cohort_channel_get_layout: no layout");
        refused(cohort_channel_get_layout(comm, 1, 1, NULL, steps, COHORT_DOUBLE, NULL), bad,
                "there is no buffer");
        refused(cohort_channel_get_layout(comm, 1, 1, array, twice, COHORT_DOUBLE, NULL), bad,
                "the layout has an element twice");
    }
    /* Other numbers: the messages are used up. What is sent may be there twice. */
    const cohort_layout *sent[] = {steps, large, twice, steps};
    const cohort_layout *expected[] = {large, steps, steps, steps};
    for (int i = 0; i < 4; i++) {
        if (me == 1) {
            CHECK_OK(
                cohort_await(cohort_channel_set_layout(comm, 0, 5, array, sent[i], COHORT_DOUBLE)));
            continue;
        }
        cohort_future *future = cohort_channel_get_layout(comm, COHORT_ANY_SITE, 5, array,
                                                          expected[i], COHORT_DOUBLE, &from);
        if (i == 0)
            refused(future, COHORT_ERR_MISMATCH,
                    "tag 5 from site 1: it has 24 bytes, the layout's elements 32000");
        else if (i == 1)
            refused(future, COHORT_ERR_MISMATCH,
                    "tag 5 from site 1: it has 32000 bytes, the layout's elements 24");
        else if (i == 2)
            refused(future, COHORT_ERR_MISMATCH, "it has 48 bytes, the layout's elements 24");
        else
            CHECK_OK(cohort_await(future));
        CHECK_INT(from, i < 3 ? 99 : 1);
    }
    cohort_layout_unref(steps);
    cohort_layout_unref(large);
    cohort_layout_unref(twice);
    cohort_layout_unref(far);
    cohort_layout_unref(same);
    return COHORT_OK;
}

TEST(wrong)
{
    run(1, 2, wrong);
    run(2, 2, wrong);
}

/* A get that waits, and a set that nobody gets, end with their site: nothing is leaked. */
static cohort_status leaving(cohort_comm *comm, void *arg)
{
    static double arrays[2][8000];
    const uint32_t me = cohort_comm_this_site(comm);
    cohort_layout *large;
    cohort_future **left = arg;
    CHECK_OK(cohort_layout_create_vector(&large, 4000, 1, 2));
    left[2 * me] = cohort_channel_set_layout(comm, 1 - me, 5, arrays[me], large, COHORT_DOUBLE);
    left[2 * me + 1] =
        cohort_channel_get_layout(comm, 1 - me, 6, arrays[me], large, COHORT_DOUBLE, NULL);
    cohort_layout_unref(large);
    return COHORT_OK;
}

TEST(leaving)
{
    for (uint32_t num_localities = 1; num_localities <= 2; num_localities++) {
        cohort_future *left[4];
        struct cluster *cluster = cluster_create(1, num_localities, 0);
        CHECK_OK(cluster_sites(cluster, (struct sites){
                                            .name = "left",
                                            .options = {.num_sites = 2},
                                            .run = leaving,
                                            .arg = left,
                                        }));
        for (int i = 0; i < 4; i++) {
            cohort_status status = cohort_await(left[i]);
            bool is_on_its_way = status == COHORT_OK && i % 2 == 0;
            CHECK(status == COHORT_ERR_CANCELLED || status == COHORT_ERR_GONE || is_on_its_way);
        }
        cluster_destroy(cluster);
    }
}
