/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of one locality, one by one. There is no scheduler: no function can be started. */
#include "runtime/remote/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/remote/private.h"
#include "runtime/task/future.h"
#include "runtime/wire/bins.h"
#include "runtime/wire/pack.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/proc/fake_net.h"

enum { PEER = 1 };

static struct fake_net fake;

static struct cohort__remote_tasks *open_tasks(void)
{
    fake_net_open(&fake, 0);
    CHECK_OK(cohort__remote_tasks_create(fake.process));
    return cohort__remote_tasks_of(fake.process);
}

static struct fake_sent last_sent(void)
{
    CHECK(fake.num_sent > 0);
    return fake.sent[fake.num_sent - 1];
}

static cohort_future *call(const void *data, size_t bytes, cohort_object *ret_out)
{
    return cohort__async_at_from(fake.process, PEER, "f", &(cohort_object){(void *)data, bytes},
                                 ret_out);
}

static void result(enum cohort__kind kind, uint64_t number, uint32_t admitted, const void *data,
                   size_t bytes)
{
    fake_net_deliver(&fake, PEER,
                     (struct cohort__envelope){.kind = kind,
                                               .instance = COHORT__INSTANCE_REMOTE,
                                               .generation = number,
                                               .source_site = admitted,
                                               .tag = COHORT__REMOTE_RESULT},
                     data, bytes);
}

/* FUTURE is complete. Its reference is given back. */
static void check_over(cohort_future *future, cohort_status want, const char *text)
{
    struct cohort__error error = {0};
    CHECK(cohort_future_ready(future));
    CHECK_INT(cohort__future_status(future), want);
    if (want) {
        cohort__future_error(future, &error);
        CHECK_CONTAINS(cohort__error_message(&error), text);
        cohort__error_fini(&error);
    }
    cohort_future_unref(future);
}

static void check_busy(bool is_busy)
{
    CHECK_INT(cohort__process_traffic(fake.process).busy, is_busy);
}

#define TEST_TASKS(name) TEST_BETWEEN(name, open_tasks(), fake_net_close(&fake))

TEST_TASKS(call)
{
    cohort_object out = {(void *)"x", 1};
    cohort_future *future = call("hello", 5, &out);
    CHECK(!out.data && out.bytes == 0);
    struct fake_sent sent = last_sent();
    CHECK_INT(sent.peer, PEER);
    CHECK_INT(sent.envelope.kind, COHORT__KIND_DATA);
    CHECK_INT((long long)sent.envelope.instance, (long long)COHORT__INSTANCE_REMOTE);
    CHECK_INT(sent.envelope.tag, COHORT__REMOTE_CALL);
    CHECK_INT(sent.envelope.dest_site, 1);
    CHECK(sent.envelope.fingerprint == cohort__remote_hash("f"));
    CHECK(memcmp(sent.payload, "hello", 5) == 0);
    CHECK(!cohort_future_ready(future));
    check_busy(true);
    result(COHORT__KIND_DATA, sent.envelope.generation, 1, "bye", 3);
    check_over(future, COHORT_OK, "");
    CHECK(out.bytes == 3 && memcmp(out.data, "bye", 3) == 0);
    check_busy(false);
    cohort_object_fini(&out);
}

TEST_TASKS(result_not_wanted)
{
    cohort_future *future = call(NULL, 0, NULL);
    result(COHORT__KIND_DATA, last_sent().envelope.generation, 1, "bye", 3);
    check_over(future, COHORT_OK, "");
    future = call(NULL, 0, NULL);
    uint64_t number = last_sent().envelope.generation;
    fake_net_deliver(&fake, PEER,
                     (struct cohort__envelope){.kind = COHORT__KIND_ANNOUNCE,
                                               .instance = COHORT__INSTANCE_REMOTE,
                                               .generation = number,
                                               .tag = COHORT__REMOTE_RESULT,
                                               .total_bytes = 5000,
                                               .handle = 77},
                     "token.token.token.token.token.token.toke", COHORT__ENVELOPE_TOKEN_BYTES);
    check_over(future, COHORT_OK, "");
    CHECK_INT(fake.num_fetches, 0);
    CHECK_INT(last_sent().envelope.kind, COHORT__KIND_FETCHED); /* declined */
    CHECK_INT((long long)last_sent().envelope.handle, 77);
    CHECK_INT(last_sent().envelope.tag, 1);
}

