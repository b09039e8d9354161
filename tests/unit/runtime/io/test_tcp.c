/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "runtime/io/tcp.h"
#include "tests/support/await_within.h"
#include "tests/unit/runtime/io/run_io.h"

enum { MUCH = 24 << 20 }; /* more than the system keeps of a connection */

static void write_text(cohort_tcp *tcp, const char *text)
{
    CHECK_OK(cohort_await(cohort_tcp_write(tcp, text, strlen(text))));
}

static void check_read(cohort_tcp *tcp, const char *text)
{
    char buffer[100];
    size_t bytes = 1, have = 0;
    for (; have < strlen(text); have += bytes) {
        CHECK_OK(cohort_await(cohort_tcp_read(tcp, buffer + have, strlen(text) - have, &bytes)));
        CHECK(bytes > 0);
    }
    CHECK(memcmp(buffer, text, have) == 0);
}

static void check_end(cohort_tcp *tcp)
{
    char byte;
    size_t bytes = 1;
    CHECK_OK(cohort_await(cohort_tcp_read(tcp, &byte, 1, &bytes)));
    CHECK_INT(bytes, 0);
}

/* --- data --- */

TEST_TASK(talk, run_io(task))
{
    struct pair pair;
    pair_create(&pair);
    CHECK_CONTAINS(cohort_tcp_peer(pair.ends[0]), "127.0.0.1:");
    CHECK(strcmp(cohort_tcp_peer(pair.ends[0]), cohort_tcp_peer(pair.ends[1])) != 0);
    write_text(pair.ends[0], "hello");
    write_text(pair.ends[1], "and the other way");
    check_read(pair.ends[0], "and the");
    check_read(pair.ends[0], " other way");
    check_read(pair.ends[1], "hello");
    write_text(pair.ends[0], "last");
    CHECK_OK(cohort_await(cohort_tcp_write(pair.ends[0], NULL, 0)));
    CHECK_OK(cohort_await(cohort_tcp_shutdown(pair.ends[0])));
    check_read(pair.ends[1], "last");
    check_end(pair.ends[1]);
    check_end(pair.ends[1]);
    write_text(pair.ends[1], "still heard");
    check_read(pair.ends[0], "still heard");
    check_fails(cohort_tcp_write(pair.ends[0], "x", 1), COHORT_ERR_SYSTEM, "(EPIPE)");
    pair_unref(&pair);
}

static unsigned char byte_at(size_t i)
{
    return (unsigned char)(i ^ i >> 8 ^ i >> 16);
}

/* A writer waits for its reader, and nothing is lost; meanwhile the same in the other direction. */
static cohort_status move_much(void *arg)
{
    struct pair pair;
    unsigned char *data = malloc(MUCH), *buffer = malloc(MUCH);
    CHECK(data && buffer && !arg);
    for (size_t i = 0; i < MUCH; i++)
        data[i] = byte_at(i);
    pair_create(&pair);
    cohort_future *there = cohort_tcp_write(pair.ends[0], data, MUCH);
    cohort_future *back = cohort_tcp_write(pair.ends[1], data, MUCH);
    cohort_future *end = cohort_tcp_shutdown(pair.ends[0]);
    let_begin();
    for (size_t have = 0, bytes; have < MUCH; have += bytes) {
        CHECK(have > 0 || !cohort_future_ready(there));
        CHECK_OK(cohort_await(cohort_tcp_read(pair.ends[1], buffer + have, MUCH - have, &bytes)));
        CHECK(bytes > 0);
    }
    CHECK_OK(cohort_await(there));
    CHECK(memcmp(data, buffer, MUCH) == 0);
    CHECK(!cohort_future_ready(back));
    CHECK_OK(cohort_await(end));
    check_end(pair.ends[1]);
    memset(buffer, 0, MUCH);
    for (size_t have = 0, bytes; have < MUCH; have += bytes)
        CHECK_OK(cohort_await(cohort_tcp_read(pair.ends[0], buffer + have, 100000, &bytes)));
    CHECK(memcmp(data, buffer, MUCH) == 0);
    CHECK_OK(cohort_await(back));
    pair_unref(&pair);
    free(data);
    free(buffer);
    return COHORT_OK;
}

TEST_CALL(much, run_io_with(2, false, move_much))

static uv_os_fd_t descriptor(const cohort_tcp *tcp)
{
    uv_os_fd_t fd;
    CHECK_INT(uv_fileno((const uv_handle_t *)&tcp->uv, &fd), 0);
    return fd;
}

