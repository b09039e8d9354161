/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/outlet.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "runtime/loop/private.h"

/* A pipe that is writable according to poll(2) takes PIPE_BUF bytes without blocking. libuv could
 * tell when that is so, but it makes each descriptor that it watches non-blocking. So the
 * descriptor is put into an epoll of our own, and libuv watches that epoll. Regular files can't be
 * polled, and need not be. */
enum { STEP = PIPE_BUF, MUCH = 64 * 1024 };

struct cohort__outlet {
    struct cohort__loop *loop;
    struct cohort__outlet_handlers handlers;
    int fd;
    int epoll; /* -1: the file never blocks */
    uv_poll_t poll;
    uv_idle_t soon; /* writes what was queued in this turn of the loop, and calls the handlers */
    char *queue;
    size_t first;
    size_t filled;
    size_t capacity;
    bool blocked; /* waits until the descriptor is writable */
    int error;
    bool told; /* `failed` was called */
    bool closing;
    int num_closing;
};

static bool is_writable(const struct cohort__outlet *outlet)
{
    struct pollfd pollfd = {.fd = outlet->fd, .events = POLLOUT};
    return outlet->epoll < 0 || poll(&pollfd, 1, 0) > 0;
}

static void flush(struct cohort__outlet *outlet)
{
    while (!outlet->error && outlet->first < outlet->filled && is_writable(outlet)) {
        size_t bytes = outlet->filled - outlet->first;
        ssize_t written =
            write(outlet->fd, outlet->queue + outlet->first, bytes < STEP ? bytes : STEP);
        if (written >= 0)
            outlet->first += (size_t)written;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            outlet->error = errno;
    }
    if (outlet->error || outlet->first == outlet->filled)
        outlet->first = outlet->filled = 0;
}

static void writable(uv_poll_t *handle, int status, int events);

/* Writes what can be written, calls the handlers, and if there is a rest, waits until it can be
 * written. */
static void go_on(struct cohort__outlet *outlet)
{
    flush(outlet);
    outlet->blocked = outlet->filled > 0;
    if (outlet->blocked)
        uv_poll_start(&outlet->poll, UV_READABLE, writable);
    else if (outlet->epoll >= 0)
        uv_poll_stop(&outlet->poll);
    if (outlet->error && !outlet->told) {
        outlet->told = true;
        outlet->handlers.failed(outlet->handlers.context, outlet->error);
    }
    if (!outlet->blocked && !outlet->closing)
        outlet->handlers.drained(outlet->handlers.context);
}

static void writable(uv_poll_t *handle, int status, int events)
{
    (void)status, (void)events; /* if there is an error, write will return it */
    struct cohort__outlet *outlet = handle->data;
    cohort__loop_note(outlet->loop);
    go_on(outlet);
}

static void soon(uv_idle_t *idle)
{
    struct cohort__outlet *outlet = idle->data;
    cohort__loop_note(outlet->loop);
    uv_idle_stop(idle);
    go_on(outlet);
}

static int watch(struct cohort__outlet *outlet)
{
    struct epoll_event event = {.events = EPOLLOUT};
    outlet->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (outlet->epoll < 0)
        return -errno;
    if (epoll_ctl(outlet->epoll, EPOLL_CTL_ADD, outlet->fd, &event) == 0)
        return uv_poll_init(&outlet->loop->uv, &outlet->poll, outlet->epoll);
    int error = errno == EPERM || errno == EBADF ? 0 : -errno; /* write will return EBADF */
    close(outlet->epoll);
    outlet->epoll = -1;
    return error;
}

cohort_status cohort__outlet_create(struct cohort__outlet **ret_outlet, struct cohort__loop *loop,
                                    int fd, const struct cohort__outlet_handlers *handlers)
{
    struct cohort__outlet *outlet = calloc(1, sizeof(*outlet));
    if (!outlet)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "output: out of memory");
    outlet->loop = loop;
    outlet->handlers = *handlers;
    outlet->fd = fd;
    int error = watch(outlet);
    if (error) {
        if (outlet->epoll >= 0)
            close(outlet->epoll);
        free(outlet);
        return cohort__loop_fail(error, "output");
    }
    uv_idle_init(&loop->uv, &outlet->soon);
    outlet->poll.data = outlet->soon.data = outlet;
    *ret_outlet = outlet;
    return COHORT_OK;
}

static void closed(uv_handle_t *handle)
{
    struct cohort__outlet *outlet = handle->data;
    if (--outlet->num_closing > 0)
        return;
    if (outlet->epoll >= 0)
        close(outlet->epoll);
    free(outlet->queue);
    free(outlet);
}

void cohort__outlet_destroy(struct cohort__outlet *outlet)
{
    if (!outlet || outlet->closing)
        return;
    outlet->closing = true;
    outlet->num_closing = outlet->epoll >= 0 ? 2 : 1;
    uv_close((uv_handle_t *)&outlet->soon, closed);
    if (outlet->epoll >= 0)
        uv_close((uv_handle_t *)&outlet->poll, closed);
}

static bool reserve(struct cohort__outlet *outlet, size_t bytes)
{
    if (outlet->capacity - outlet->filled >= bytes)
        return true;
    size_t queued = outlet->filled - outlet->first;
    if (outlet->capacity - queued < bytes || queued > outlet->capacity / 2) {
        size_t capacity = 2 * outlet->capacity + bytes;
        char *queue = realloc(outlet->queue, capacity);
        if (!queue)
            return false;
        outlet->queue = queue;
        outlet->capacity = capacity;
    }
    memmove(outlet->queue, outlet->queue + outlet->first, queued);
    outlet->first = 0;
    outlet->filled = queued;
    return true;
}

void cohort__outlet_write(struct cohort__outlet *outlet, const void *data, size_t bytes)
{
    if (outlet->closing || outlet->error || bytes == 0)
        return;
    if (reserve(outlet, bytes)) {
        memcpy(outlet->queue + outlet->filled, data, bytes);
        outlet->filled += bytes;
    } else {
        outlet->error = ENOMEM;
        outlet->first = outlet->filled = 0;
    }
    if (!outlet->blocked && outlet->filled - outlet->first > MUCH)
        flush(outlet);
    if (!outlet->blocked || outlet->error)
        uv_idle_start(&outlet->soon, soon);
}

size_t cohort__outlet_queued(const struct cohort__outlet *outlet)
{
    return outlet->filled - outlet->first;
}
