/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/channel.h"
#include "cohort/survivors.h"
#include "cohort/task.h"
#include "runtime/base/random.h"
#include "runtime/proc/process.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Messages from any site, and probes. */

/* What a message says of itself; the rest of its bytes is filled with its number. */
struct head {
    uint32_t site;
    uint32_t number; /* among those of its site with its tag */
};

/* Random traffic ----------------------------------------------------------------------------- */

enum { NUM_SITES = 5, NUM_TAGS = 3, NUM_EACH = 60, MAX_BYTES = 20000, GETTER = 0 };

struct call {
    cohort_future *future;
    uint32_t asked; /* a site, or COHORT_ANY_SITE */
    uint32_t site;
    uint32_t tag;
    size_t bytes;
    unsigned char data[MAX_BYTES];
};

static size_t bytes_of(uint32_t site, uint32_t tag, uint32_t number)
{
    static const size_t sizes[] = {8, 8, 65, 4097, MAX_BYTES};
    return sizes[(site * 7 + tag * 3 + number) % 5];
}

static cohort_status set_all(cohort_comm *comm, uint64_t seed)
{
    cohort_future *sets[NUM_TAGS * NUM_EACH];
    unsigned char *data[NUM_TAGS * NUM_EACH];
    uint32_t numbers[NUM_TAGS] = {0}, num = 0, site = cohort_comm_this_site(comm);
    struct cohort__random random = cohort__random_seeded(seed * 100 + site);
    while (num < NUM_TAGS * NUM_EACH) {
        uint32_t tag = (uint32_t)cohort__random_below(&random, NUM_TAGS);
        if (numbers[tag] == NUM_EACH)
            continue;
        struct head head = {site, numbers[tag]++};
        size_t bytes = bytes_of(site, tag, head.number);
        CHECK((data[num] = malloc(bytes)));
        memset(data[num], (int)head.number, bytes);
        memcpy(data[num], &head, sizeof(head));
        sets[num] = cohort_channel_set(comm, GETTER, tag, data[num], bytes);
        num++;
        if (cohort__random_below(&random, 4) == 0)
            cohort_yield();
    }
    CHECK_OK(cohort_await(cohort_when_all(sets, num)));
    for (uint32_t i = 0; i < num; i++)
        free(data[i]);
    return COHORT_OK;
}

/* In the order of the calls, what comes from a site is in order, whoever has asked for it. */
static void check_calls(struct call *const *calls, uint32_t num)
{
    uint32_t next[NUM_TAGS][NUM_SITES] = {{0}};
    for (uint32_t i = 0; i < num; i++) {
        const struct call *call = calls[i];
        struct head head;
        memcpy(&head, call->data, sizeof(head));
        CHECK_INT(head.site, call->site);
        CHECK(call->asked == COHORT_ANY_SITE || call->asked == call->site);
        CHECK_INT(head.number, next[call->tag][call->site]++);
        CHECK_INT(call->bytes, bytes_of(head.site, call->tag, head.number));
        for (size_t at = sizeof(head); at < call->bytes; at++)
            CHECK_INT(call->data[at], (unsigned char)head.number);
    }
}

static struct call *call_begin(cohort_comm *comm, uint32_t asked, uint32_t tag)
{
    struct call *call = test_calloc(1, sizeof(*call));
    call->asked = call->site = asked;
    call->tag = tag;
    call->future =
        asked == COHORT_ANY_SITE
            ? cohort_channel_get_any(comm, tag, call->data, MAX_BYTES, &call->bytes, &call->site)
            : cohort_channel_get(comm, asked, tag, call->data, MAX_BYTES, &call->bytes);
    return call;
}

/* A probe, and what it says is got. */
static struct call *probe_and_get(cohort_comm *comm, uint32_t asked, uint32_t tag)
{
    size_t bytes = 0;
    uint32_t site = NUM_SITES;
    CHECK_OK(cohort_await(cohort_channel_probe(comm, asked, tag, &bytes, &site)));
    CHECK(site == asked || (asked == COHORT_ANY_SITE && site < NUM_SITES));
    struct call *call = call_begin(comm, site, tag);
    CHECK_OK(cohort_await(call->future));
    CHECK_INT(call->bytes, bytes);
    call->future = NULL;
    return call;
}

/* So many are still to be asked for with TAG, of SITE or, for any, of all. */
struct open_gets {
    uint32_t of_site[NUM_TAGS][NUM_SITES];
    uint32_t of_any[NUM_TAGS];
};