/* A shutdown does not wait for the peer, and a second one changes nothing. */
static cohort_status shut_down(void *arg)
{
    struct pair pair;
    char *much = calloc(1, MUCH);
    CHECK(much && !arg);
    pair_create(&pair);
    while (write(descriptor(pair.ends[0]), much, MUCH) > 0)
        ; /* until the system has no room for more */
    CHECK_OK(await_within(cohort_tcp_shutdown(pair.ends[0]), 10000000000));
    CHECK_OK(cohort_await(cohort_tcp_shutdown(pair.ends[0])));
    for (size_t bytes = 1; bytes > 0;)
        CHECK_OK(cohort_await(cohort_tcp_read(pair.ends[1], much, MUCH, &bytes)));
    write_text(pair.ends[1], "still heard");
    check_read(pair.ends[0], "still heard");
    CHECK_OK(cohort_await(cohort_tcp_shutdown(pair.ends[1])));
    check_end(pair.ends[0]); /* both directions have ended */
    for (int i = 0; i < 2; i++)
        CHECK_OK(cohort_await(cohort_tcp_shutdown(pair.ends[i])));
    pair_unref(&pair);
    free(much);
    return COHORT_OK;
}

TEST_CALL(shutdown, run_io(shut_down))

/* Writes are sent as a whole, and reads are served in turn. */
TEST_TASK(order, run_io(task))
{
    enum { NUM = 200 };
    static char sent[NUM], got[NUM];
    static size_t bytes[NUM];
    cohort_future *writes[NUM], *reads[NUM];
    struct pair pair;
    pair_create(&pair);
    for (int i = 0; i < NUM; i++)
        reads[i] = cohort_tcp_read(pair.ends[1], &got[i], 1, &bytes[i]);
    for (int i = 0; i < NUM; i++) {
        sent[i] = (char)i;
        writes[i] = cohort_tcp_write(pair.ends[0], &sent[i], 1);
    }
    CHECK_OK(cohort_await(cohort_when_all(writes, NUM)));
    CHECK_OK(cohort_await(cohort_when_all(reads, NUM)));
    for (int i = 0; i < NUM; i++)
        CHECK(got[i] == (char)i && bytes[i] == 1);
    pair_unref(&pair);
}

/* A wait may have a limit; the read goes on. */
TEST_TASK(limit, run_io(task))
{
    enum cohort_wait_end end;
    struct pair pair;
    char byte = 'a';
    size_t bytes;
    pair_create(&pair);
    cohort_future *read = cohort_tcp_read(pair.ends[0], &byte, 1, &bytes);
    CHECK_OK(cohort_wait(read, 1000, &end));
    CHECK_INT(end, COHORT_WAIT_EXPIRED);
    write_text(pair.ends[1], "b");
    CHECK_OK(cohort_await(read));
    CHECK_INT(byte, 'b');
    pair_unref(&pair);
}

/* --- what goes wrong --- */

TEST_TASK(wrong_calls, run_io_with(1, false, task))
{
    struct pair pair;
    char byte;
    size_t bytes = 77;
    pair_create(&pair);
    check_fails(cohort_tcp_read(NULL, &byte, 1, &bytes), COHORT_ERR_BAD_PARAMETER, "tcp is NULL");
    check_fails(cohort_tcp_read(pair.ends[0], NULL, 1, &bytes), COHORT_ERR_BAD_PARAMETER,
                "cohort_tcp_read: buffer is NULL");
    check_fails(cohort_tcp_read(pair.ends[0], &byte, 0, &bytes), COHORT_ERR_BAD_PARAMETER,
                "no bytes are asked for");
    check_fails(cohort_tcp_read(pair.ends[0], &byte, 1, NULL), COHORT_ERR_BAD_PARAMETER,
                "ret_bytes is NULL");
    check_fails(cohort_tcp_write(NULL, "", 0), COHORT_ERR_BAD_PARAMETER, "tcp is NULL");
    check_fails(cohort_tcp_write(pair.ends[0], NULL, 1), COHORT_ERR_BAD_PARAMETER, "data is NULL");
    check_fails(cohort_tcp_read(pair.ends[0], &byte, SIZE_MAX, &bytes), COHORT_ERR_BAD_PARAMETER,
                "that many bytes are more than memory");
    check_fails(cohort_tcp_write(pair.ends[0], "a", SIZE_MAX), COHORT_ERR_BAD_PARAMETER,
                "that many bytes are more than memory");
    check_fails(cohort_tcp_shutdown(NULL), COHORT_ERR_BAD_PARAMETER, "tcp is NULL");
    check_fails(cohort_tcp_close(NULL), COHORT_ERR_BAD_PARAMETER, "tcp is NULL");
    CHECK_TEXT(cohort_tcp_peer(NULL), "");
    CHECK(!cohort_tcp_ref(NULL));
    cohort_tcp_unref(NULL);
    CHECK_INT(bytes, 77);
    pair_unref(&pair);
}

