/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/io/lookup.h"
#include "runtime/io/tcp.h"
#include "runtime/loop/guest.h"

/* Connections wait in the kernel until somebody asks for them. libuv only says when there is one:
 * as a listener of its own it would take them ahead, and without a descriptor for one that comes in
 * it would try for ever. */

enum { BACKLOG = 1 << 16 }; /* the kernel makes of it what it allows */

struct cohort_tcp_listener {
    struct cohort__io_object object; /* first: it is freed as an object */
    uv_poll_t poll;                  /* active while somebody waits, and until that is seen */
    int fd;
    char address[COHORT__ADDRESS_BYTES];
    uint16_t port;
    struct cohort__list accepts; /* calls, the oldest first */
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
    uv_close((uv_handle_t *)&listener->poll, closed);
    close(listener->fd); /* at once, so that nobody can connect any more */
    cohort__io_queue_cancel(&listener->accepts, COHORT__IO_CLOSED);
}

static const struct cohort__io_object_kind listener_kind = {
    .noun = "TCP listener",
    .name = "cohort_tcp_listener_close",
    .close = close_listener,
};

/* For a public FUNCTION. */
__attribute__((always_inline)) static inline void check(const cohort_tcp_listener *listener,
                                                        const char *function)
{
    cohort__io_object_check(&listener->object, "TCP listener", function);
}

cohort_tcp_listener *cohort_tcp_listener_ref(cohort_tcp_listener *listener)
{
    if (!listener)
        return NULL;
    check(listener, "cohort_tcp_listener_ref");
    cohort__io_object_ref(&listener->object);
    return listener;
}

void cohort_tcp_listener_unref(cohort_tcp_listener *listener)
{
    if (!listener)
        return;
    check(listener, "cohort_tcp_listener_unref");
    cohort__io_object_unref(&listener->object);
}

cohort_future *cohort_tcp_listener_close(cohort_tcp_listener *listener)
{
    if (!listener)
        return cohort__io_refuse(listener_kind.name, COHORT_ERR_BAD_PARAMETER, "listener is NULL");
    check(listener, listener_kind.name);
    return cohort__io_object_close_call(&listener->object);
}

const char *cohort_tcp_listener_address(const cohort_tcp_listener *listener)
{
    if (!listener)
        return "";
    check(listener, "cohort_tcp_listener_address");
    return listener->address;
}

uint16_t cohort_tcp_listener_port(const cohort_tcp_listener *listener)
{
    if (!listener)
        return 0;
    check(listener, "cohort_tcp_listener_port");
    return listener->port;
}

/* --- accepting --- */

struct accept_call {
    struct cohort__io_object_call call;
    cohort_tcp **ret_tcp;
};

static cohort_tcp_listener *listener_of_call(struct cohort__io_call *call)
{
    return COHORT_CONTAINER_OF(cohort__io_object_of(call), cohort_tcp_listener, object);
}

/* Takes a connection from the kernel, for which it needs memory first, so that it stays there if
 * there is none. Returns libuv's error. */
static int take_one(cohort_tcp_listener *listener, cohort_tcp **ret_tcp)
{
    cohort_tcp *tcp;
    int error = cohort__tcp_create(&tcp, listener->object.loop);
    if (error)
        return error;
    int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    error = fd < 0 ? uv_translate_sys_error(errno) : uv_tcp_open(&tcp->uv, fd);
    if (error) {
        if (fd >= 0)
            close(fd);
        cohort__io_object_discard(&tcp->object);
        return error;
    }
    cohort__tcp_connected(tcp);
    *ret_tcp = tcp;
    return 0;
}

/* One a turn. An error ends the oldest accept, so that none waits for what can't come. */
static void came_in(uv_poll_t *handle, int status, int events)
{
    (void)status, (void)events; /* accept4 says what is wrong */
    cohort_tcp_listener *listener = handle->data;
    struct cohort__io_call *call = cohort__io_queue_first(&listener->accepts);
    cohort__loop_note(listener->object.loop);
    if (!call) {
        uv_poll_stop(handle);
        return;
    }
    struct accept_call *accept = COHORT_CONTAINER_OF(call, struct accept_call, call.call);
    int error = take_one(listener, accept->ret_tcp);
    if (error != UV_EAGAIN && error != UV_EINTR && error != UV_ECONNABORTED)
        cohort__io_call_end_uv(call, error, listener->address);
}

static void accept_begin(struct cohort__io_call *call)
{
    cohort_tcp_listener *listener = listener_of_call(call);
    if (!cohort__io_object_admits(call))
        return;
    cohort__list_push_back(&listener->accepts, &call->queue);
    if (!uv_is_active((uv_handle_t *)&listener->poll))
        uv_poll_start(&listener->poll, UV_READABLE, came_in); /* can't fail: it is open */
}

