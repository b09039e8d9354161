/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/io/call.h"
#include "runtime/io/tcp.h"
#include "runtime/loop/guest.h"

/* A lookup, and then an attempt at each address until one succeeds. libuv's requests have a
 * reference to the call each, since they may end later than it does. */
struct connect_call {
    struct cohort__io_call call;
    struct cohort__lookup lookup;
    uv_connect_t request;
    const struct addrinfo *address; /* of the attempt */
    cohort_tcp *attempt;            /* NULL: there is none */
    cohort_tcp **ret_tcp;
    uint16_t port;
    char name[COHORT__ADDRESS_BYTES]; /* what was asked for */
    char host[];
};

static struct connect_call *connect_call_of(struct cohort__io_call *call)
{
    return COHORT_CONTAINER_OF(call, struct connect_call, call);
}

static void end(struct connect_call *connect, int error)
{
    char text[2 * COHORT__ADDRESS_BYTES + 8], address[COHORT__ADDRESS_BYTES] = "";
    if (connect->address)
        cohort__address_text(connect->address->ai_addr, address);
    bool is_one = !*address || strcmp(address, connect->name) == 0;
    snprintf(text, sizeof(text), is_one ? "%s" : "%s (%s)", connect->name, address);
    cohort__lookup_fini(&connect->lookup);
    cohort__io_call_end_uv(&connect->call, error, text);
}

static void give_up_attempt(struct connect_call *connect)
{
    cohort_tcp *tcp = connect->attempt;
    connect->attempt = NULL;
    if (tcp)
        cohort__io_object_discard(&tcp->object);
}

static void connected(uv_connect_t *request, int error);

/* Attempts the address, and those behind it if libuv refuses at once; ERROR if there is none. */
static void attempt(struct connect_call *connect, const struct addrinfo *address, int error)
{
    for (; address; address = address->ai_next) {
        connect->address = address;
        error = cohort__tcp_create(&connect->attempt, connect->call.loop);
        if (!error)
            error = uv_tcp_connect(&connect->request, &connect->attempt->uv, address->ai_addr,
                                   connected);
        if (!error) {
            cohort__io_call_keep(&connect->call);
            return;
        }
        give_up_attempt(connect);
    }
    end(connect, error);
}

/* If the call has ended, it has given up the attempt. */
static void connected(uv_connect_t *request, int error)
{
    struct connect_call *connect = COHORT_CONTAINER_OF(request, struct connect_call, request);
    cohort__loop_note(connect->call.loop);
    if (!connect->call.has_ended && error) {
        give_up_attempt(connect);
        attempt(connect, connect->address->ai_next, error);
    } else if (!connect->call.has_ended) {
        cohort__tcp_connected(connect->attempt);
        *connect->ret_tcp = connect->attempt;
        end(connect, 0);
    }
    cohort__io_call_drop(&connect->call);
}

static void found(struct cohort__lookup *lookup, int error)
{
    struct connect_call *connect = COHORT_CONTAINER_OF(lookup, struct connect_call, lookup);
    cohort__loop_note(connect->call.loop);
    if (connect->call.has_ended)
        cohort__lookup_fini(lookup);
    else
        attempt(connect, lookup->first, error);
    cohort__io_call_drop(&connect->call);
}

static void connect_begin(struct cohort__io_call *call)
{
    struct connect_call *connect = connect_call_of(call);
    connect->lookup.found = found;
    cohort__io_call_keep(call);
    cohort__lookup_start(&connect->lookup, cohort__loop_uv(call->loop), connect->host,
                         connect->port, false);
}

static void connect_cancel(struct cohort__io_call *call)
{
    struct connect_call *connect = connect_call_of(call);
    if (connect->attempt) {
        give_up_attempt(connect);
        cohort__lookup_fini(&connect->lookup);
    } else {
        cohort__lookup_cancel(&connect->lookup);
    }
    cohort__io_call_end_early(call, connect->name);
}

static const struct cohort__io_call_kind connect_kind = {
    .name = "cohort_tcp_connect",
    .begin = connect_begin,
    .cancel = connect_cancel,
};

cohort_future *cohort_tcp_connect(const char *host, uint16_t port, cohort_tcp **ret_tcp)
{
    if (!host || !ret_tcp)
        return cohort__io_refuse(connect_kind.name, COHORT_ERR_BAD_PARAMETER,
                                 host ? "ret_tcp is NULL" : "host is NULL");
    size_t bytes = strlen(host) + 1;
    struct connect_call *connect = cohort__io_call_create(sizeof(*connect) + bytes, &connect_kind);
    if (!connect)
        return cohort__io_refuse(connect_kind.name, COHORT_ERR_NO_MEMORY, "out of memory");
    cohort__address_name(host, port, connect->name);
    connect->ret_tcp = ret_tcp;
    connect->port = port;
    memcpy(connect->host, host, bytes);
    return cohort__io_call_start(&connect->call);
}