static cohort_status no_memory(void *arg)
{
    struct pair pair;
    char byte;
    size_t bytes = 77;
    pair_create(&pair);
    has_no_memory = true;
    check_fails(cohort_tcp_read(pair.ends[0], &byte, 1, &bytes), COHORT_ERR_NO_MEMORY,
                "cohort_tcp_read: out of memory");
    check_fails(cohort_tcp_write(pair.ends[0], "x", 1), COHORT_ERR_NO_MEMORY, "out of memory");
    check_fails(cohort_tcp_shutdown(pair.ends[0]), COHORT_ERR_NO_MEMORY, "out of memory");
    check_fails(cohort_tcp_close(pair.ends[0]), COHORT_ERR_NO_MEMORY, "out of memory");
    has_no_memory = false;
    write_text(pair.ends[0], "as before");
    check_read(pair.ends[1], "as before");
    has_no_memory = true;
    pair_unref(&pair); /* which needs none */
    has_no_memory = false;
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(no_memory)
{
    run_io_with(1, false, no_memory);
    CHECK_TEXT(logged, "");
}

/* The peer ends the connection without a word, as when its process has died. */
static void reset(cohort_tcp *tcp)
{
    struct linger linger = {.l_onoff = 1};
    CHECK_INT(setsockopt(descriptor(tcp), SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
    CHECK_OK(cohort_await(cohort_tcp_close(tcp)));
}

static cohort_status lose_peer(void *arg)
{
    struct pair pair;
    char byte, *much = calloc(1, MUCH);
    size_t bytes;
    CHECK(much && !arg);
    pair_create(&pair);
    cohort_future *read = cohort_tcp_read(pair.ends[0], &byte, 1, &bytes);
    let_begin();
    reset(pair.ends[1]);
    check_fails(read, COHORT_ERR_SYSTEM, "connection reset by peer (ECONNRESET)");
    CHECK_CONTAINS(cohort_error_message(), cohort_tcp_peer(pair.ends[0]));
    check_fails(cohort_tcp_read(pair.ends[0], &byte, 1, &bytes), COHORT_ERR_SYSTEM, "ECONNRESET");
    check_fails(cohort_tcp_write(pair.ends[0], "x", 1), COHORT_ERR_SYSTEM, "cohort_tcp_write: ");
    check_fails(cohort_tcp_write(pair.ends[0], "x", 1), COHORT_ERR_SYSTEM, "(EPIPE)");
    check_fails(cohort_tcp_shutdown(pair.ends[0]), COHORT_ERR_SYSTEM, "(ENOTCONN)");
    pair_unref(&pair);
    pair_create(&pair); /* in the middle of a write */
    cohort_future *write = cohort_tcp_write(pair.ends[0], much, MUCH);
    cohort_future *next = cohort_tcp_write(pair.ends[0], much, 1);
    let_begin();
    reset(pair.ends[1]);
    check_fails(write, COHORT_ERR_SYSTEM, "cohort_tcp_write: ");
    check_fails(next, COHORT_ERR_SYSTEM, "cohort_tcp_write: ");
    pair_unref(&pair);
    free(much);
    return COHORT_OK;
}

TEST_CALL(lost_peer, run_io(lose_peer))

/* --- closing --- */

static void check_closed(cohort_tcp *tcp)
{
    char byte;
    size_t bytes;
    check_fails(cohort_tcp_read(tcp, &byte, 1, &bytes), COHORT_ERR_GONE, "it was closed here");
    check_fails(cohort_tcp_write(tcp, "x", 1), COHORT_ERR_GONE, "it was closed here");
    check_fails(cohort_tcp_shutdown(tcp), COHORT_ERR_GONE, "it was closed here");
    CHECK_OK(cohort_await(cohort_tcp_close(tcp)));
}

/* What waits ends when its connection is closed, or given back by all. */
static cohort_status close_meanwhile(void *arg)
{
    char bytes[2], *much = calloc(1, MUCH);
    size_t num[2];
    CHECK(much && !arg);
    for (int round = 0; round < 2; round++) {
        struct pair pair;
        pair_create(&pair);
        cohort_future *read = cohort_tcp_read(pair.ends[0], &bytes[0], 1, &num[0]);
        cohort_future *another = cohort_tcp_read(pair.ends[0], &bytes[1], 1, &num[1]);
        cohort_future *write = cohort_tcp_write(pair.ends[0], much, MUCH);
        cohort_future *next = cohort_tcp_write(pair.ends[0], much, 1);
        cohort_future *end = cohort_tcp_shutdown(pair.ends[0]);
        let_begin();
        if (round == 0) {
            cohort_future *close = cohort_tcp_close(pair.ends[0]);
            CHECK_OK(cohort_await(cohort_tcp_close(pair.ends[0])));
            CHECK_OK(cohort_await(close));
            check_closed(pair.ends[0]);
        }
        cohort_tcp_unref(cohort_tcp_ref(pair.ends[0]));
        cohort_tcp_unref(pair.ends[0]);
        check_fails(read, COHORT_ERR_GONE, "cohort_tcp_read: 127.0.0.1:");
        check_fails(another, COHORT_ERR_GONE, "it was closed here");
        check_fails(write, COHORT_ERR_GONE, "it was closed here");
        check_fails(next, COHORT_ERR_GONE, "it was closed here");
        check_fails(end, COHORT_ERR_GONE, "cohort_tcp_shutdown: ");
        size_t have = 1;
        while (have > 0) /* what the system has had before is not lost */
            CHECK_OK(cohort_await(cohort_tcp_read(pair.ends[1], much, MUCH, &have)));
        cohort_tcp_unref(pair.ends[1]);
    }
    free(much);
    return COHORT_OK;
}

TEST_CALL(close, run_io(close_meanwhile))

/* --- scopes --- */

struct buffer {
    cohort_tcp *tcp;
    char *data;
    size_t bytes, got;
};

static cohort_future *call_read(void *arg)
{
    struct buffer *buffer = arg;
    return cohort_tcp_read(buffer->tcp, buffer->data, buffer->bytes, &buffer->got);
}

static cohort_future *call_write(void *arg)
{
    struct buffer *buffer = arg;
    return cohort_tcp_write(buffer->tcp, buffer->data, buffer->bytes);
}

static cohort_future *call_shutdown(void *arg)
{
    struct buffer *buffer = arg;
    return cohort_tcp_shutdown(buffer->tcp);
}

static cohort_status close_in_scope(void *arg)
{
    cohort_scope *const *scope = ((void **)arg)[0];
    cohort_tcp *tcp = ((void **)arg)[1];
    cohort_scope_cancel(*scope);
    CHECK(cohort_cancelled());
    return cohort_await(cohort_tcp_close(tcp));
}

static cohort_status cancel(void *arg)
{
    struct pair pair;
    char byte;
    struct buffer read = {.data = &byte, .bytes = 1, .got = 77};
    struct buffer write = {.data = calloc(1, MUCH), .bytes = MUCH};
    CHECK(write.data && !arg);
    pair_create(&pair);
    read.tcp = pair.ends[0];
    check_cancel(call_read, &read, NULL);
    CHECK_INT(read.got, 77);
    write_text(pair.ends[1], "goes on"); /* for the connection is as it was */
    check_read(pair.ends[0], "goes on");
    /* One that has not begun leaves the connection alone. */
    write.tcp = pair.ends[0];
    cohort_future *first = cohort_tcp_write(pair.ends[0], write.data, MUCH);
    check_cancel(call_write, &write, NULL);
    check_cancel(call_shutdown, &write, NULL);
    for (size_t have = 0; have < MUCH; have += read.got)
        CHECK_OK(cohort_await(cohort_tcp_read(pair.ends[1], write.data, MUCH, &read.got)));
    CHECK_OK(cohort_await(first));
    write_text(pair.ends[0], "as before");
    check_read(pair.ends[1], "as before");
    /* One that has begun does not. */
    check_cancel(call_write, &write, NULL);
    free(write.data);
    check_closed(pair.ends[0]);
    /* Who cleans up may close. */
    cohort_scope *scope;
    void *both[] = {&scope, pair.ends[1]};
    scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, close_in_scope, both));
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    check_closed(pair.ends[1]);
    pair_unref(&pair);
    return COHORT_OK;
}

TEST_CALL(cancel, run_io(cancel))

/* Cancelled while data comes: a read has it, or the next one. */
enum { NUM_RACES = 200 };

static cohort_status read_byte(void *arg)
{
    struct buffer *buffer = arg;
    cohort_status status = cohort_await(call_read(buffer));
    CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED);
    CHECK(buffer->got == (status == COHORT_OK ? 1 : 0));
    return COHORT_OK;
}

