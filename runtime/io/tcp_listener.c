/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/io/call.h"
#include "runtime/io/tcp.h"
#include "runtime/loop/guest.h"

/* libuv takes connections from the kernel until it has one that nobody has accepted, and goes on
 * when somebody has. So at most one is ahead. */

enum { BACKLOG = 1 << 16 }; /* the kernel makes of it what it allows */

struct cohort_tcp_listener {
    struct cohort__io_object object; /* first: it is freed as an object */
    uv_tcp_t uv;
    char address[COHORT__ADDRESS_BYTES];
    uint16_t port;
    struct cohort__list accepts; /* calls, the oldest first */
    bool has_one;                /* a connection that nobody has accepted */
    int refused;                 /* an error of libuv's that nobody was told, or 0 */
};

/* --- its life --- */

static void closed(uv_handle_t *handle)
{
    cohort_tcp_listener *listener = handle->data;
    cohort__loop_note(listener->object.loop);
    cohort__io_object_closed(&listener->object, COHORT_OK);
}

static void close_listener(struct cohort__io_object *object)
{
    cohort_tcp_listener *listener = COHORT_CONTAINER_OF(object, cohort_tcp_listener, object);
    uv_close((uv_handle_t *)&listener->uv, closed);
    while (!cohort__list_is_empty(&listener->accepts))
        cohort__io_call_cancel(cohort__io_call_of(listener->accepts.next), COHORT__IO_CLOSED);
}

static const struct cohort__io_object_kind listener_kind = {
    .noun = "TCP listener",
    .name = "cohort_tcp_listener_close",
    .close = close_listener,
};

static int create(cohort_tcp_listener **ret_listener, struct cohort__loop *loop)
{
    cohort_tcp_listener *listener = cohort__slab_alloc_zero(sizeof(*listener));
    if (!listener)
        return UV_ENOMEM;
    int error = uv_tcp_init(cohort__loop_uv(loop), &listener->uv);
    if (error) {
        cohort__slab_free(listener);
        return error;
    }
    listener->uv.data = listener;
    cohort__list_init(&listener->accepts);
    cohort__io_object_open(&listener->object, &listener_kind, loop);
    *ret_listener = listener;
    return 0;
}

cohort_tcp_listener *cohort_tcp_listener_ref(cohort_tcp_listener *listener)
{
    if (listener)
        cohort__io_object_ref(&listener->object);
    return listener;
}

void cohort_tcp_listener_unref(cohort_tcp_listener *listener)
{
    if (listener)
        cohort__io_object_unref(&listener->object);
}

cohort_future *cohort_tcp_listener_close(cohort_tcp_listener *listener)
{
    return listener ? cohort__io_object_close_call(&listener->object)
                    : cohort__io_refuse(listener_kind.name, COHORT_ERR_BAD_PARAMETER,
                                        "listener is NULL");
}

const char *cohort_tcp_listener_address(const cohort_tcp_listener *listener)
{
    return listener ? listener->address : "";
}

uint16_t cohort_tcp_listener_port(const cohort_tcp_listener *listener)
{
    return listener ? listener->port : 0;
}

/* --- accepting --- */

struct accept_call {
    struct cohort__io_call call;
    cohort_tcp_listener *listener;
    cohort_tcp **ret_tcp;
};

static struct accept_call *accept_call_of(struct cohort__io_call *call)
{
    return COHORT_CONTAINER_OF(call, struct accept_call, call);
}

/* libuv has a connection for CALL. If there is no memory for it, it stays there. */
static void hand_over(cohort_tcp_listener *listener, struct cohort__io_call *call)
{
    cohort_tcp *tcp;
    int error = cohort__tcp_create(&tcp, listener->object.loop);
    listener->has_one = error != 0;
    if (!error) {
        error = uv_accept((uv_stream_t *)&listener->uv, (uv_stream_t *)&tcp->uv);
        if (error)
            cohort__io_object_discard(&tcp->object);
    }
    if (!error) {
        cohort__tcp_connected(tcp);
        *accept_call_of(call)->ret_tcp = tcp;
    }
    cohort__io_call_end_uv(call, error, listener->address);
}

static void came_in(uv_stream_t *stream, int error)
{
    cohort_tcp_listener *listener = stream->data;
    cohort__loop_note(listener->object.loop);
    bool is_asked = !cohort__list_is_empty(&listener->accepts);
    if (!is_asked && error)
        listener->refused = error;
    else if (!is_asked)
        listener->has_one = true;
    else if (error)
        cohort__io_call_end_uv(cohort__io_call_of(listener->accepts.next), error,
                               listener->address);
    else
        hand_over(listener, cohort__io_call_of(listener->accepts.next));
}

static void accept_begin(struct cohort__io_call *call)
{
    cohort_tcp_listener *listener = accept_call_of(call)->listener;
    int refused = listener->refused;
    if (listener->object.is_closing) {
        cohort__io_call_cancel(call, COHORT__IO_CLOSED);
    } else if (listener->has_one) {
        hand_over(listener, call);
    } else if (refused) {
        listener->refused = 0;
        cohort__io_call_end_uv(call, refused, listener->address);
    } else {
        cohort__list_push_back(&listener->accepts, &call->queue);
    }
}

