/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "tests/cross/simulation.h"
#include "tests/support/scarce.h"
#include "tests/support/test.h"

/* libuv's calls about files, without its threads: each is made, and ends, in a later turn of the
 * loop, and by then it may have been cancelled, as one that waits for a thread. */

enum kind { OPEN, READ, WRITE, SYNC, SIZE, CLOSE };
enum { MOST_MILLISECONDS = 3 };

struct late {
    uv_timer_t timer;
    uv_fs_t *request;
    uv_fs_cb done;
    enum kind kind;
    int fd, flags, mode;
    char path[64];
    uv_buf_t buffer;
    int64_t offset;
    bool is_cancelled;
    struct late *next;
};

static struct late *first;

__typeof__(uv_fs_open) __real_uv_fs_open, __wrap_uv_fs_open;
__typeof__(uv_fs_read) __real_uv_fs_read, __wrap_uv_fs_read;
__typeof__(uv_fs_write) __real_uv_fs_write, __wrap_uv_fs_write;
__typeof__(uv_fs_fsync) __real_uv_fs_fsync, __wrap_uv_fs_fsync;
__typeof__(uv_fs_fstat) __real_uv_fs_fstat, __wrap_uv_fs_fstat;
__typeof__(uv_fs_close) __real_uv_fs_close, __wrap_uv_fs_close;
__typeof__(uv_cancel) __real_uv_cancel, __wrap_uv_cancel;

static void make(const struct late *late)
{
    uv_loop_t *loop = late->timer.loop;
    uv_fs_t *request = late->request;
    switch (late->kind) {
    case OPEN:
        __real_uv_fs_open(loop, request, late->path, late->flags, late->mode, NULL);
        break;
    case READ:
        __real_uv_fs_read(loop, request, late->fd, &late->buffer, 1, late->offset, NULL);
        break;
    case WRITE:
        __real_uv_fs_write(loop, request, late->fd, &late->buffer, 1, late->offset, NULL);
        break;
    case SYNC:
        __real_uv_fs_fsync(loop, request, late->fd, NULL);
        break;
    case SIZE:
        __real_uv_fs_fstat(loop, request, late->fd, NULL);
        break;
    case CLOSE:
        __real_uv_fs_close(loop, request, late->fd, NULL);
        break;
    }
}

static void timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void due(uv_timer_t *timer)
{
    struct late *late = timer->data, **link = &first;
    uv_fs_t *request = late->request;
    while (*link != late)
        link = &(*link)->next;
    *link = late->next;
    if (late->is_cancelled) {
        memset(request, 0, sizeof(*request));
        request->type = UV_FS;
        request->result = UV_ECANCELED;
    } else
        make(late);
    uv_close((uv_handle_t *)timer, timer_closed);
    late->done(request);
}

static int begin(uv_loop_t *loop, const struct late *what)
{
    scarce_pause();
    struct late *late = malloc(sizeof(*late));
    scarce_go_on();
    CHECK(late);
    *late = *what;
    late->next = first;
    first = late;
    CHECK_INT(uv_timer_init(loop, &late->timer), 0);
    late->timer.data = late;
    CHECK_INT(uv_timer_start(&late->timer, due, simulation_draw(MOST_MILLISECONDS), 0), 0);
    return 0;
}

int __wrap_uv_fs_open(uv_loop_t *loop, uv_fs_t *request, const char *path, int flags, int mode,
                      uv_fs_cb done)
{
    struct late late = {
        .request = request, .done = done, .kind = OPEN, .flags = flags, .mode = mode};
    CHECK(strlen(path) < sizeof(late.path));
    strcpy(late.path, path);
    return begin(loop, &late);
}

int __wrap_uv_fs_read(uv_loop_t *loop, uv_fs_t *request, uv_file fd, const uv_buf_t buffers[],
                      unsigned num, int64_t offset, uv_fs_cb done)
{
    CHECK_INT(num, 1);
    return begin(loop, &(struct late){.request = request,
                                      .done = done,
                                      .kind = READ,
                                      .fd = fd,
                                      .buffer = buffers[0],
                                      .offset = offset});
}

int __wrap_uv_fs_write(uv_loop_t *loop, uv_fs_t *request, uv_file fd, const uv_buf_t buffers[],
                       unsigned num, int64_t offset, uv_fs_cb done)
{
    CHECK_INT(num, 1);
    return begin(loop, &(struct late){.request = request,
                                      .done = done,
                                      .kind = WRITE,
                                      .fd = fd,
                                      .buffer = buffers[0],
                                      .offset = offset});
}

int __wrap_uv_fs_fsync(uv_loop_t *loop, uv_fs_t *request, uv_file fd, uv_fs_cb done)
{
    return begin(loop, &(struct late){.request = request, .done = done, .kind = SYNC, .fd = fd});
}

int __wrap_uv_fs_fstat(uv_loop_t *loop, uv_fs_t *request, uv_file fd, uv_fs_cb done)
{
    return begin(loop, &(struct late){.request = request, .done = done, .kind = SIZE, .fd = fd});
}

int __wrap_uv_fs_close(uv_loop_t *loop, uv_fs_t *request, uv_file fd, uv_fs_cb done)
{
    return done ? begin(loop,
                        &(struct late){.request = request, .done = done, .kind = CLOSE, .fd = fd})
                : __real_uv_fs_close(loop, request, fd, NULL);
}

int __wrap_uv_cancel(uv_req_t *request)
{
    for (struct late *late = first; late; late = late->next)
        if ((uv_req_t *)late->request == request) {
            late->is_cancelled = true;
            return 0;
        }
    return __real_uv_cancel(request);
}
