/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/listener.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/loop/private.h"

enum { MAX_A_TURN = 16 };

struct cohort__listener {
    struct cohort__loop *loop;
    uv_poll_t poll;
    int fd;
    void (*accepted)(void *context, int fd);
    void *context;
    bool closing;
};

static void readable(uv_poll_t *handle, int status, int events)
{
    (void)status, (void)events;
    struct cohort__listener *listener = handle->data;
    cohort__loop_note(listener->loop);
    for (int i = 0; i < MAX_A_TURN && !listener->closing; i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            break; /* nobody, or somebody who has gone again, or no descriptors: there is a next
                    * time */
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
    free(handle->data);
}

void cohort__listener_close(struct cohort__listener *listener)
{
    if (!listener || listener->closing)
        return;
    listener->closing = true;
    uv_close((uv_handle_t *)&listener->poll, closed);
    close(listener->fd); /* at once: nobody gets in any more */
}
