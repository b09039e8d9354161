/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/log.h"
#include "runtime/loop/private.h"

/* Without descriptors or memory, no connection can be accepted. But connections that wait keep the
 * socket readable, so it is not watched for a while. */
enum { MAX_A_TURN = 16, PAUSE_MILLISECONDS = 100 };

struct cohort__listener {
    struct cohort__loop *loop;
    uv_poll_t poll;
    uv_timer_t pause;
    unsigned num_open; /* handles that are not closed yet */
    int fd;
    void (*accepted)(void *context, int fd);
    void *context;
    bool closing;
};

static void readable(uv_poll_t *handle, int status, int events);

static void pause_over(uv_timer_t *timer)
{
    struct cohort__listener *listener = timer->data;
    cohort__loop_note(listener->loop);
    (void)uv_poll_start(&listener->poll, UV_READABLE, readable); /* it has succeeded before */
}

static void pause_for_room(struct cohort__listener *listener, int error)
{
    cohort__log(COHORT__LOG_WARN, "listening: accept: %s; trying again in %d ms", strerror(error),
                PAUSE_MILLISECONDS);
    uv_poll_stop(&listener->poll);
    uv_timer_start(&listener->pause, pause_over, PAUSE_MILLISECONDS, 0);
}

static bool is_want_of_room(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void readable(uv_poll_t *handle, int status, int events)
{
    (void)status, (void)events;
    struct cohort__listener *listener = handle->data;
    cohort__loop_note(listener->loop);
    for (int i = 0; i < MAX_A_TURN && !listener->closing; i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            if (is_want_of_room(errno))
                pause_for_room(listener, errno);
            break; /* else there is no connection, or it was closed again: wait for the next */
        }
        listener->accepted(listener->context, fd);
    }
}

cohort_status cohort__listener_open(struct cohort__listener **ret_listener,
                                    struct cohort__loop *loop, int fd,
                                    void (*accepted)(void *context, int fd), void *context)
{
    struct cohort__listener *listener = calloc(1, sizeof(*listener));
    if (!listener) {
        close(fd);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "listening: out of memory");
    }
    *listener =
        (struct cohort__listener){.loop = loop, .fd = fd, .accepted = accepted, .context = context};
    listener->poll.data = listener;
    int error = uv_poll_init(&loop->uv, &listener->poll, fd); /* makes it non-blocking */
    if (error) {
        close(fd);
        free(listener);
        return cohort__loop_fail(error, "listening");
    }
    listener->pause.data = listener;
    listener->num_open = 2;
    uv_timer_init(&loop->uv, &listener->pause); /* can't fail */
    error = uv_poll_start(&listener->poll, UV_READABLE, readable);
    if (error) {
        cohort__listener_close(listener);
        return cohort__loop_fail(error, "listening");
    }
    *ret_listener = listener;
    return COHORT_OK;
}

static void closed(uv_handle_t *handle)
{
    struct cohort__listener *listener = handle->data;
    if (--listener->num_open == 0)
        free(listener);
}

void cohort__listener_close(struct cohort__listener *listener)
{
    if (!listener || listener->closing)
        return;
    listener->closing = true;
    uv_close((uv_handle_t *)&listener->pause, closed);
    uv_close((uv_handle_t *)&listener->poll, closed);
    close(listener->fd); /* at once, so that nobody can connect any more */
}