static void accept_cancel(struct cohort__io_call *call)
{
    cohort__io_call_end_early(call, accept_call_of(call)->listener->address);
}

static void accept_release(struct cohort__io_call *call)
{
    cohort__io_object_drop(&accept_call_of(call)->listener->object);
}

static const struct cohort__io_call_kind accept_kind = {
    .name = "cohort_tcp_accept",
    .begin = accept_begin,
    .cancel = accept_cancel,
    .release = accept_release,
};

cohort_future *cohort_tcp_accept(cohort_tcp_listener *listener, cohort_tcp **ret_tcp)
{
    if (!listener || !ret_tcp)
        return cohort__io_refuse(accept_kind.name, COHORT_ERR_BAD_PARAMETER,
                                 listener ? "ret_tcp is NULL" : "listener is NULL");
    struct accept_call *accept = cohort__io_call_create(sizeof(*accept), &accept_kind);
    if (!accept)
        return cohort__io_refuse(accept_kind.name, COHORT_ERR_NO_MEMORY, "out of memory");
    accept->listener = listener;
    accept->ret_tcp = ret_tcp;
    cohort__io_object_keep(&listener->object);
    return cohort__io_call_start(&accept->call);
}

/* --- listening --- */

struct listen_call {
    struct cohort__io_call call;
    struct cohort__lookup lookup;
    cohort_tcp_listener **ret_listener;
    uint16_t port;
    char name[COHORT__ADDRESS_BYTES]; /* what was asked for */
    bool has_host;
    char host[]; /* unless it was NULL */
};

static struct listen_call *listen_call_of(struct cohort__io_call *call)
{
    return COHORT_CONTAINER_OF(call, struct listen_call, call);
}

static int listen_at(cohort_tcp_listener *listener, const struct sockaddr *address)
{
    struct sockaddr_storage own;
    int bytes = sizeof(own);
    int error = uv_tcp_bind(&listener->uv, address, 0);
    if (!error)
        error = uv_listen((uv_stream_t *)&listener->uv, BACKLOG, came_in);
    if (!error)
        error = uv_tcp_getsockname(&listener->uv, (struct sockaddr *)&own, &bytes);
    if (error)
        return error;
    cohort__address_text((struct sockaddr *)&own, listener->address);
    listener->port = ntohs(own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port
                                                     : ((struct sockaddr_in *)&own)->sin_port);
    return 0;
}

/* At the first address where that is possible. */
static int listen_somewhere(struct listen_call *listen)
{
    int error = UV_EADDRNOTAVAIL;
    for (struct addrinfo *at = listen->lookup.first; at && error; at = at->ai_next) {
        cohort_tcp_listener *listener;
        error = create(&listener, listen->call.loop);
        if (error)
            break;
        error = listen_at(listener, at->ai_addr);
        if (error) {
            cohort__io_object_discard(&listener->object);
        } else {
            cohort__io_object_give(&listener->object);
            *listen->ret_listener = listener;
        }
    }
    return error;
}

static void found(struct cohort__lookup *lookup, int error)
{
    struct listen_call *listen = COHORT_CONTAINER_OF(lookup, struct listen_call, lookup);
    cohort__loop_note(listen->call.loop);
    if (!listen->call.has_ended) {
        if (!error)
            error = listen_somewhere(listen);
        cohort__io_call_end_uv(&listen->call, error, listen->name);
    }
    cohort__lookup_fini(lookup);
    cohort__io_call_drop(&listen->call);
}

/* The lookup has a reference, since it can't always be cancelled. */
static void listen_begin(struct cohort__io_call *call)
{
    struct listen_call *listen = listen_call_of(call);
    listen->lookup.found = found;
    cohort__io_call_keep(call);
    cohort__lookup_start(&listen->lookup, cohort__loop_uv(call->loop),
                         listen->has_host ? listen->host : NULL, listen->port, true);
}

static void listen_cancel(struct cohort__io_call *call)
{
    struct listen_call *listen = listen_call_of(call);
    cohort__lookup_cancel(&listen->lookup);
    cohort__io_call_end_early(call, listen->name);
}

static const struct cohort__io_call_kind listen_kind = {
    .name = "cohort_tcp_listen",
    .begin = listen_begin,
    .cancel = listen_cancel,
};

cohort_future *cohort_tcp_listen(const char *host, uint16_t port,
                                 cohort_tcp_listener **ret_listener)
{
    if (!ret_listener)
        return cohort__io_refuse(listen_kind.name, COHORT_ERR_BAD_PARAMETER,
                                 "ret_listener is NULL");
    size_t bytes = host ? strlen(host) + 1 : 0;
    struct listen_call *listen = cohort__io_call_create(sizeof(*listen) + bytes, &listen_kind);
    if (!listen)
        return cohort__io_refuse(listen_kind.name, COHORT_ERR_NO_MEMORY, "out of memory");
    cohort__address_name(host, port, listen->name);
    listen->ret_listener = ret_listener;
    listen->port = port;
    listen->has_host = host != NULL;
    if (host)
        memcpy(listen->host, host, bytes);
    return cohort__io_call_start(&listen->call);
}