TEST_TASK(race, run_io(task))
{
    struct pair pair;
    pair_create(&pair);
    for (int i = 0; i < NUM_RACES; i++) {
        char byte = 0;
        struct buffer buffer = {pair.ends[0], &byte, 1, 0};
        cohort_scope *scope = new_scope();
        CHECK_OK(cohort_scope_async(scope, read_byte, &buffer));
        char sent = (char)i;
        cohort_future *write = cohort_tcp_write(pair.ends[1], &sent, 1);
        for (int yields = i % 8; yields > 0; yields--)
            cohort_yield();
        cohort_scope_cancel(scope);
        CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
        CHECK_OK(cohort_await(write));
        if (buffer.got == 0)
            CHECK_OK(cohort_await(call_read(&buffer)));
        CHECK(byte == (char)i && buffer.got == 1);
    }
    pair_unref(&pair);
}

/* --- the runtime's end --- */

static struct {
    struct pair pair;
    cohort_future *read, *write, *next, *closing;
    char byte, *much;
    size_t bytes;
} left;

static cohort_status leave(void *arg)
{
    CHECK((left.much = calloc(1, MUCH)) && !arg);
    pair_create(&left.pair);
    left.read = cohort_tcp_read(left.pair.ends[0], &left.byte, 1, &left.bytes);
    left.write = cohort_tcp_write(left.pair.ends[0], left.much, MUCH);
    left.next = cohort_tcp_write(left.pair.ends[0], left.much, 1);
    let_begin();
    return COHORT_OK;
}