/* Not more than a window of calls is sent until some are known to be admitted. */
TEST(window)
{
    struct cohort__remote_tasks *tasks = open_tasks();
    enum { MORE = 10 };
    uint32_t window = tasks->window;
    CHECK(window + MORE <= 400);
    cohort_future *futures[400];
    for (uint32_t i = 0; i < window + MORE; i++)
        futures[i] = call(&i, 0, NULL);
    size_t before = fake.num_sent;
    CHECK_INT((long long)before, window);
    fake_net_deliver(&fake, PEER,
                     (struct cohort__envelope){.kind = COHORT__KIND_ANSWER,
                                               .instance = COHORT__INSTANCE_REMOTE,
                                               .source_site = 3,
                                               .drained = 200,
                                               .tag = COHORT__REMOTE_ADMITTED},
                     NULL, 0);
    CHECK_INT((long long)(fake.num_sent - before), 3);
    result(COHORT__KIND_DATA, 1, 2, NULL, 0); /* tells as well */
    CHECK_INT((long long)(fake.num_sent - before), 5);
    check_over(futures[0], COHORT_OK, "");
    result(COHORT__KIND_DATA, 2, 0, NULL, 0); /* a result alone makes no room */
    CHECK_INT((long long)(fake.num_sent - before), 5);
    check_over(futures[1], COHORT_OK, "");
    cohort__process_peer_lost(fake.process, PEER, "was killed");
    for (uint32_t i = 2; i < window + MORE; i++) /* those that were sent, and those that waited */
        check_over(futures[i], COHORT_ERR_PEER_DIED, "at locality 1: locality 1 was killed");
    check_over(call(NULL, 0, NULL), COHORT_ERR_PEER_DIED, "locality 1 was killed");
    check_busy(false);
    fake_net_close(&fake);
}

/* Results that nobody waits for change nothing. */
TEST_TASKS(unexpected)
{
    cohort_future *future = call(NULL, 0, NULL);
    uint64_t number = last_sent().envelope.generation;
    result(COHORT__KIND_DATA, number + 1, 0, "x", 1);
    CHECK(!cohort_future_ready(future));
    result(COHORT__KIND_DATA, number, 1000000, "x", 1);
    result(COHORT__KIND_DATA, number, 1, "y", 1); /* twice */
    result(COHORT__KIND_ERROR, number, 1, "y", 1);
    check_over(future, COHORT_OK, "");
}

TEST_TASKS(error)
{
    struct cohort__error error = {0};
    struct cohort__packer packer = {0};
    cohort__error_set(&error, COHORT_ERR_FAILED, "no such row");
    cohort__remote_error_pack(&packer, &error);
    cohort_object out;
    cohort_future *future = call(NULL, 0, &out);
    result(COHORT__KIND_ERROR, last_sent().envelope.generation, 1, packer.data, packer.bytes);
    check_over(future, COHORT_ERR_FAILED, "remote task \"f\" at locality 1: no such row");
    CHECK(!out.data);
    future = call(NULL, 0, &out);
    result(COHORT__KIND_ERROR, last_sent().envelope.generation, 1, "nonsense", 8);
    check_over(future, COHORT_ERR_PROTOCOL, "remote task \"f\" at locality 1: ");
    cohort__packer_fini(&packer);
    cohort__error_fini(&error);
}

/* The transport reads IN until it has been fetched: the call must not end before, even if its
 * result is there. */
