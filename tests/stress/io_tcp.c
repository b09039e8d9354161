/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that are cancelled, closed and given up at any moment, by tasks, by threads outside,
 * and by the end of the runtime. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/random.h"
#include "runtime/base/sanitizer.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/io/run_io.h"

enum {
    SCALE = COHORT__TSAN || COHORT__ASAN ? 8 : 1,
    NUM_CLIENTS = 20,
    NUM_ROUNDS = 32 / SCALE,
    NUM_RUNTIMES = 120 / SCALE,
    NUM_THREADS = 3,
    MOST_BYTES = 300000,
    SEED = 815,
};

static cohort_tcp_listener *listener;

/* What may become of a call when others cancel and close. */
static void check_end(cohort_status status)
{
    CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED || status == COHORT_ERR_GONE ||
          status == COHORT_ERR_SYSTEM);
}

static cohort_status echo(void *arg)
{
    cohort_tcp *tcp = arg;
    char buffer[5000];
    size_t bytes;
    while (!cohort_await(cohort_tcp_read(tcp, buffer, sizeof(buffer), &bytes)) && bytes > 0)
        if (cohort_await(cohort_tcp_write(tcp, buffer, bytes)))
            break;
    cohort_tcp_unref(tcp);
    return COHORT_OK;
}

static cohort_status serve(void *arg)
{
    cohort_scope *scope = arg;
    cohort_tcp *tcp;
    cohort_status status;
    while (!(status = cohort_await(cohort_tcp_accept(listener, &tcp))))
        CHECK_OK(cohort_scope_async(scope, echo, tcp));
    return status == COHORT_ERR_GONE ? COHORT_OK : status;
}

struct exchange {
    struct cohort__random random;
    size_t bytes, got;
    unsigned char data[MOST_BYTES], back[MOST_BYTES];
    cohort_tcp *tcp;
};

static cohort_status send_data(void *arg)
{
    struct exchange *exchange = arg;
    return cohort_await(cohort_tcp_write(exchange->tcp, exchange->data, exchange->bytes));
}

/* Whatever becomes of it, what has come back is what was sent. */
static void receive_data(struct exchange *exchange)
{
    cohort_status status = COHORT_OK;
    size_t more = 1;
    while (!status && more > 0 && exchange->got < exchange->bytes) {
        status = cohort_await(cohort_tcp_read(exchange->tcp, exchange->back + exchange->got,
                                              exchange->bytes - exchange->got, &more));
        if (!status)
            exchange->got += more;
    }
    check_end(status);
    CHECK(memcmp(exchange->data, exchange->back, exchange->got) == 0);
}

static cohort_status run_exchange(void *arg)
{
    struct exchange *exchange = arg;
    uint64_t kind = cohort__random_below(&exchange->random, 4);
    cohort_status status = cohort_await(
        cohort_tcp_connect("127.0.0.1", cohort_tcp_listener_port(listener), &exchange->tcp));
    check_end(status);
    if (status)
        return COHORT_OK;
    cohort_future *sent = cohort_async(send_data, exchange);
    if (kind == 0)
        cohort_yield();
    else
        receive_data(exchange);
    if (kind <= 1)
        cohort_future_unref(cohort_tcp_close(exchange->tcp));
    status = cohort_await(sent);
    check_end(status);
    cohort_tcp_unref(exchange->tcp);
    return COHORT_OK;
}

static cohort_status client(void *seed)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange));
    CHECK(exchange != NULL);
    exchange->random = cohort__random_seeded((uintptr_t)seed);
    for (size_t i = 0; i < MOST_BYTES; i++)
        exchange->data[i] = (unsigned char)(i * 7 ^ i >> 8 ^ (uintptr_t)seed);
    for (int round = 0; round < NUM_ROUNDS; round++) {
        cohort_scope *scope;
        bool is_limited = cohort__random_below(&exchange->random, 2) == 0;
        uint64_t limit = 1 + cohort__random_below(&exchange->random, 2000000);
        exchange->bytes = 1 + cohort__random_below(&exchange->random, MOST_BYTES);
        exchange->got = 0;
        CHECK_OK(cohort_scope_create(
            &(cohort_scope_options){.limit_nanoseconds = is_limited ? limit : 0}, &scope));
        cohort_status status = cohort_scope_async(scope, run_exchange, exchange);
        CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED);
        status = cohort_scope_await(scope);
        CHECK(status == COHORT_OK || (is_limited && status == COHORT_ERR_TIMEOUT));
    }
    free(exchange);
    return COHORT_OK;
}

static cohort_status mix(void *arg)
{
    cohort_future *futures[NUM_CLIENTS];
    cohort_scope *scope;
    CHECK_OK(cohort_await(cohort_tcp_listen("127.0.0.1", 0, &listener)));
    CHECK_OK(cohort_scope_create(NULL, &scope));
    CHECK_OK(cohort_scope_async(scope, serve, scope));
    for (uintptr_t i = 0; i < NUM_CLIENTS; i++)
        futures[i] = cohort_async(client, (void *)(SEED + i));
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_CLIENTS)));
    CHECK_OK(cohort_await(cohort_tcp_listener_close(listener)));
    CHECK_OK(cohort_scope_await(scope));
    cohort_tcp_listener_unref(listener);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(mixed)
{
    fprintf(stderr, "seed %d\n", SEED);
    run_io(mix);
    run_io_with(8, false, mix);
    CHECK_TEXT(logged, "");
}

/* --- threads outside, while the runtime starts and stops --- */

static atomic_bool is_over;

static void check_call(cohort_status status)
{
    CHECK(status == COHORT_OK || status == COHORT_ERR_STATE || status == COHORT_ERR_CANCELLED ||
          status == COHORT_ERR_GONE || status == COHORT_ERR_SYSTEM);
}

static void *use_all_the_time(void *arg)
{
    while (!atomic_load(&is_over)) {
        cohort_tcp_listener *own;
        cohort_tcp *tcp, *accepted;
        check_call(cohort_await(cohort_run_on_loop(do_nothing, arg)));
        cohort_status status = cohort_await(cohort_tcp_listen("127.0.0.1", 0, &own));
        check_call(status);
        if (status)
            continue;
        cohort_future *accept = cohort_tcp_accept(own, &accepted);
        status = cohort_await(cohort_tcp_connect("127.0.0.1", cohort_tcp_listener_port(own), &tcp));
        check_call(status);
        if (status)
            cohort_tcp_listener_unref(own); /* ends the accept, if the runtime does not */
        bool is_accepted = cohort_await(accept) == COHORT_OK;
        if (!status) {
            check_call(cohort_await(cohort_tcp_write(tcp, "x", 1)));
            check_call(cohort_await(cohort_tcp_close(tcp)));
            cohort_tcp_unref(tcp);
            cohort_tcp_listener_unref(own);
        }
        if (is_accepted)
            cohort_tcp_unref(accepted);
    }
    return NULL;
}

static cohort_status look_on(void *arg)
{
    for (int i = 0; i < 20; i++)
        let_begin();
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(stops)
{
    pthread_t threads[NUM_THREADS];
    atomic_store(&is_over, false);
    for (int i = 0; i < NUM_THREADS; i++)
        threads[i] = new_thread(use_all_the_time, NULL);
    for (unsigned i = 0; i < NUM_RUNTIMES; i++)
        run_io_with(1 + i % 3, i % 2 == 1, look_on);
    atomic_store(&is_over, true);
    for (int i = 0; i < NUM_THREADS; i++)
        end_thread(threads[i]);
}
