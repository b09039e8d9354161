/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/intake.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "runtime/loop/private.h"

/* Works like the outlet (see outlet.c). The descriptor is in an epoll of our own, which libuv
 * watches. It is read only when that epoll says that a read will not block. Regular files can't be
 * polled, and need not be: one piece of them is read in each turn of the loop. */
enum { PIECE = 32 * 1024 };

struct cohort__intake {
    struct cohort__loop *loop;
    struct cohort__intake_handlers handlers;
    int fd;
    int epoll; /* -1: the file never blocks */
    uv_poll_t poll;
    uv_idle_t idle;
    size_t allowed;
    bool reading; /* libuv watches the epoll, or the idle handle runs */
    bool ended;
    bool closing;
    int num_closing; /* handles that are not closed yet */
    char data[PIECE];
};

static void readable(uv_poll_t *handle, int status, int events);
static void turned(uv_idle_t *handle);

/* Starts or stops watching, according to whether there is something to wait for. */
static void arrange(struct cohort__intake *intake)
{
    bool wanted = intake->allowed > 0 && !intake->ended && !intake->closing;
    if (wanted == intake->reading || intake->closing)
        return;
    intake->reading = wanted;
    if (intake->epoll < 0 && wanted)
        uv_idle_start(&intake->idle, turned);
    else if (intake->epoll < 0)
        uv_idle_stop(&intake->idle);
    else if (wanted)
        uv_poll_start(&intake->poll, UV_READABLE, readable);
    else
        uv_poll_stop(&intake->poll);
}

static void read_piece(struct cohort__intake *intake)
{
    size_t wanted = intake->allowed < PIECE ? intake->allowed : PIECE;
    ssize_t bytes = read(intake->fd, intake->data, wanted);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    intake->ended = bytes <= 0;
    intake->allowed -= bytes > 0 ? (size_t)bytes : 0;
    arrange(intake);
    if (intake->ended)
        intake->handlers.ended(intake->handlers.context);
    else
        intake->handlers.arrived(intake->handlers.context, intake->data, (size_t)bytes);
}

static void readable(uv_poll_t *handle, int status, int events)
{
    (void)status, (void)events; /* if there is an error, read will return it */
    struct cohort__intake *intake = handle->data;
    struct epoll_event event;
    cohort__loop_note(intake->loop);
    if (epoll_wait(intake->epoll, &event, 1, 0) > 0)
        read_piece(intake);
}

static void turned(uv_idle_t *handle)
{
    struct cohort__intake *intake = handle->data;
    cohort__loop_note(intake->loop);
    read_piece(intake);
}

static int watch(struct cohort__intake *intake)
{
    struct epoll_event event = {.events = EPOLLIN};
    intake->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (intake->epoll < 0)
        return -errno;
    if (epoll_ctl(intake->epoll, EPOLL_CTL_ADD, intake->fd, &event) == 0)
        return uv_poll_init(&intake->loop->uv, &intake->poll, intake->epoll);
    int error = errno == EPERM || errno == EBADF ? 0 : -errno; /* read will return EBADF */
    close(intake->epoll);
    intake->epoll = -1;
    return error;
}

cohort_status cohort__intake_open(struct cohort__intake **ret_intake, struct cohort__loop *loop,
                                  int fd, const struct cohort__intake_handlers *handlers)
{
    struct cohort__intake *intake = calloc(1, sizeof(*intake));
    if (!intake)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "input: out of memory");
    intake->loop = loop;
    intake->handlers = *handlers;
    intake->fd = fd;
    int error = watch(intake);
    if (error) {
        if (intake->epoll >= 0)
            close(intake->epoll);
        free(intake);
        return cohort__loop_fail(error, "input");
    }
    uv_idle_init(&loop->uv, &intake->idle);
    intake->poll.data = intake->idle.data = intake;
    *ret_intake = intake;
    return COHORT_OK;
}

static void closed(uv_handle_t *handle)
{
    struct cohort__intake *intake = handle->data;
    if (--intake->num_closing > 0)
        return;
    if (intake->epoll >= 0)
        close(intake->epoll);
    free(intake);
}

void cohort__intake_close(struct cohort__intake *intake)
{
    if (!intake || intake->closing)
        return;
    intake->closing = true;
    intake->num_closing = intake->epoll >= 0 ? 2 : 1;
    uv_close((uv_handle_t *)&intake->idle, closed);
    if (intake->epoll >= 0)
        uv_close((uv_handle_t *)&intake->poll, closed);
}

void cohort__intake_allow(struct cohort__intake *intake, size_t bytes)
{
    intake->allowed += bytes;
    arrange(intake);
}