static cohort_status get_all(cohort_comm *comm, uint64_t seed)
{
    enum { NUM = NUM_TAGS * NUM_EACH * (NUM_SITES - 1) };
    struct call **calls = calloc(NUM, sizeof(struct call *));
    struct cohort__random random = cohort__random_seeded(seed);
    CHECK(calls);
    /* Tag 0 is only got from any site, tag 1 only from one, and of tag 2 each kind has its time: a
     * site's messages could all be taken by gets from any. */
    uint32_t num = 0, per_site[NUM_SITES] = {0}, from_any = 0, mixed = 0;
    while (num < NUM) {
        uint32_t tag = (uint32_t)cohort__random_below(&random, NUM_TAGS);
        uint32_t site = 1 + (uint32_t)cohort__random_below(&random, NUM_SITES - 1);
        bool probes = cohort__random_below(&random, 6) == 0;
        if (tag == 0 && from_any < NUM_EACH * (NUM_SITES - 1)) {
            from_any++;
            site = COHORT_ANY_SITE;
        } else if (tag == 1 && per_site[site] < NUM_EACH) {
            per_site[site]++;
        } else if (tag == 2 && mixed < NUM_EACH * (NUM_SITES - 1)) {
            /* The first of each site by name, then any. */
            site = mixed < NUM_SITES - 1 ? mixed + 1 : COHORT_ANY_SITE;
            mixed++;
        } else {
            continue;
        }
        probes = probes && (tag != 0 || from_any < 50); /* it waits for all before it */
        calls[num++] = probes ? probe_and_get(comm, site, tag) : call_begin(comm, site, tag);
    }
    for (uint32_t i = 0; i < num; i++)
        CHECK_OK(calls[i]->future ? cohort_await(calls[i]->future) : COHORT_OK);
    check_calls(calls, num);
    for (uint32_t i = 0; i < num; i++)
        free(calls[i]);
    free(calls);
    return COHORT_OK;
}

static cohort_status play(cohort_comm *comm, void *arg)
{
    uint64_t seed = *(uint64_t *)arg;
    cohort_status status =
        cohort_comm_this_site(comm) == GETTER ? get_all(comm, seed) : set_all(comm, seed);
    CHECK_OK(cohort_await(cohort_comm_idle(comm)));
    return status;
}

TEST(random)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct cluster *cluster = cluster_create(seed, 1 + seed % 3, 0);
        CHECK_OK(cluster_sites(cluster, (struct sites){
                                            .name = "any",
                                            .options = {.num_sites = NUM_SITES},
                                            .run = play,
                                            .arg = &seed,
                                        }));
        cluster_destroy(cluster);
    }
}

/* Three sites played by one task -------------------------------------------------------------- */

struct trio {
    struct cluster *cluster;
    cohort_comm *comms[3];
};

static struct trio trio_create(uint32_t num_localities)
{
    struct trio trio = {.cluster = cluster_create(1, num_localities, 0)};
    cluster_create_comms(trio.cluster, trio.comms, "trio",
                         (cohort_comm_options){.num_sites = 3, .stall_after = 20000000});
    return trio;
}

static void trio_leave(struct trio *trio, uint32_t site)
{
    cohort_comm_unref(trio->comms[site]);
    trio->comms[site] = NULL;
}

static void trio_destroy(struct trio *trio)
{
    for (uint32_t site = 0; site < 3; site++)
        trio_leave(trio, site);
    cluster_destroy(trio->cluster);
}

static void set(struct trio *trio, uint32_t from, uint32_t to, uint64_t tag, int value)
{
    CHECK_OK(cohort_await(cohort_channel_set(trio->comms[from], to, tag, &value, sizeof(value))));
}

/* Gets VALUE from SITE with a get from any. */
static void check_any(struct trio *trio, uint64_t tag, uint32_t want_site, int want)
{
    int value = 0;
    size_t bytes = 0;
    uint32_t site = 99;
    CHECK_OK(cohort_await(
        cohort_channel_get_any(trio->comms[0], tag, &value, sizeof(value), &bytes, &site)));
    CHECK_INT(site, want_site);
    CHECK_INT(value, want);
    CHECK_INT(bytes, sizeof(value));
}

