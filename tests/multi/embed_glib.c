/* SPDX-License-Identifier: Apache-2.0 */
#include <glib-unix.h>
#include <glib.h>

#include "tests/multi/embed_member.h"

/* Within glib's main loop. */

const char *const embed_loop_name = "glib";

static struct {
    GMainLoop *loop;
    bool (*readable)(void);
    bool (*tick)(void);
} own;

static gboolean on_readable(gint fd, GIOCondition condition, gpointer data)
{
    if (!own.readable())
        g_main_loop_quit(own.loop);
    return G_SOURCE_CONTINUE;
}

static gboolean on_tick(gpointer data)
{
    if (!own.tick())
        g_main_loop_quit(own.loop);
    return G_SOURCE_CONTINUE;
}

void embed_loop_run(int fd, bool (*readable)(void), bool (*tick)(void))
{
    own.readable = readable;
    own.tick = tick;
    own.loop = g_main_loop_new(NULL, FALSE);
    guint watch = g_unix_fd_add(fd, G_IO_IN, on_readable, NULL);
    guint timer = g_timeout_add(1, on_tick, NULL);
    g_main_loop_run(own.loop);
    g_source_remove(watch);
    g_source_remove(timer);
    g_main_loop_unref(own.loop);
}
