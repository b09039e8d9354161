/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/io/tcp.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>

#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/loop/guest.h"

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

int cohort__tcp_create(struct cohort_tcp **ret_tcp, struct cohort__loop *loop)
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

void cohort__tcp_connected(struct cohort_tcp *tcp)
{
    struct sockaddr_storage address;
    int bytes = sizeof(address);
    uv_tcp_nodelay(&tcp->uv, 1); /* if not, it is only slower */
    if (uv_tcp_getpeername(&tcp->uv, (struct sockaddr *)&address, &bytes) == 0)
        cohort__address_text((struct sockaddr *)&address, tcp->peer);
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