/* The messages of all sites, in the order in which they came, with tags apart. */
TEST(order)
{
    struct trio trio = trio_create(1);
    int value = 0;
    set(&trio, 2, 0, 5, 1);
    set(&trio, 1, 0, 6, 2);
    set(&trio, 1, 0, 5, 3);
    set(&trio, 0, 0, 5, 4);
    set(&trio, 2, 0, 5, 5);
    check_any(&trio, 5, 2, 1);
    CHECK_OK(cohort_await(cohort_channel_get(trio.comms[0], 0, 5, &value, sizeof(value), NULL)));
    CHECK_INT(value, 4);
    set(&trio, 0, 0, 5, 6);
    check_any(&trio, 5, 1, 3);
    check_any(&trio, 6, 1, 2);
    check_any(&trio, 5, 2, 5);
    check_any(&trio, 5, 0, 6);
    trio_destroy(&trio);
}

/* Who has asked first has the first message, and probes tell of what is behind them. */
TEST(turns)
{
    struct trio trio = trio_create(1);
    int values[4] = {0};
    size_t bytes = 0;
    uint32_t sites[4] = {9, 9, 9, 9};
    cohort_future *any = cohort_channel_get_any(trio.comms[0], 5, &values[0], 4, NULL, &sites[0]);
    cohort_future *own = cohort_channel_get(trio.comms[0], 1, 5, &values[1], 4, NULL);
    cohort_future *probe = cohort_channel_probe(trio.comms[0], 1, 5, &bytes, &sites[2]);
    cohort_future *probe_any =
        cohort_channel_probe(trio.comms[0], COHORT_ANY_SITE, 5, NULL, &sites[3]);
    set(&trio, 1, 0, 5, 7);
    CHECK_OK(cohort_await(any));
    CHECK(values[0] == 7 && sites[0] == 1 && !cohort_future_ready(own));
    set(&trio, 2, 0, 5, 8);
    CHECK_OK(cohort_await(probe_any));
    CHECK_INT(sites[3], 2);
    CHECK(!cohort_future_ready(own) && !cohort_future_ready(probe));
    set(&trio, 1, 0, 5, 9);
    CHECK_OK(cohort_await(own));
    CHECK(values[1] == 9 && !cohort_future_ready(probe));
    CHECK_OK(cohort_await(cohort_channel_set(trio.comms[1], 0, 5, "abcdefg", 7)));
    CHECK_OK(cohort_await(probe));
    CHECK(bytes == 7 && sites[2] == 1);
    cohort_object object;
    CHECK_OK(cohort_await(cohort_channel_get_any_object(trio.comms[0], 5, &object, &sites[0])));
    CHECK(object.bytes == sizeof(int) && sites[0] == 2);
    cohort_object_fini(&object);
    CHECK_OK(cohort_await(cohort_channel_get_any_object(trio.comms[0], 5, &object, NULL)));
    CHECK(object.bytes == 7 && memcmp(object.data, "abcdefg", 7) == 0);
    cohort_object_fini(&object);
    trio_destroy(&trio);
}