TEST_TASKS(ends_after_send)
{
    static unsigned char large[FAKE_MAX_PAYLOAD * 2];
    cohort_future *future = call(large, sizeof(large), NULL);
    struct fake_sent sent = last_sent();
    CHECK_INT(sent.envelope.kind, COHORT__KIND_ANNOUNCE);
    result(COHORT__KIND_DATA, sent.envelope.generation, 1, "x", 1);
    CHECK(!cohort_future_ready(future));
    fake_net_deliver(
        &fake, PEER,
        (struct cohort__envelope){.kind = COHORT__KIND_FETCHED, .handle = sent.envelope.handle},
        NULL, 0);
    check_over(future, COHORT_OK, "");
}

/* A long result is fetched; here by a transport that fails, and by one that does not. */
TEST(fetch)
{
    for (int fails = 0; fails < 2; fails++) {
        open_tasks();
        cohort_object out;
        cohort_future *future = call(NULL, 0, &out);
        fake_net_deliver(&fake, PEER,
                         (struct cohort__envelope){.kind = COHORT__KIND_ANNOUNCE,
                                                   .instance = COHORT__INSTANCE_REMOTE,
                                                   .generation = last_sent().envelope.generation,
                                                   .source_site = 1,
                                                   .tag = COHORT__REMOTE_RESULT,
                                                   .total_bytes = FAKE_MAX_FETCH,
                                                   .handle = 5},
                         "token.token.token.token.token.token.toke", COHORT__ENVELOPE_TOKEN_BYTES);
        CHECK_INT(fake.num_fetches, 1);
        CHECK(!cohort_future_ready(future));
        if (!fails)
            memset(fake.fetches[0].destination, 'z', FAKE_MAX_FETCH);
        fake_net_fetched(&fake, 0, fails ? COHORT_ERR_NETWORK : COHORT_OK);
        check_over(future, fails ? COHORT_ERR_NETWORK : COHORT_OK, "at locality 1: ");
        CHECK(fails ? !out.data : out.bytes == FAKE_MAX_FETCH && ((char *)out.data)[99] == 'z');
        cohort_object_fini(&out);
        fake_net_close(&fake);
    }
}

/* Calls of others: of a function that is not there, and of one that can't be started. */
static cohort_status nothing(const cohort_object *in, cohort_object *ret_out, void *context)
{
    return COHORT_OK;
}

static void get_call(const char *name, uint64_t number, uint32_t span)
{
    fake_net_deliver(&fake, PEER,
                     (struct cohort__envelope){.kind = COHORT__KIND_DATA,
                                               .instance = COHORT__INSTANCE_REMOTE,
                                               .generation = number,
                                               .fingerprint = cohort__remote_hash(name),
                                               .dest_site = span,
                                               .tag = COHORT__REMOTE_CALL},
                     "hello", 5);
}

TEST(refused)
{
    CHECK_OK(cohort_remote_register("here", nothing, NULL));
    open_tasks();
    get_call("not here", 9, 1);
    CHECK_INT((long long)fake.num_sent, 1);
    struct fake_sent sent = last_sent();
    CHECK_INT(sent.envelope.kind, COHORT__KIND_ERROR);
    CHECK_INT((long long)sent.envelope.generation, 9);
    CHECK_INT(sent.envelope.tag, COHORT__REMOTE_RESULT);
    CHECK_INT(sent.envelope.source_site, 1); /* it makes room in the caller's window */
    get_call("here", 10, 1);
    CHECK_INT((long long)fake.num_sent, 2);
    CHECK_INT(last_sent().envelope.kind, COHORT__KIND_ERROR);
    CHECK_INT((long long)last_sent().envelope.generation, 10);
    CHECK_INT(last_sent().envelope.source_site, 1);
    check_busy(false);
    get_call("here", 11, 0); /* these make no sense */
    get_call("here", 12, FAKE_SIZE);
    CHECK_INT((long long)fake.num_sent, 2);
    check_busy(false);
    fake_net_close(&fake);
}

