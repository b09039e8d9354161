/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/io/tcp.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "cohort/tcp.h"
#include "runtime/base/container.h"
#include "runtime/base/list.h"
#include "runtime/base/slab.h"
#include "runtime/io/object.h"
#include "runtime/loop/guest.h"

/* --- lookup --- */

/* A call that begins by looking up a host: what listen and connect have in common. */
struct lookup_call {
    struct cohort__io_call call;
    uv_getaddrinfo_t request;
    struct addrinfo *first; /* of the addresses that were found */
    /* Called once, unless the call was cancelled before. ERROR is libuv's, or 0: then there is at
     * least one address, and all of them stay until the call ends. Holder only. */
    void (*found)(struct lookup_call *lookup, int error);
    int flags; /* AI_PASSIVE: to listen there */
    uint16_t port;
    char name[COHORT__ADDRESS_BYTES]; /* what was asked for, for messages */
    const char *host;                 /* NULL: all addresses of this machine, IPv6 first */
};

/* Of an address of IPv4 or IPv6. */
static socklen_t address_bytes(const struct sockaddr *address)
{
    return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                          : sizeof(struct sockaddr_in);
}

static uint16_t address_port(const struct sockaddr *address)
{
    return ntohs(address->sa_family == AF_INET6 ? ((const struct sockaddr_in6 *)address)->sin6_port
                                                : ((const struct sockaddr_in *)address)->sin_port);
}

/* "HOST:PORT", or "[HOST]:PORT" of IPv6, cut where there is no room; NULL is "*". */
static void address_name(const char *host, uint16_t port, char ret_text[COHORT__ADDRESS_BYTES])
{
    bool is_ipv6 = host && strchr(host, ':');
    snprintf(ret_text, COHORT__ADDRESS_BYTES, "%s%.80s%s:%" PRIu16, is_ipv6 ? "[" : "",
             host ? host : "*", is_ipv6 ? "]" : "", port);
}

static void address_text(const struct sockaddr *address, char ret_text[COHORT__ADDRESS_BYTES])
{
    char host[NI_MAXHOST] = "?";
    getnameinfo(address, address_bytes(address), host, sizeof(host), NULL, 0, NI_NUMERICHOST);
    address_name(host, address_port(address), ret_text);
}

static struct lookup_call *lookup_of(struct cohort__io_call *call)
{
    return COHORT_CONTAINER_OF(call, struct lookup_call, call);
}

/* As cohort__io_call_create, for a struct of BYTES that begins with such a call. HOST is copied. */
static void *lookup_call_create(size_t bytes, const struct cohort__io_call_kind *kind,
                                const char *host, uint16_t port)
{
    size_t host_bytes = host ? strlen(host) + 1 : 0;
    struct lookup_call *lookup = cohort__io_call_create(bytes + host_bytes, kind);
    if (!lookup)
        return NULL;
    address_name(host, port, lookup->name);
    lookup->port = port;
    lookup->host = host ? memcpy((char *)lookup + bytes, host, host_bytes) : NULL;
    return lookup;
}

/* The thread can't always be stopped, so the call may have ended. */
static void lookup_found(uv_getaddrinfo_t *request, int error, struct addrinfo *addresses)
{
    struct lookup_call *lookup = COHORT_CONTAINER_OF(request, struct lookup_call, request);
    cohort__loop_note(lookup->call.loop);
    if (lookup->call.has_ended) {
        uv_freeaddrinfo(addresses);
    } else {
        lookup->first = addresses;
        lookup->found(lookup, error);
    }
    cohort__io_call_drop(&lookup->call);
}

/* A listener at IPv6's "all addresses" is one for IPv4, too, and not the reverse. */
static void put_ipv6_first(struct addrinfo **first)
{
    for (struct addrinfo **link = first; *link; link = &(*link)->ai_next) {
        struct addrinfo *address = *link;
        if (address->ai_family != AF_INET6)
            continue;
        *link = address->ai_next;
        address->ai_next = *first;
        *first = address;
        return;
    }
}

