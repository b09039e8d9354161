/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/tasks.h"

#include <string.h>

#include <cohort/tcp.h>

#include "tests/support/scarce.h"
#include "tests/support/test.h"

/* Two tasks in a scope, with a connection between them: who has connected sends, and gets as much
 * back. Reads are cancelled in the middle, by scopes of their own, and lose nothing. */

enum { MOST_WRITES = 2, MOST_BYTES = 8000, PIECE_BYTES = 1500 };

struct wire {
    cohort_tcp_listener *listener;
    atomic_bool is_broken; /* an end has failed, and closes */
    uint32_t num_writes;
    size_t bytes; /* of each */
    unsigned char data[MOST_WRITES * MOST_BYTES];
};

struct end {
    struct wire *wire;
    struct part part; /* what it draws */
    cohort_tcp *tcp;
};

/* Whether STATUS is success. Who has failed is about to give its end back. */
static bool goes_on(struct wire *wire, cohort_status status)
{
    bool is_lost = wire->is_broken || cohort_cancelled();
    if (!is_lost || (status != COHORT_ERR_SYSTEM && status != COHORT_ERR_GONE))
        check_end(status);
    if (status)
        wire->is_broken = true;
    return status == COHORT_OK;
}

/* Reading ------------------------------------------------------------------------------------ */

struct read {
    cohort_tcp *tcp;
    unsigned char data[PIECE_BYTES];
    size_t bytes;
    cohort_status status;
};

static cohort_status read_once(void *arg)
{
    struct read *read = arg;
    read->status =
        cohort_await(cohort_tcp_read(read->tcp, read->data, sizeof(read->data), &read->bytes));
    return COHORT_OK;
}

/* In a scope with a limit. Whether there is an end of it. */
static bool read_for_a_while(struct read *read, uint64_t limit)
{
    cohort_scope *scope;
    read->status = COHORT_ERR_CANCELLED;
    if (cohort_scope_create(&(cohort_scope_options){limit}, &scope))
        return false;
    (void)!cohort_scope_async(scope, read_once, read);
    (void)!cohort_scope_await(scope);
    return read->status != COHORT_ERR_CANCELLED;
}

static bool read_some(struct end *end, struct read *read)
{
    read->tcp = end->tcp;
    if (part_draw(&end->part, 3) || !read_for_a_while(read, 1 + part_draw(&end->part, 20000)))
        (void)read_once(read);
    return goes_on(end->wire, read->status);
}

/* All that the peer sends. */
static bool read_all(struct end *end)
{
    struct wire *wire = end->wire;
    struct read read = {.bytes = 1};
    size_t got = 0, want = wire->num_writes * wire->bytes;
    while (read.bytes > 0) {
        if (!read_some(end, &read))
            return false;
        CHECK(got + read.bytes <= want);
        CHECK(memcmp(read.data, wire->data + got, read.bytes) == 0);
        got += read.bytes;
    }
    bool is_all = got == want;
    /* A write that there is no memory for has failed before its end learns of that. */
    CHECK(is_all || wire->is_broken || cohort_cancelled() || scarce_has_failed());
    return is_all;
}

/* Writing ------------------------------------------------------------------------------------ */

/* Several calls at once, whose data does not mix. */
static bool write_all(struct end *end)
{
    struct wire *wire = end->wire;
    cohort_future *futures[MOST_WRITES + 1];
    bool is_good = true;
    for (uint32_t i = 0; i < wire->num_writes; i++)
        futures[i] = cohort_tcp_write(end->tcp, wire->data + i * wire->bytes, wire->bytes);
    futures[wire->num_writes] = cohort_tcp_shutdown(end->tcp);
    for (uint32_t i = 0; i <= wire->num_writes; i++)
        is_good &= goes_on(wire, cohort_await(futures[i]));
    return is_good;
}

/* The ends ----------------------------------------------------------------------------------- */

static cohort_status answer(void *arg)
{
    struct end *end = arg;
    if (!goes_on(end->wire, cohort_await(cohort_tcp_accept(end->wire->listener, &end->tcp))))
        return COHORT_OK;
    if (!read_all(end) || !write_all(end))
        end->wire->is_broken = true;
    cohort_tcp_unref(end->tcp);
    return COHORT_OK;
}

static void ask(struct end *end)
{
    struct wire *wire = end->wire;
    uint16_t port = cohort_tcp_listener_port(wire->listener);
    if (!goes_on(wire, cohort_await(cohort_tcp_connect("127.0.0.1", port, &end->tcp))))
        return;
    CHECK_TEXT(cohort_tcp_peer(end->tcp), cohort_tcp_listener_address(wire->listener));
    if (!write_all(end) || !read_all(end))
        wire->is_broken = true;
    if (part_draw(&end->part, 2))
        check_end(cohort_await(cohort_tcp_close(end->tcp)));
    cohort_tcp_unref(end->tcp);
}

void use_connection(struct part *part)
{
    struct wire wire;
    wire.num_writes = 1 + part_draw(part, MOST_WRITES);
    wire.bytes = part_draw(part, MOST_BYTES + 1);
    wire.is_broken = false;
    for (size_t i = 0; i < wire.num_writes * wire.bytes; i++)
        wire.data[i] = (unsigned char)(i * 7 + i / 251);
    struct end ends[] = {{&wire, *part, NULL}, {&wire, *part, NULL}};
    cohort_status status = cohort_await(cohort_tcp_listen("127.0.0.1", 0, &wire.listener));
    check_end(status);
    if (status)
        return;
    cohort_future *answering = cohort_async(answer, &ends[0]);
    ask(&ends[1]);
    check_end(cohort_await(cohort_tcp_listener_close(wire.listener)));
    check_end(cohort_await(answering));
    cohort_tcp_listener_unref(wire.listener);
}
