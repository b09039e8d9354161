/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/io/lookup.h"
#include "runtime/io/tcp.h"
#include "runtime/loop/guest.h"

/* A lookup, and then an attempt at each address until one succeeds. libuv's request has a reference
 * to the call, since it may end later. */
struct connect_call {
    struct cohort__lookup_call lookup;
    uv_connect_t request;
    const struct addrinfo *address; /* of the attempt */
    cohort_tcp *attempt;            /* NULL: there is none */
    cohort_tcp **ret_tcp;
};

static void end(struct connect_call *connect, int error)
{
    const char *name = connect->lookup.name;
    char text[2 * COHORT__ADDRESS_BYTES + 8], address[COHORT__ADDRESS_BYTES] = "";
    if (connect->address)
        cohort__address_text(connect->address->ai_addr, address);
    bool is_one = !*address || strcmp(address, name) == 0;
    snprintf(text, sizeof(text), is_one ? "%s" : "%s (%s)", name, address);
    cohort__io_call_end_uv(&connect->lookup.call, error, text);
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
        error = cohort__tcp_create(&connect->attempt, connect->lookup.call.loop);
        if (!error)
            error = uv_tcp_connect(&connect->request, &connect->attempt->uv, address->ai_addr,
                                   connected);
        if (!error) {
            cohort__io_call_keep(&connect->lookup.call);
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
    cohort__loop_note(connect->lookup.call.loop);
    if (!connect->lookup.call.has_ended && error) {
        give_up_attempt(connect);
        attempt(connect, connect->address->ai_next, error);
    } else if (!connect->lookup.call.has_ended) {
        cohort__tcp_connected(connect->attempt);
        *connect->ret_tcp = connect->attempt;
        end(connect, 0);
    }
    cohort__io_call_drop(&connect->lookup.call);
}

static void found(struct cohort__lookup_call *lookup, int error)
{
    attempt(COHORT_CONTAINER_OF(lookup, struct connect_call, lookup), lookup->first, error);
}

static void connect_cancel(struct cohort__io_call *call)
{
    give_up_attempt(COHORT_CONTAINER_OF(call, struct connect_call, lookup.call));
    cohort__lookup_call_cancel(call);
}

static const struct cohort__io_call_kind connect_kind = {
    .name = "cohort_tcp_connect",
    .begin = cohort__lookup_call_begin,
    .cancel = connect_cancel,
    .release = cohort__lookup_call_release,
};

cohort_future *cohort_tcp_connect(const char *host, uint16_t port, cohort_tcp **ret_tcp)
{
    if (!host || !ret_tcp)
        return cohort__io_refuse(connect_kind.name, COHORT_ERR_BAD_PARAMETER,
                                 host ? "ret_tcp is NULL" : "host is NULL");
    struct connect_call *connect =
        cohort__lookup_call_create(sizeof(*connect), &connect_kind, host, port);
    if (!connect)
        return cohort__io_refuse(connect_kind.name, COHORT_ERR_NO_MEMORY, "out of memory");
    connect->lookup.found = found;
    connect->ret_tcp = ret_tcp;
    return cohort__io_call_start(&connect->lookup.call);
}