/* Calls found, which is set: at once if the host is in numbers or NULL, else later. */
static void lookup_call_begin(struct cohort__io_call *call)
{
    struct lookup_call *lookup = lookup_of(call);
    char service[8];
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | AI_NUMERICHOST | lookup->flags,
    };
    snprintf(service, sizeof(service), "%" PRIu16, lookup->port);
    /* This asks nobody. If the host is no number, libuv looks it up; if something else is wrong,
     * libuv says what. */
    if (getaddrinfo(lookup->host, service, &hints, &lookup->first) == 0) {
        if (!lookup->host)
            put_ipv6_first(&lookup->first);
        lookup->found(lookup, 0);
        return;
    }
    lookup->first = NULL;
    hints.ai_flags &= ~AI_NUMERICHOST;
    int error = uv_getaddrinfo(cohort__loop_uv(call->loop), &lookup->request, lookup_found,
                               lookup->host, service, &hints);
    if (error)
        lookup->found(lookup, error);
    else
        cohort__io_call_keep(call);
}

/* Ends it, whatever libuv's thread is doing. */
static void lookup_call_cancel(struct cohort__io_call *call)
{
    struct lookup_call *lookup = lookup_of(call);
    uv_cancel((uv_req_t *)&lookup->request);
    cohort__io_call_end_early(call, lookup->name);
}

static void lookup_call_release(struct cohort__io_call *call)
{
    uv_freeaddrinfo(lookup_of(call)->first);
}

/* --- listener --- */

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

static void listener_closed(uv_handle_t *handle)
{
    cohort_tcp_listener *listener = handle->data;
    cohort__loop_note(listener->object.loop);
    cohort__io_object_closed(&listener->object, COHORT_OK);
}

static void close_listener(struct cohort__io_object *object)
{
    cohort_tcp_listener *listener = COHORT_CONTAINER_OF(object, cohort_tcp_listener, object);
    uv_close((uv_handle_t *)&listener->poll, listener_closed);
    close(listener->fd); /* at once, so that nobody can connect any more */
    cohort__io_queue_cancel(&listener->accepts, COHORT__IO_CLOSED);
}

static const struct cohort__io_object_kind listener_kind = {
    .noun = "TCP listener",
    .name = "cohort_tcp_listener_close",
    .close = close_listener,
};

/* For a public FUNCTION. */
__attribute__((always_inline)) static inline void
check_listener(const cohort_tcp_listener *listener, const char *function)
{
    cohort__io_object_check(&listener->object, "TCP listener", function);
}

cohort_tcp_listener *cohort_tcp_listener_ref(cohort_tcp_listener *listener)
{
    if (!listener)
        return NULL;
    check_listener(listener, "cohort_tcp_listener_ref");
    cohort__io_object_ref(&listener->object);
    return listener;
}

void cohort_tcp_listener_unref(cohort_tcp_listener *listener)
{
    if (!listener)
        return;
    check_listener(listener, "cohort_tcp_listener_unref");
    cohort__io_object_unref(&listener->object);
}

cohort_future *cohort_tcp_listener_close(cohort_tcp_listener *listener)
{
    if (!listener)
        return cohort__io_refuse(listener_kind.name, COHORT_ERR_BAD_PARAMETER, "listener is NULL");
    check_listener(listener, listener_kind.name);
    return cohort__io_object_close_call(&listener->object);
}

const char *cohort_tcp_listener_address(const cohort_tcp_listener *listener)
{
    if (!listener)
        return "";
    check_listener(listener, "cohort_tcp_listener_address");
    return listener->address;
}

