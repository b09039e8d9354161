/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/remote.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/msgpack.h"
#include "cohort/task.h"
#include "runtime/proc/send.h"
#include "runtime/remote/tasks.h"
#include "tests/support/cluster.h"

/* What goes wrong comes back to the caller, with a message that names the function and the
 * locality, and harms nobody else. */

static struct cluster *cluster;

static cohort_future *call(uint32_t locality, const char *name, const cohort_object *in,
                           cohort_object *ret_out)
{
    return cohort__async_at_from(cluster_process(cluster, 0), locality, name, in, ret_out);
}

static cohort_status square(const cohort_object *in, cohort_object *ret_out, void *context)
{
    msgpack_unpacked value = {0};
    cohort_status status = cohort_object_unpack(in, &value);
    if (status)
        return status;
    if (value.data.type != MSGPACK_OBJECT_POSITIVE_INTEGER) {
        msgpack_unpacked_destroy(&value);
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "square: not a number");
    }
    value.data.via.u64 *= value.data.via.u64;
    status = cohort_object_pack(&value.data, ret_out);
    msgpack_unpacked_destroy(&value);
    return status;
}

static void check_square(uint32_t locality)
{
    msgpack_object number = {.type = MSGPACK_OBJECT_POSITIVE_INTEGER, .via.u64 = 1234567};
    cohort_object in, out;
    msgpack_unpacked value = {0};
    CHECK_OK(cohort_object_pack(&number, &in));
    CHECK_OK(cohort_await(call(locality, "square", &in, &out)));
    CHECK_OK(cohort_object_unpack(&out, &value));
    CHECK(value.data.via.u64 == UINT64_C(1234567) * 1234567);
    msgpack_unpacked_destroy(&value);
    cohort_object_fini(&in);
    cohort_object_fini(&out);
}

/* The call fails, and the next one works. */
static void check_failure(uint32_t locality, const char *name, const cohort_object *in,
                          cohort_status want, const char *text)
{
    cohort_object out = {(void *)"x", 1};
    CHECK_INT(cohort_await(call(locality, name, in, &out)), want);
    CHECK(!out.data && out.bytes == 0);
    CHECK_CONTAINS(cohort_error_message(), text);
    check_square(locality);
}

#define TEST_IN_CLUSTER(name) TEST_BETWEEN(name, (void)0, cluster_destroy(cluster))

TEST_IN_CLUSTER(bytes)
{
    static const unsigned char list[] = {0x90}, cut_off[] = {0xcd, 1}, nothing[] = {0xc1},
                               two[] = {1, 2};
    cluster = cluster_create(1, 3, 0);
    for (uint32_t at = 0; at < 3; at++) {
        const char *where[] = {"\"square\" at locality 0: cohort_object_unpack: ",
                               "\"square\" at locality 1: cohort_object_unpack: ",
                               "\"square\" at locality 2: cohort_object_unpack: "};
        check_square(at);
        check_failure(at, "square", &(cohort_object){(void *)cut_off, 2}, COHORT_ERR_PROTOCOL,
                      where[at]);
        check_failure(at, "square", &(cohort_object){(void *)nothing, 1}, COHORT_ERR_PROTOCOL,
                      "not msgpack");
        check_failure(at, "square", &(cohort_object){(void *)two, 2}, COHORT_ERR_PROTOCOL,
                      "1 bytes behind the value");
        check_failure(at, "square", NULL, COHORT_ERR_PROTOCOL, "0 bytes are no value");
        check_failure(at, "square", &(cohort_object){(void *)list, 1}, COHORT_ERR_BAD_PARAMETER,
                      "square: not a number");
    }
}

TEST_IN_CLUSTER(unknown_name)
{
    static unsigned char large[100000];
    const char *want = "no function of that name is registered there";
    cluster = cluster_create(2, 2, 0);
    check_failure(0, "circle", NULL, COHORT_ERR_BAD_PARAMETER,
                  "remote task \"circle\" at locality 0: ");
    check_failure(1, "circle", NULL, COHORT_ERR_BAD_PARAMETER,
                  "remote task \"circle\" at locality 1: ");
    check_failure(1, "circle", &(cohort_object){large, 200}, COHORT_ERR_BAD_PARAMETER, want);
    check_failure(1, "circle", &(cohort_object){large, 5000}, COHORT_ERR_BAD_PARAMETER, want);
    check_failure(1, "circle", &(cohort_object){large, sizeof(large)}, COHORT_ERR_BAD_PARAMETER,
                  want);
    check_failure(1, "", NULL, COHORT_ERR_BAD_PARAMETER, want);
}

