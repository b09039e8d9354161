/* SPDX-License-Identifier: Apache-2.0 */
#include <uv.h>

#include "tests/multi/embed_member.h"

/* Within libuv: the program's own loop, not that of the locality. */

const char *const embed_loop_name = "libuv";

static struct {
    uv_poll_t poll;
    uv_timer_t timer;
    bool (*readable)(void);
    bool (*tick)(void);
} own;

static void end(void)
{
    uv_close((uv_handle_t *)&own.poll, NULL);
    uv_close((uv_handle_t *)&own.timer, NULL);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    if (!own.readable())
        end();
}

static void on_tick(uv_timer_t *timer)
{
    if (!own.tick())
        end();
}

void embed_loop_run(int fd, bool (*readable)(void), bool (*tick)(void))
{
    uv_loop_t loop;
    own.readable = readable;
    own.tick = tick;
    uv_loop_init(&loop);
    uv_poll_init(&loop, &own.poll, fd);
    uv_poll_start(&own.poll, UV_READABLE, on_readable);
    uv_timer_init(&loop, &own.timer);
    uv_timer_start(&own.timer, on_tick, 1, 1);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
}
