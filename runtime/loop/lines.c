/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/lines.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/loop/private.h"

struct cohort__lines {
    struct cohort__loop *loop;
    uv_pipe_t pipe;
    uv_idle_t resumed; /* delivers what is left in the buffer after a pause */
    bool is_fed;       /* text is fed in, and there is no pipe */
    struct cohort__lines_handlers handlers;
    size_t first; /* start of what has not been delivered */
    size_t filled;
    size_t searched; /* there is no newline from `first` to here */
    bool at_end;     /* the input has ended */
    bool ended;      /* `ended` was called */
    bool paused;
    bool closing;
    int num_closing; /* handles that are not closed yet */
    char buffer[COHORT__LINES_MAX_PIECE];
};

static bool is_stopped(const struct cohort__lines *lines)
{
    return lines->paused || lines->closing;
}

static void hand_out(struct cohort__lines *lines, size_t end)
{
    size_t first = lines->first;
    lines->first = lines->searched = end;
    lines->handlers.piece(lines->handlers.context, lines->buffer + first, end - first);
}

static void deliver(struct cohort__lines *lines)
{
    while (!is_stopped(lines) && lines->first < lines->filled) {
        const char *newline =
            memchr(lines->buffer + lines->searched, '\n', lines->filled - lines->searched);
        if (newline) {
            hand_out(lines, (size_t)(newline - lines->buffer) + 1);
            continue;
        }
        lines->searched = lines->filled;
        if (!lines->at_end && lines->filled - lines->first < sizeof(lines->buffer))
            break;
        hand_out(lines, lines->filled);
    }
    if (lines->first == lines->filled)
        lines->first = lines->filled = lines->searched = 0;
    if (lines->at_end && lines->filled == 0 && !is_stopped(lines) && !lines->ended) {
        lines->ended = true;
        lines->handlers.ended(lines->handlers.context);
    }
}

/* Moves what is not yet delivered to the start of the buffer. */
static void compact(struct cohort__lines *lines)
{
    if (lines->first == 0)
        return;
    memmove(lines->buffer, lines->buffer + lines->first, lines->filled - lines->first);
    lines->filled -= lines->first;
    lines->searched -= lines->first;
    lines->first = 0;
}

static void allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    (void)suggested;
    struct cohort__lines *lines = handle->data;
    compact(lines);
    *ret = uv_buf_init(lines->buffer + lines->filled,
                       (unsigned)(sizeof(lines->buffer) - lines->filled));
}

static void arrived(uv_stream_t *handle, ssize_t bytes, const uv_buf_t *buffer)
{
    (void)buffer;
    struct cohort__lines *lines = handle->data;
    cohort__loop_note(lines->loop);
    if (bytes > 0) {
        lines->filled += (size_t)bytes;
    } else if (bytes < 0) {
        /* The end, or any error: nothing more can be read from the child. */
        lines->at_end = true;
        uv_read_stop(handle);
    }
    deliver(lines);
}

static void go_on(uv_idle_t *idle)
{
    struct cohort__lines *lines = idle->data;
    cohort__loop_note(lines->loop);
    uv_idle_stop(idle);
    deliver(lines);
    if (!is_stopped(lines) && !lines->at_end && !lines->is_fed)
        uv_read_start((uv_stream_t *)&lines->pipe, allocate, arrived);
}

static struct cohort__lines *allocate_lines(struct cohort__loop *loop,
                                            const struct cohort__lines_handlers *handlers)
{
    struct cohort__lines *lines = malloc(sizeof(*lines));
    if (!lines) {
        (void)cohort_fail(COHORT_ERR_NO_MEMORY, "output of a child: out of memory");
        return NULL;
    }
    memset(lines, 0, offsetof(struct cohort__lines, buffer));
    lines->loop = loop;
    lines->handlers = *handlers;
    uv_idle_init(&loop->uv, &lines->resumed);
    lines->resumed.data = lines;
    return lines;
}

cohort_status cohort__lines_open(struct cohort__lines **ret_lines, struct cohort__loop *loop,
                                 int fd, const struct cohort__lines_handlers *handlers)
{
    struct cohort__lines *lines = allocate_lines(loop, handlers);
    if (!lines) {
        close(fd);
        return COHORT_ERR_NO_MEMORY;
    }
    uv_pipe_init(&loop->uv, &lines->pipe, 0);
    lines->pipe.data = lines;
    int error = uv_pipe_open(&lines->pipe, fd);
    if (error)
        close(fd);
    else
        error = uv_read_start((uv_stream_t *)&lines->pipe, allocate, arrived);
    if (error) {
        cohort__lines_close(lines);
        return cohort__loop_fail(error, "output of a child");
    }
    *ret_lines = lines;
    return COHORT_OK;
}

cohort_status cohort__lines_create(struct cohort__lines **ret_lines, struct cohort__loop *loop,
                                   const struct cohort__lines_handlers *handlers)
{
    struct cohort__lines *lines = allocate_lines(loop, handlers);
    if (!lines)
        return COHORT_ERR_NO_MEMORY;
    lines->is_fed = true;
    *ret_lines = lines;
    return COHORT_OK;
}

bool cohort__lines_feed(struct cohort__lines *lines, const char *text, size_t bytes)
{
    compact(lines);
    if (lines->at_end || bytes > sizeof(lines->buffer) - lines->filled)
        return false;
    memcpy(lines->buffer + lines->filled, text, bytes);
    lines->filled += bytes;
    deliver(lines);
    return true;
}

void cohort__lines_feed_end(struct cohort__lines *lines)
{
    lines->at_end = true;
    deliver(lines);
}

static void closed(uv_handle_t *handle)
{
    struct cohort__lines *lines = handle->data;
    if (--lines->num_closing == 0)
        free(lines);
}

void cohort__lines_close(struct cohort__lines *lines)
{
    if (!lines || lines->closing)
        return;
    lines->closing = true;
    lines->num_closing = lines->is_fed ? 1 : 2;
    if (!lines->is_fed)
        uv_close((uv_handle_t *)&lines->pipe, closed);
    uv_close((uv_handle_t *)&lines->resumed, closed);
}

void cohort__lines_pause(struct cohort__lines *lines, bool paused)
{
    if (lines->closing || lines->paused == paused)
        return;
    lines->paused = paused;
    if (paused) {
        if (!lines->is_fed)
            uv_read_stop((uv_stream_t *)&lines->pipe);
        uv_idle_stop(&lines->resumed);
    } else {
        uv_idle_start(&lines->resumed, go_on);
    }
}