uint16_t cohort_tcp_listener_port(const cohort_tcp_listener *listener)
{
    if (!listener)
        return 0;
    check_listener(listener, "cohort_tcp_listener_port");
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

static int tcp_create(struct cohort_tcp **ret_tcp, struct cohort__loop *loop);
static void tcp_connected(struct cohort_tcp *tcp);

/* Takes a connection from the kernel, for which it needs memory first, so that it stays there if
 * there is none. Returns libuv's error. */
static int take_one(cohort_tcp_listener *listener, cohort_tcp **ret_tcp)
{
    cohort_tcp *tcp;
    int error = tcp_create(&tcp, listener->object.loop);
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
    tcp_connected(tcp);
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
    check_listener(listener, accept_kind.name);
    struct accept_call *accept = cohort__io_call_create(sizeof(*accept), &accept_kind);
    if (!accept)
        return cohort__io_refuse(accept_kind.name, COHORT_ERR_NO_MEMORY, "out of memory");
    accept->ret_tcp = ret_tcp;
    return cohort__io_object_call_start(&accept->call, &listener->object);
}

/* --- listening --- */

struct listen_call {
    struct lookup_call lookup;
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
        bind(fd, address, address_bytes(address)) || listen(fd, BACKLOG) ||
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
    address_text((struct sockaddr *)&own, listener->address);
    listener->port = address_port((struct sockaddr *)&own);
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
static void listener_found(struct lookup_call *lookup, int error)
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
    .begin = lookup_call_begin,
    .cancel = lookup_call_cancel,
    .release = lookup_call_release,
};

cohort_future *cohort_tcp_listen(const char *host, uint16_t port,
                                 cohort_tcp_listener **ret_listener)
{
    if (!ret_listener)
        return cohort__io_refuse(listen_kind.name, COHORT_ERR_BAD_PARAMETER,
                                 "ret_listener is NULL");
    struct listen_call *listen = lookup_call_create(sizeof(*listen), &listen_kind, host, port);
    if (!listen)
        return cohort__io_refuse(listen_kind.name, COHORT_ERR_NO_MEMORY, "out of memory");
    listen->lookup.found = listener_found;
    listen->lookup.flags = AI_PASSIVE;
    listen->ret_listener = ret_listener;
    return cohort__io_call_start(&listen->lookup.call);
}

/* A lookup, and then an attempt at each address until one succeeds. libuv's request has a reference
 * to the call, since it may end later. */
struct connect_call {
    struct lookup_call lookup;
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
        address_text(connect->address->ai_addr, address);
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
        error = tcp_create(&connect->attempt, connect->lookup.call.loop);
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
        tcp_connected(connect->attempt);
        *connect->ret_tcp = connect->attempt;
        end(connect, 0);
    }
    cohort__io_call_drop(&connect->lookup.call);
}

static void found(struct lookup_call *lookup, int error)
{
    attempt(COHORT_CONTAINER_OF(lookup, struct connect_call, lookup), lookup->first, error);
}

static void connect_cancel(struct cohort__io_call *call)
{
    give_up_attempt(COHORT_CONTAINER_OF(call, struct connect_call, lookup.call));
    lookup_call_cancel(call);
}

static const struct cohort__io_call_kind connect_kind = {
    .name = "cohort_tcp_connect",
    .begin = lookup_call_begin,
    .cancel = connect_cancel,
    .release = lookup_call_release,
};

cohort_future *cohort_tcp_connect(const char *host, uint16_t port, cohort_tcp **ret_tcp)
{
    if (!host || !ret_tcp)
        return cohort__io_refuse(connect_kind.name, COHORT_ERR_BAD_PARAMETER,
                                 host ? "ret_tcp is NULL" : "host is NULL");
    struct connect_call *connect = lookup_call_create(sizeof(*connect), &connect_kind, host, port);
    if (!connect)
        return cohort__io_refuse(connect_kind.name, COHORT_ERR_NO_MEMORY, "out of memory");
    connect->lookup.found = found;
    connect->ret_tcp = ret_tcp;
    return cohort__io_call_start(&connect->lookup.call);
}

/* libuv reads while there is a call that wants data, and has at most one write at a time, so that
 * those that wait can be cancelled, which libuv can't do. */

struct read_call {
    struct cohort__io_object_call call;
    void *buffer;
    size_t bytes;
    size_t *ret_bytes;
};

/* Or a shutdown, which waits for its turn among them. */
struct write_call {
    struct cohort__io_object_call call;
    uv_buf_t data;
};

static struct read_call *read_call_of(struct cohort__io_call *call)
{
    return COHORT_CONTAINER_OF(call, struct read_call, call.call);
}

static struct write_call *write_call_of(struct cohort__io_call *call)
{
    return COHORT_CONTAINER_OF(call, struct write_call, call.call);
}

/* --- its life --- */