static cohort_status leave_closing(void *arg)
{
    pair_create(&left.pair);
    left.closing = cohort_tcp_close(left.pair.ends[0]);
    cohort_tcp_unref(left.pair.ends[1]);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(end)
{
    run_io_with(1, false, leave);
    CHECK_CONTAINS(logged, "the program has left 2 TCP connections open at its end; closed now\n");
    check_fails(left.read, COHORT_ERR_CANCELLED, ": the runtime has ended before");
    check_fails(left.write, COHORT_ERR_CANCELLED, ": the runtime has ended before");
    check_fails(left.next, COHORT_ERR_CANCELLED, ": the runtime has ended before");
    check_fails(cohort_tcp_write(left.pair.ends[0], "x", 1), COHORT_ERR_STATE,
                "cohort_tcp_write: ");
    check_fails(cohort_tcp_close(left.pair.ends[0]), COHORT_ERR_STATE, "cohort_tcp_close: ");
    pair_unref(&left.pair);
    free(left.much);
    run_io_with(1, false, leave_closing); /* what was asked for before the end is done */
    CHECK_TEXT(logged, "");
    CHECK_OK(cohort_await(left.closing));
    cohort_tcp_unref(left.pair.ends[0]);
}

/* --- many --- */

enum { NUM_PAIRS = 50, NUM_ROUNDS = 20 };

static cohort_status echo(void *arg)
{
    cohort_tcp *tcp = arg;
    char buffer[64];
    size_t bytes;
    cohort_status status;
    while (!(status = cohort_await(cohort_tcp_read(tcp, buffer, sizeof(buffer), &bytes))) &&
           bytes > 0)
        CHECK_OK(cohort_await(cohort_tcp_write(tcp, buffer, bytes)));
    cohort_tcp_unref(tcp);
    return status;
}

static cohort_status ask(void *arg)
{
    cohort_tcp *tcp = arg;
    for (int round = 0; round < NUM_ROUNDS; round++) {
        char text[32];
        snprintf(text, sizeof(text), "round %d of %p", round, arg);
        write_text(tcp, text);
        check_read(tcp, text);
    }
    cohort_tcp_unref(tcp);
    return COHORT_OK;
}

static cohort_status many(void *arg)
{
    cohort_future *futures[2 * NUM_PAIRS];
    for (int i = 0; i < NUM_PAIRS; i++) {
        struct pair pair;
        pair_create(&pair);
        futures[2 * i] = cohort_async(echo, pair.ends[0]);
        futures[2 * i + 1] = cohort_async(ask, pair.ends[1]);
    }
    return cohort_await(cohort_when_all(futures, 2 * NUM_PAIRS)) || arg;
}

TEST_CALL(many, run_io(many))