TEST(wrong)
{
    struct trio trio = trio_create(1);
    cohort_object object;
    CHECK_INT(cohort_await(cohort_channel_get_any(NULL, 0, NULL, 0, NULL, NULL)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(cohort_await(cohort_channel_get_any(trio.comms[0], 0, NULL, 4, NULL, NULL)),
                COHORT_ERR_BAD_PARAMETER, "cohort_channel_get_any: no place");
    CHECK_INT(cohort_await(cohort_channel_get_any_object(trio.comms[0], 0, NULL, NULL)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_channel_get_any_object(NULL, 0, &object, NULL)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_channel_probe(NULL, 0, 0, NULL, NULL)), COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(cohort_await(cohort_channel_probe(trio.comms[0], 3, 0, NULL, NULL)),
                COHORT_ERR_BAD_PARAMETER, "site 3 is out of range");
    /* Not by the call for one site. */
    CHECK_FAILS(
        cohort_await(cohort_channel_get(trio.comms[0], COHORT_ANY_SITE, 0, &object, 1, NULL)),
        COHORT_ERR_BAD_PARAMETER, "is out of range");
    int value;
    uint32_t site = 9;
    CHECK_OK(cohort_await(cohort_channel_set(trio.comms[1], 0, 1, "12345", 5)));
    CHECK_FAILS(cohort_await(cohort_channel_get_any(trio.comms[0], 1, &value, 4, NULL, &site)),
                COHORT_ERR_MISMATCH, "from site 1: it has 5 bytes, the buffer 4");
    CHECK_INT(site, 9);
    trio_destroy(&trio);
}

TEST(told)
{
    struct trio trio = trio_create(2);
    int value;
    void *text;
    cohort_future *get = cohort_channel_get_any(trio.comms[0], 77, &value, 4, NULL, NULL);
    CHECK_OK(cohort_await_value(cohort_comm_roll_call(trio.comms[0]), &text));
    CHECK_CONTAINS(text, "waits for a message with tag 77 from any site");
    free(text);
    set(&trio, 2, 0, 77, 3);
    CHECK_OK(cohort_await(get));
    trio_destroy(&trio);
}

/* It waits as long as one other site may set something. */
TEST(others_leave)
{
    for (uint32_t num_localities = 1; num_localities <= 3; num_localities++) {
        struct trio trio = trio_create(num_localities);
        int value;
        uint32_t site = 9;
        set(&trio, 2, 0, 4, 1);
        trio_leave(&trio, 2);
        check_any(&trio, 4, 2, 1);
        cohort_future *get = cohort_channel_get_any(trio.comms[0], 4, &value, 4, NULL, &site);
        cohort_future *probe = cohort_channel_probe(trio.comms[0], COHORT_ANY_SITE, 5, NULL, NULL);
        CHECK_OK(cohort_await(cohort_sleep(50000000))); /* more than it asks after */
        CHECK(!cohort_future_ready(get));
        trio_leave(&trio, 1);
        CHECK_FAILS(cohort_await(get), COHORT_ERR_GONE,
                    "tag 4 from any site: all other sites have left the communicator");
        CHECK_INT(site, 9);
        CHECK_INT(cohort_await(probe), COHORT_ERR_GONE);
        trio_destroy(&trio);
    }
}

TEST(getter_leaves)
{
    struct trio trio = trio_create(2);
    int value;
    set(&trio, 1, 0, 5, 1);
    set(&trio, 2, 0, 5, 1); /* one of the two stays, also in the list of its tag */
    CHECK_OK(cohort_await(cohort_channel_get_any(trio.comms[0], 5, &value, 4, NULL, NULL)));
    cohort_future *get = cohort_channel_get_any(trio.comms[0], 4, &value, 4, NULL, NULL);
    trio_leave(&trio, 0);
    CHECK_INT(cohort_await(get), COHORT_ERR_CANCELLED);
    trio_destroy(&trio);
}

TEST(death)
{
    struct trio trio = trio_create(3);
    int value;
    cohort_future *get = cohort_channel_get_any(trio.comms[0], 4, &value, 4, NULL, NULL);
    cluster_kill(trio.cluster, 2);
    CHECK_FAILS(cohort_await(get), COHORT_ERR_PEER_DIED,
                "tag 4 from any site: site 2 is lost: locality 2");
    CHECK_INT(cohort_await(cohort_channel_probe(trio.comms[0], COHORT_ANY_SITE, 4, NULL, NULL)),
              COHORT_ERR_PEER_DIED);
    for (uint32_t site = 0; site < 3; site++)
        cohort_comm_unref(trio.comms[site]);
    cluster_abandon(trio.cluster);
}

static void end_without_dead(struct trio *trio)
{
    for (uint32_t site = 0; site < 3; site++)
        cohort_comm_unref(trio->comms[site]);
    cluster_abandon(trio->cluster);
}

static void check_fails_any(cohort_comm *comm, cohort_status status, const char *why)
{
    int value;
    CHECK_FAILS(cohort_await(cohort_channel_get_any(comm, 4, &value, 4, NULL, NULL)), status, why);
    CHECK_INT(cohort_await(cohort_channel_probe(comm, COHORT_ANY_SITE, 4, NULL, NULL)), status);
}

/* Who has acknowledged a death waits for those that live, until the next one. */
TEST(acknowledged)
{
    struct trio trio = trio_create(3);
    cohort_comm *mine = trio.comms[0];
    int value = 0;
    uint32_t sites[3] = {9, 9, 9};
    CHECK_INT(cohort_comm_acknowledge(NULL, 1), 0);
    CHECK_INT(cohort_comm_acknowledge(mine, UINT32_MAX), 0);
    set(&trio, 2, 0, 5, 7); /* which stays */
    cohort_future *get = cohort_channel_get_any(mine, 4, &value, 4, NULL, NULL);
    cluster_kill(trio.cluster, 2);
    CHECK_INT(cohort_await(get), COHORT_ERR_PEER_DIED);
    CHECK_INT(cohort_comm_failed(mine, sites, 3), 1);
    CHECK_INT(sites[0], 2);
    CHECK_INT(cohort_comm_acknowledge(mine, 0), 0);
    check_fails_any(mine, COHORT_ERR_PEER_DIED, "any site: site 2 is lost: locality 2");
    CHECK_INT(cohort_comm_acknowledge(mine, 1), 1);
    CHECK_INT(cohort_comm_acknowledge(mine, 0), 1); /* it stays so */
    get = cohort_channel_get_any(mine, 4, &value, 4, NULL, &sites[2]);
    CHECK_OK(cohort_await(cohort_sleep(50000000))); /* more than it asks after */
    CHECK(!cohort_future_ready(get));
    set(&trio, 1, 0, 4, 8);
    CHECK_OK(cohort_await(get));
    CHECK(value == 8 && sites[2] == 1);
    check_any(&trio, 5, 2, 7);
    CHECK_INT(cohort_await(cohort_channel_get(mine, 2, 4, &value, 4, NULL)), COHORT_ERR_PEER_DIED);
    CHECK_INT(cohort_await(cohort_barrier(mine, 1)), COHORT_ERR_PEER_DIED);
    get = cohort_channel_get_any(mine, 4, &value, 4, NULL, NULL);
    cluster_kill(trio.cluster, 1);
    CHECK_INT(cohort_await(get), COHORT_ERR_PEER_DIED);
    check_fails_any(mine, COHORT_ERR_PEER_DIED, "any site: site 1 is lost: locality 1");
    CHECK_INT(cohort_comm_failed(mine, sites, 3), 2);
    CHECK(sites[0] == 2 && sites[1] == 1);
    CHECK_INT(cohort_comm_acknowledge(mine, UINT32_MAX), 2);
    check_fails_any(mine, COHORT_ERR_GONE, "have left the communicator, or have died");
    end_without_dead(&trio);
}

static atomic_uint num_looks; /* whether a locality is dead */

bool __real_cohort__process_death_of(struct cohort__process *process, uint32_t rank,
                                     struct cohort__death *ret_death);
bool __wrap_cohort__process_death_of(struct cohort__process *process, uint32_t rank,
                                     struct cohort__death *ret_death)
{
    atomic_fetch_add(&num_looks, 1);
    return __real_cohort__process_death_of(process, rank, ret_death);
}

/* Each get looks at one locality, the next one that may be there, and not at all of them. */
TEST(acknowledged_cost)
{
    enum { GETS = 200 };
    struct trio trio = trio_create(3);
    int values[GETS];
    cohort_future *gets[GETS];
    cluster_kill(trio.cluster, 2);
    check_fails_any(trio.comms[0], COHORT_ERR_PEER_DIED, "site 2 is lost");
    CHECK_INT(cohort_comm_acknowledge(trio.comms[0], 1), 1);
    set(&trio, 1, 0, 4, 1); /* so that the first one knows that all is acknowledged */
    check_any(&trio, 4, 1, 1);
    for (int i = 0; i < GETS; i++) {
        if (i == 1)
            atomic_store(&num_looks, 0);
        gets[i] = cohort_channel_get_any(trio.comms[0], 4, &values[i], 4, NULL, NULL);
    }
    for (int i = 0; i < GETS; i++)
        set(&trio, 1, 0, 4, i);
    for (int i = 0; i < GETS; i++) {
        CHECK_OK(cohort_await(gets[i]));
        CHECK_INT(values[i], i);
    }
    CHECK(atomic_load(&num_looks) <= 2 * GETS);
    end_without_dead(&trio);
}

/* Those that live have left: nobody is waited for. Sites that die together are acknowledged
 * together. */
TEST(acknowledged_rest)
{
    struct trio trio = trio_create(3);
    cluster_kill(trio.cluster, 2);
    check_fails_any(trio.comms[0], COHORT_ERR_PEER_DIED, "site 2 is lost");
    CHECK_INT(cohort_comm_acknowledge(trio.comms[0], 1), 1);
    trio_leave(&trio, 1);
    check_fails_any(trio.comms[0], COHORT_ERR_GONE, "have left the communicator, or have died");
    end_without_dead(&trio);

    trio = trio_create(2); /* sites 0 and 2 are in locality 0 */
    cluster_kill(trio.cluster, 0);
    check_fails_any(trio.comms[1], COHORT_ERR_PEER_DIED, "site 0 is lost");
    CHECK_INT(cohort_comm_acknowledge(trio.comms[1], 1), 0);
    check_fails_any(trio.comms[1], COHORT_ERR_PEER_DIED, "site 0 is lost");
    CHECK_INT(cohort_comm_acknowledge(trio.comms[1], 2), 2);
    check_fails_any(trio.comms[1], COHORT_ERR_GONE, "have left the communicator, or have died");
    end_without_dead(&trio);
}