/* libuv writes by write(2), which ends a process whose peer has gone, unless it is told not to. */
static void ignore_sigpipe(void)
{
    struct sigaction action;
    if (sigaction(SIGPIPE, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) &&
        action.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
}

static cohort_tcp *tcp_of(struct cohort__io_object *object)
{
    return COHORT_CONTAINER_OF(object, cohort_tcp, object);
}

static cohort_tcp *tcp_of_call(struct cohort__io_call *call)
{
    return tcp_of(cohort__io_object_of(call));
}

/* libuv has called back those of its requests that were under way. */
static void closed(uv_handle_t *handle)
{
    cohort_tcp *tcp = handle->data;
    cohort__loop_note(tcp->object.loop);
    cohort__io_object_closed(&tcp->object, COHORT_OK);
}

static void close_tcp(struct cohort__io_object *object)
{
    cohort_tcp *tcp = tcp_of(object);
    uv_close((uv_handle_t *)&tcp->uv, closed);
    cohort__io_queue_cancel(&tcp->reads, COHORT__IO_CLOSED);
    cohort__io_queue_cancel(&tcp->writes, COHORT__IO_CLOSED);
}

static const struct cohort__io_object_kind tcp_kind = {
    .noun = "TCP connection",
    .name = "cohort_tcp_close",
    .close = close_tcp,
};

/* A new one, open but not connected, see cohort__io_object_open. Returns libuv's error. The first
 * one lets the process ignore SIGPIPE. Holder only. */
static int tcp_create(struct cohort_tcp **ret_tcp, struct cohort__loop *loop)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    cohort_tcp *tcp = cohort__slab_alloc_zero(sizeof(*tcp));
    if (!tcp)
        return UV_ENOMEM;
    pthread_once(&once, ignore_sigpipe);
    int error = uv_tcp_init(cohort__loop_uv(loop), &tcp->uv);
    if (error) {
        cohort__slab_free(tcp);
        return error;
    }
    tcp->uv.data = tcp;
    cohort__list_init(&tcp->reads);
    cohort__list_init(&tcp->writes);
    cohort__io_object_open(&tcp->object, &tcp_kind, loop, tcp->peer);
    *ret_tcp = tcp;
    return 0;
}

/* It is connected now, and the program's. Holder only. */
static void tcp_connected(struct cohort_tcp *tcp)
{
    struct sockaddr_storage address;
    int bytes = sizeof(address);
    uv_tcp_nodelay(&tcp->uv, 1); /* if not, it is only slower */
    if (uv_tcp_getpeername(&tcp->uv, (struct sockaddr *)&address, &bytes) == 0)
        address_text((struct sockaddr *)&address, tcp->peer);
    cohort__io_object_give(&tcp->object);
}

/* For a public FUNCTION. */
__attribute__((always_inline)) static inline void check(const cohort_tcp *tcp, const char *function)
{
    cohort__io_object_check(&tcp->object, "TCP connection", function);
}

cohort_tcp *cohort_tcp_ref(cohort_tcp *tcp)
{
    if (!tcp)
        return NULL;
    check(tcp, "cohort_tcp_ref");
    cohort__io_object_ref(&tcp->object);
    return tcp;
}

void cohort_tcp_unref(cohort_tcp *tcp)
{
    if (!tcp)
        return;
    check(tcp, "cohort_tcp_unref");
    cohort__io_object_unref(&tcp->object);
}

cohort_future *cohort_tcp_close(cohort_tcp *tcp)
{
    if (!tcp)
        return cohort__io_refuse("cohort_tcp_close", COHORT_ERR_BAD_PARAMETER, "tcp is NULL");
    check(tcp, "cohort_tcp_close");
    return cohort__io_object_close_call(&tcp->object);
}

const char *cohort_tcp_peer(const cohort_tcp *tcp)
{
    if (!tcp)
        return "";
    check(tcp, "cohort_tcp_peer");
    return tcp->peer;
}

/* --- reading --- */

static void allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buffer)
{
    (void)suggested;
    const cohort_tcp *tcp = handle->data;
    const struct read_call *read = read_call_of(cohort__io_queue_first(&tcp->reads));
    *ret_buffer = (uv_buf_t){.base = read->buffer, .len = read->bytes};
}