static void accept_cancel(struct cohort__io_call *call)
{
    cohort__io_call_end_early(call, listener_of_call(call)->address);
}

static const struct cohort__io_call_kind accept_kind = {
    .name = "cohort_tcp_accept",
    .begin = accept_begin,
    .cancel = accept_cancel,
    .release = cohort__io_object_call_release,
};

cohort_future *cohort_tcp_accept(cohort_tcp_listener *listener, cohort_tcp **ret_tcp)
{
    if (!listener || !ret_tcp)
        return cohort__io_refuse(accept_kind.name, COHORT_ERR_BAD_PARAMETER,
                                 listener ? "ret_tcp is NULL" : "listener is NULL");
    check(listener, accept_kind.name);
    struct accept_call *accept = cohort__io_call_create(sizeof(*accept), &accept_kind);
    if (!accept)
        return cohort__io_refuse(accept_kind.name, COHORT_ERR_NO_MEMORY, "out of memory");
    accept->ret_tcp = ret_tcp;
    return cohort__io_object_call_start(&accept->call, &listener->object);
}

/* --- listening --- */

struct listen_call {
    struct cohort__lookup_call lookup;
    cohort_tcp_listener **ret_listener;
};

/* Makes FD a socket that listens at ADDRESS, *RET_OWN where that is. Returns libuv's error. */
static int listen_at(int fd, const struct sockaddr *address, struct sockaddr_storage *ret_own)
{
    static const int on = 1, off = 0;
    bool is_ipv6 = address->sa_family == AF_INET6;
    socklen_t own_bytes = sizeof(*ret_own);
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
        (is_ipv6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off))) ||
        bind(fd, address, cohort__address_bytes(address)) || listen(fd, BACKLOG) ||
        getsockname(fd, (struct sockaddr *)ret_own, &own_bytes))
        return uv_translate_sys_error(errno);
    return 0;
}

static int create(cohort_tcp_listener **ret_listener, struct cohort__loop *loop,
                  const struct sockaddr *address)
{
    cohort_tcp_listener *listener = cohort__slab_alloc_zero(sizeof(*listener));
    struct sockaddr_storage own;
    int fd = -1, error = UV_ENOMEM;
    if (!listener)
        goto fail;
    fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    error = fd < 0 ? uv_translate_sys_error(errno) : listen_at(fd, address, &own);
    if (!error)
        error = uv_poll_init(cohort__loop_uv(loop), &listener->poll, fd); /* non-blocking now */
    if (error)
        goto fail;
    listener->poll.data = listener;
    listener->fd = fd;
    cohort__list_init(&listener->accepts);
    cohort__address_text((struct sockaddr *)&own, listener->address);
    listener->port = cohort__address_port((struct sockaddr *)&own);
    cohort__io_object_open(&listener->object, &listener_kind, loop, listener->address);
    cohort__io_object_give(&listener->object);
    *ret_listener = listener;
    return 0;
fail:
    if (fd >= 0)
        close(fd);
    cohort__slab_free(listener);
    return error;
}

/* At the first address where that is possible. */
static void found(struct cohort__lookup_call *lookup, int error)
{
    struct listen_call *listen = COHORT_CONTAINER_OF(lookup, struct listen_call, lookup);
    for (const struct addrinfo *address = lookup->first; address; address = address->ai_next) {
        error = create(listen->ret_listener, lookup->call.loop, address->ai_addr);
        if (!error)
            break;
    }
    cohort__io_call_end_uv(&lookup->call, error, lookup->name);
}

static const struct cohort__io_call_kind listen_kind = {
    .name = "cohort_tcp_listen",
    .begin = cohort__lookup_call_begin,
    .cancel = cohort__lookup_call_cancel,
    .release = cohort__lookup_call_release,
};

cohort_future *cohort_tcp_listen(const char *host, uint16_t port,
                                 cohort_tcp_listener **ret_listener)
{
    if (!ret_listener)
        return cohort__io_refuse(listen_kind.name, COHORT_ERR_BAD_PARAMETER,
                                 "ret_listener is NULL");
    struct listen_call *listen =
        cohort__lookup_call_create(sizeof(*listen), &listen_kind, host, port);
    if (!listen)
        return cohort__io_refuse(listen_kind.name, COHORT_ERR_NO_MEMORY, "out of memory");
    listen->lookup.found = found;
    listen->lookup.flags = AI_PASSIVE;
    listen->ret_listener = ret_listener;
    return cohort__io_call_start(&listen->lookup.call);
}