TEST_TASKS(wrong_arguments)
{
    cohort_object out = {(void *)"x", 1};
    check_over(cohort__async_at_from(fake.process, PEER, NULL, NULL, &out),
               COHORT_ERR_BAD_PARAMETER, "cohort_async_at: no name");
    CHECK(!out.data);
    check_over(call(NULL, 1, NULL), COHORT_ERR_BAD_PARAMETER, "cohort_async_at: no data");
    check_over(cohort__async_at_from(fake.process, FAKE_SIZE, "f", NULL, NULL),
               COHORT_ERR_BAD_PARAMETER,
               "\"f\" at locality 3: there is no such locality: there are 3");
    check_over(cohort__async_at_from(fake.process, UINT32_MAX, "f", NULL, NULL),
               COHORT_ERR_BAD_PARAMETER, "there is no such locality");
    check_over(cohort__async_at_from(fake.process, 0, "f", NULL, NULL), COHORT_ERR_BAD_PARAMETER,
               "remote task \"f\" at locality 0: no function of that name");
    check_over(cohort__async_at_from(fake.process, 0, "here", NULL, NULL), COHORT_ERR_STATE,
               "the runtime is not up");
    check_over(cohort_async_at(0, "f", NULL, NULL), COHORT_ERR_STATE, "cohort_async_at: ");
    check_over(cohort_async_everywhere("f", NULL, NULL), COHORT_ERR_STATE,
               "cohort_async_everywhere: ");
    check_over(cohort__async_everywhere_from(fake.process, NULL, NULL, NULL),
               COHORT_ERR_BAD_PARAMETER, "cohort_async_everywhere: no name");
    check_over(cohort__async_everywhere_from(fake.process, "f",
                                             &(cohort_object){(void *)"x", SIZE_MAX}, NULL),
               COHORT_ERR_BAD_PARAMETER, "bytes are more than memory");
    CHECK_INT((long long)fake.num_sent, 0);
}

static unsigned num_asked;

static void on_more(void *context)
{
    num_asked++;
}

static size_t count_over(cohort_future *const *futures, size_t num)
{
    size_t num_over = 0;
    for (size_t i = 0; i < num; i++)
        num_over += cohort_future_ready(futures[i]);
    return num_over;
}

/* Some end in each turn: first those that are sent, then those that wait for the window. */
TEST(death_of_many)
{
    enum { A_TURN = COHORT__REMOTE_CALLS_OF_A_TURN, NUM = 3 * A_TURN + 1 };
    cohort_future **futures = test_calloc(NUM, sizeof(*futures));
    fake_net_open_turning(&fake, on_more);
    CHECK_OK(cohort__remote_tasks_create(fake.process));
    for (size_t i = 0; i < NUM; i++)
        futures[i] = call(NULL, 0, NULL);
    num_asked = 0;
    cohort__process_peer_lost(fake.process, PEER, "was killed");
    CHECK_INT((long long)count_over(futures, NUM), A_TURN);
    CHECK(num_asked > 0);
    check_over(call(NULL, 0, NULL), COHORT_ERR_PEER_DIED, "locality 1 was killed");
    cohort__process_tick(fake.process, 0); /* which sends none of those that wait */
    for (size_t num = 2 * A_TURN; num <= 3 * A_TURN; num += A_TURN) {
        CHECK(cohort__process_go_on(fake.process));
        CHECK_INT((long long)count_over(futures, NUM), (long long)num);
        check_busy(true);
    }
    CHECK(!cohort__process_go_on(fake.process));
    check_busy(false);
    for (size_t i = 0; i < NUM; i++)
        check_over(futures[i], COHORT_ERR_PEER_DIED,
                   "remote task \"f\" at locality 1: locality 1 was killed");
    fake_net_close(&fake);
    free(futures);
}

/* The process ends with calls under way. */
TEST(stop)
{
    open_tasks();
    cohort_future *future = call(NULL, 0, NULL);
    fake_net_close(&fake);
    check_over(future, COHORT_ERR_CANCELLED, "remote task \"f\" at locality 1: the job is over");
}