/* Libuv reads no more: all calls that are left, and all that follow, end as ERROR says. */
static void end_reading(cohort_tcp *tcp, int error)
{
    tcp->read_end = error;
    for (struct cohort__io_call *call; (call = cohort__io_queue_first(&tcp->reads));)
        if (error == UV_EOF) {
            *read_call_of(call)->ret_bytes = 0;
            cohort__io_call_end(call);
        } else {
            cohort__io_call_end_uv(call, error, tcp->peer);
        }
}

static void stop_reading(cohort_tcp *tcp)
{
    if (tcp->is_reading)
        uv_read_stop((uv_stream_t *)&tcp->uv);
    tcp->is_reading = false;
}

static void arrived(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buffer)
{
    (void)buffer;
    cohort_tcp *tcp = stream->data;
    cohort__loop_note(tcp->object.loop);
    if (bytes > 0) {
        struct cohort__io_call *call = cohort__io_queue_first(&tcp->reads);
        *read_call_of(call)->ret_bytes = (size_t)bytes;
        cohort__list_remove(&call->queue);
        if (cohort__list_is_empty(&tcp->reads))
            stop_reading(tcp);
        cohort__io_call_end(call);
    } else if (bytes < 0) {
        stop_reading(tcp);
        end_reading(tcp, (int)bytes);
    }
}

static void start_reading(cohort_tcp *tcp)
{
    int error = uv_read_start((uv_stream_t *)&tcp->uv, allocate, arrived);
    tcp->is_reading = !error;
    if (error)
        end_reading(tcp, error);
}

static void read_begin(struct cohort__io_call *call)
{
    cohort_tcp *tcp = tcp_of_call(call);
    if (!cohort__io_object_admits(call))
        return;
    cohort__list_push_back(&tcp->reads, &call->queue);
    if (tcp->read_end)
        end_reading(tcp, tcp->read_end);
    else if (!tcp->is_reading)
        start_reading(tcp);
}

/* When libuv has stopped reading, it does not use the buffer any more. */
static void read_cancel(struct cohort__io_call *call)
{
    cohort_tcp *tcp = tcp_of_call(call);
    cohort__list_remove(&call->queue);
    if (cohort__list_is_empty(&tcp->reads) && !tcp->object.is_closing)
        stop_reading(tcp);
    cohort__io_call_end_early(call, tcp->peer);
}

static const struct cohort__io_call_kind read_kind = {
    .name = "cohort_tcp_read",
    .begin = read_begin,
    .cancel = read_cancel,
    .release = cohort__io_object_call_release,
};

cohort_future *cohort_tcp_read(cohort_tcp *tcp, void *buffer, size_t bytes, size_t *ret_bytes)
{
    if (!tcp || !buffer || !ret_bytes || bytes == 0 || bytes > PTRDIFF_MAX)
        return cohort__io_refuse(read_kind.name, COHORT_ERR_BAD_PARAMETER,
                                 !tcp                  ? "tcp is NULL"
                                 : !buffer             ? "buffer is NULL"
                                 : !ret_bytes          ? "ret_bytes is NULL"
                                 : bytes > PTRDIFF_MAX ? "that many bytes are more than memory"
                                                       : "no bytes are asked for");
    check(tcp, read_kind.name);
    struct read_call *read = cohort__io_call_create(sizeof(*read), &read_kind);
    if (!read)
        return cohort__io_refuse(read_kind.name, COHORT_ERR_NO_MEMORY, "out of memory");
    read->buffer = buffer;
    read->bytes = bytes;
    read->ret_bytes = ret_bytes;
    return cohort__io_object_call_start(&read->call, &tcp->object);
}

/* --- writing --- */

static void write_next(cohort_tcp *tcp);

/* The oldest has been seen to, and may have been cancelled meanwhile. Later ones follow, unless it
 * was the end of the connection. */
static void written(uv_write_t *request, int error)
{
    cohort_tcp *tcp = request->handle->data;
    struct cohort__io_call *call = cohort__io_queue_first(&tcp->writes);
    cohort__loop_note(tcp->object.loop);
    tcp->is_writing = false;
    if (error && call->reason)
        cohort__io_call_end_early(call, tcp->peer);
    else
        cohort__io_call_end_uv(call, error, tcp->peer);
    if (!tcp->object.is_closing)
        write_next(tcp);
}