/* A call that is refused is taken out of the caller's window, which would be full otherwise. */
TEST_IN_CLUSTER(many_refused)
{
    cluster = cluster_create(2, 2, 0);
    for (int i = 0; i < 2 * (int)cohort__send_window(2); i++)
        CHECK_INT(cohort_await(call(1, "circle", NULL, NULL)), COHORT_ERR_BAD_PARAMETER);
    check_square(1);
}

/* Fails with the status that it gets, in the way that it gets. */
static cohort_status fail(const cohort_object *in, cohort_object *ret_out, void *context)
{
    int how[2];
    CHECK_INT((long long)in->bytes, sizeof(how));
    memcpy(how, in->data, sizeof(how));
    cohort_yield();
    switch (how[1]) {
    case 0:
        return cohort_fail((cohort_status)how[0], "row %d is bad", 7);
    case 1: /* without a message, and with a result that is not wanted */
        ret_out->data = malloc(5);
        ret_out->bytes = 5;
        return (cohort_status)how[0];
    case 2: /* with a message of another status, and IN as the result */
        (void)cohort_fail(COHORT_ERR_SYSTEM, "something else");
        *ret_out = *in;
        return (cohort_status)how[0];
    default: /* of what it has called */
        return cohort_await(
            cohort_future_of_error((cohort_status)how[0], "what it has awaited has failed"));
    }
}

TEST_IN_CLUSTER(fails)
{
    cluster = cluster_create(3, 2, 0);
    for (uint32_t at = 0; at < 2; at++) {
        int how[2] = {COHORT_ERR_MISMATCH, 0};
        const cohort_object in = {how, sizeof(how)};
        check_failure(at, "fail", &in, COHORT_ERR_MISMATCH,
                      at ? "remote task \"fail\" at locality 1: row 7 is bad"
                         : "remote task \"fail\" at locality 0: row 7 is bad");
        how[1] = 1;
        check_failure(at, "fail", &in, COHORT_ERR_MISMATCH,
                      at ? "remote task \"fail\" at locality 1: sites disagree"
                         : "remote task \"fail\" at locality 0: sites disagree");
        how[1] = 2;
        check_failure(at, "fail", &in, COHORT_ERR_MISMATCH, ": sites disagree");
        how[0] = -77; /* of the user's own */
        how[1] = 3;
        check_failure(at, "fail", &in, (cohort_status)-77, ": what it has awaited has failed");
    }
}

/* A function that returns what it does not have. */
static cohort_status lie(const cohort_object *in, cohort_object *ret_out, void *context)
{
    *ret_out = (cohort_object){in->data, in->bytes + 1};
    return COHORT_OK;
}

TEST_IN_CLUSTER(lies)
{
    cluster = cluster_create(5, 2, 0);
    for (uint32_t at = 0; at < 2; at++) {
        check_failure(at, "lie", NULL, COHORT_ERR_BAD_PARAMETER,
                      ": the function has returned 1 bytes where there are 0");
        check_failure(at, "lie", &(cohort_object){"abc", 3}, COHORT_ERR_BAD_PARAMETER,
                      ": the function has returned 4 bytes where there are 3");
    }
}

TEST_IN_CLUSTER(parameters)
{
    cluster = cluster_create(4, 2, 0);
    check_failure(1, "square", &(cohort_object){NULL, 1}, COHORT_ERR_BAD_PARAMETER, "no data");
    check_failure(1, "square", &(cohort_object){"abc", SIZE_MAX}, COHORT_ERR_BAD_PARAMETER,
                  "bytes are more than memory");
    CHECK_FAILS(cohort_await(call(1, NULL, NULL, NULL)), COHORT_ERR_BAD_PARAMETER,
                "cohort_async_at: no name");
    CHECK_FAILS(cohort_await(call(2, "square", NULL, NULL)), COHORT_ERR_BAD_PARAMETER,
                "\"square\" at locality 2: there is no such locality: there are 2");
    CHECK_INT(cohort_await(call(UINT32_MAX, "square", NULL, NULL)), COHORT_ERR_BAD_PARAMETER);
}

/* There is no current process in these tests, as before the start of a job. */
TEST(state)
{
    cohort_object out = {(void *)"x", 1};
    CHECK_FAILS(cohort_await(cohort_async_at(0, "square", NULL, &out)), COHORT_ERR_STATE,
                "cohort_async_at: the runtime is not up");
    CHECK(!out.data);
    CHECK_FAILS(cohort_await(cohort_async_everywhere("square", NULL, NULL)), COHORT_ERR_STATE,
                "cohort_async_everywhere: the runtime is not up");
}

int main(int argc, char **argv)
{
    CHECK_OK(cohort_remote_register("square", square, NULL));
    CHECK_OK(cohort_remote_register("fail", fail, NULL));
    CHECK_OK(cohort_remote_register("lie", lie, NULL));
    return cluster_test(argc, argv, 1);
}