/* Writes DATA, as far as that is possible at once, and lets libuv do the rest. */
static int write_data(cohort_tcp *tcp, uv_buf_t data)
{
    uv_stream_t *stream = (uv_stream_t *)&tcp->uv;
    int tried = data.len > 0 ? uv_try_write(stream, &data, 1) : 0;
    if (tried < 0 && tried != UV_EAGAIN)
        return tried;
    size_t done = tried > 0 ? (size_t)tried : 0;
    data.base += done;
    data.len -= done;
    if (data.len == 0)
        return 0;
    int error = uv_write(&tcp->write, stream, &data, 1, written);
    tcp->is_writing = !error;
    return error;
}

/* The system has all that is to come before the end. So this needs no request of libuv's, which
 * would be one more that can't be cancelled. */
static int shut(cohort_tcp *tcp)
{
    uv_os_fd_t fd;
    if (tcp->is_shut)
        return 0;
    int error = uv_fileno((uv_handle_t *)&tcp->uv, &fd);
    if (!error && shutdown(fd, SHUT_WR))
        error = uv_translate_sys_error(errno);
    tcp->is_shut = !error;
    return error;
}

/* Goes on with the oldest, if libuv has none. Not by recursion: each may be over at once. */
static void write_next(cohort_tcp *tcp)
{
    struct cohort__io_call *call;
    while (!tcp->is_writing && (call = cohort__io_queue_first(&tcp->writes))) {
        uv_buf_t data = write_call_of(call)->data;
        int error = data.base ? write_data(tcp, data) : shut(tcp);
        if (!tcp->is_writing)
            cohort__io_call_end_uv(call, error, tcp->peer);
    }
}

static void write_begin(struct cohort__io_call *call)
{
    cohort_tcp *tcp = tcp_of_call(call);
    if (!cohort__io_object_admits(call))
        return;
    cohort__list_push_back(&tcp->writes, &call->queue);
    write_next(tcp);
}

/* libuv gives back the data of the oldest only if the connection closes. */
static void write_cancel(struct cohort__io_call *call)
{
    cohort_tcp *tcp = tcp_of_call(call);
    if (tcp->is_writing && call == cohort__io_queue_first(&tcp->writes))
        cohort__io_object_close(&tcp->object);
    else
        cohort__io_call_end_early(call, tcp->peer);
}

static const struct cohort__io_call_kind write_kind = {
    .name = "cohort_tcp_write",
    .begin = write_begin,
    .cancel = write_cancel,
    .release = cohort__io_object_call_release,
};

static const struct cohort__io_call_kind shutdown_kind = {
    .name = "cohort_tcp_shutdown",
    .begin = write_begin,
    .cancel = write_cancel,
    .release = cohort__io_object_call_release,
};

/* DATA NULL: a shutdown. */
static cohort_future *start_write(cohort_tcp *tcp, const void *data, size_t bytes,
                                  const struct cohort__io_call_kind *kind)
{
    struct write_call *write = cohort__io_call_create(sizeof(*write), kind);
    if (!write)
        return cohort__io_refuse(kind->name, COHORT_ERR_NO_MEMORY, "out of memory");
    write->data = (uv_buf_t){.base = (char *)data, .len = bytes};
    return cohort__io_object_call_start(&write->call, &tcp->object);
}

cohort_future *cohort_tcp_write(cohort_tcp *tcp, const void *data, size_t bytes)
{
    if (!tcp || (!data && bytes > 0) || bytes > PTRDIFF_MAX)
        return cohort__io_refuse(write_kind.name, COHORT_ERR_BAD_PARAMETER,
                                 !tcp    ? "tcp is NULL"
                                 : !data ? "data is NULL"
                                         : "that many bytes are more than memory");
    check(tcp, write_kind.name);
    return start_write(tcp, data ? data : "", bytes, &write_kind);
}

cohort_future *cohort_tcp_shutdown(cohort_tcp *tcp)
{
    if (!tcp)
        return cohort__io_refuse(shutdown_kind.name, COHORT_ERR_BAD_PARAMETER, "tcp is NULL");
    check(tcp, shutdown_kind.name);
    return start_write(tcp, NULL, 0, &shutdown_kind);
}
