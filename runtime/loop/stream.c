/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/stream.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/loop/private.h"

enum { MIN_INPUT = 4096 };

struct cohort__stream {
    struct cohort__loop *loop;
    uv_pipe_t pipe;
    struct cohort__stream_handlers handlers;
    char peer[64];
    size_t max_message;
    unsigned char *input;
    size_t filled;
    size_t capacity;
    atomic_uint num_queued; /* parts of messages that libuv has still to write */
    bool ended;             /* `ended` was called */
    bool closing;           /* freed by libuv's close callback */
};

/* The part of a message that could not be written at once. */
struct outgoing {
    uv_write_t request;
    unsigned char bytes[];
};

static void end(struct cohort__stream *stream, cohort_status status)
{
    if (stream->ended || stream->closing)
        return;
    stream->ended = true;
    uv_read_stop((uv_stream_t *)&stream->pipe);
    stream->handlers.ended(stream->handlers.context, status);
}

static void end_failed(struct cohort__stream *stream, int uv_error)
{
    const bool no_memory = uv_error == UV_ENOBUFS; /* `allocate` had none */
    end(stream,
        cohort_fail(no_memory ? COHORT_ERR_NO_MEMORY : COHORT_ERR_NETWORK, "connection to %s: %s",
                    stream->peer, no_memory ? "out of memory" : uv_strerror(uv_error)));
}

static size_t message_bytes(const unsigned char head[COHORT__STREAM_HEAD_BYTES])
{
    return head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
}

/* The number of bytes from the start of the input to the end of its first message, as far as it is
 * known yet. */
static size_t wanted_bytes(const struct cohort__stream *stream)
{
    if (stream->filled < COHORT__STREAM_HEAD_BYTES)
        return COHORT__STREAM_HEAD_BYTES;
    size_t bytes = message_bytes(stream->input);
    return COHORT__STREAM_HEAD_BYTES + (bytes < stream->max_message ? bytes : stream->max_message);
}

static void allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    (void)suggested;
    struct cohort__stream *stream = handle->data;
    size_t wanted = wanted_bytes(stream);
    size_t capacity = wanted > MIN_INPUT ? wanted : MIN_INPUT;
    *ret = uv_buf_init(NULL, 0);
    if (stream->capacity < capacity) {
        unsigned char *input = realloc(stream->input, capacity);
        if (!input)
            return; /* libuv then calls arrived with UV_ENOBUFS */
        stream->input = input;
        stream->capacity = capacity;
    }
    ret->base = (char *)stream->input + stream->filled;
    ret->len = stream->capacity - stream->filled;
}

static void deliver(struct cohort__stream *stream)
{
    size_t done = 0;
    while (!stream->ended && !stream->closing) {
        if (stream->filled - done < COHORT__STREAM_HEAD_BYTES)
            break;
        size_t bytes = message_bytes(stream->input + done);
        if (bytes > stream->max_message) {
            end(stream, cohort_fail(COHORT_ERR_PROTOCOL,
                                    "%s sent a message of %zu bytes, where %zu are allowed",
                                    stream->peer, bytes, stream->max_message));
            return;
        }
        if (stream->filled - done < COHORT__STREAM_HEAD_BYTES + bytes)
            break;
        const unsigned char *message = stream->input + done + COHORT__STREAM_HEAD_BYTES;
        done += COHORT__STREAM_HEAD_BYTES + bytes;
        stream->handlers.message(stream->handlers.context, message, bytes);
    }
    memmove(stream->input, stream->input + done, stream->filled - done);
    stream->filled -= done;
}

static void arrived(uv_stream_t *handle, ssize_t bytes, const uv_buf_t *buffer)
{
    (void)buffer;
    struct cohort__stream *stream = handle->data;
    cohort__loop_note(stream->loop);
    if (bytes > 0) {
        stream->filled += (size_t)bytes;
        deliver(stream);
    } else if (bytes == UV_EOF && stream->filled > 0) {
        end(stream, cohort_fail(COHORT_ERR_PROTOCOL, "%s ended within a message", stream->peer));
    } else if (bytes == UV_EOF) {
        end(stream, COHORT_OK);
    } else if (bytes < 0) {
        end_failed(stream, (int)bytes);
    }
}

cohort_status cohort__stream_open(struct cohort__stream **ret_stream, struct cohort__loop *loop,
                                  int fd, const char *peer, size_t max_message,
                                  const struct cohort__stream_handlers *handlers)
{
    struct cohort__stream *stream = calloc(1, sizeof(*stream));
    if (!stream) {
        close(fd);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "connection to %s: out of memory", peer);
    }
    stream->loop = loop;
    stream->handlers = *handlers;
    stream->max_message = max_message;
    snprintf(stream->peer, sizeof(stream->peer), "%s", peer);
    uv_pipe_init(&loop->uv, &stream->pipe, 0);
    stream->pipe.data = stream;
    int error = uv_pipe_open(&stream->pipe, fd);
    if (error)
        close(fd);
    else
        error = uv_read_start((uv_stream_t *)&stream->pipe, allocate, arrived);
    if (error) {
        cohort__stream_close(stream);
        return cohort__loop_fail(error, "connection to %s", peer);
    }
    *ret_stream = stream;
    return COHORT_OK;
}

static void closed(uv_handle_t *handle)
{
    struct cohort__stream *stream = handle->data;
    free(stream->input);
    free(stream);
}

void cohort__stream_close(struct cohort__stream *stream)
{
    if (!stream || stream->closing)
        return;
    stream->closing = true;
    uv_close((uv_handle_t *)&stream->pipe, closed);
}

void cohort__stream_limit(struct cohort__stream *stream, size_t max_message)
{
    stream->max_message = max_message;
}

static void written(uv_write_t *request, int error)
{
    struct cohort__stream *stream = request->handle->data;
    free(request->data);
    atomic_fetch_sub(&stream->num_queued, 1);
    if (error)
        end_failed(stream, error);
}

/* Queues what follows the first DONE bytes of HEAD and MESSAGE. */
static cohort_status queue(struct cohort__stream *stream,
                           const unsigned char head[COHORT__STREAM_HEAD_BYTES], const void *message,
                           size_t bytes, size_t done)
{
    size_t head_done = done < COHORT__STREAM_HEAD_BYTES ? done : COHORT__STREAM_HEAD_BYTES;
    size_t head_bytes = COHORT__STREAM_HEAD_BYTES - head_done;
    size_t message_done = done - head_done, rest = bytes - message_done;
    struct outgoing *outgoing = malloc(sizeof(*outgoing) + head_bytes + rest);
    if (!outgoing)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "connection to %s: out of memory", stream->peer);
    memcpy(outgoing->bytes, head + head_done, head_bytes);
    if (rest > 0)
        memcpy(outgoing->bytes + head_bytes, (const unsigned char *)message + message_done, rest);
    outgoing->request.data = outgoing;
    uv_buf_t buffer = uv_buf_init((char *)outgoing->bytes, (unsigned)(head_bytes + rest));
    atomic_fetch_add(&stream->num_queued, 1);
    int error = uv_write(&outgoing->request, (uv_stream_t *)&stream->pipe, &buffer, 1, written);
    if (error) {
        atomic_fetch_sub(&stream->num_queued, 1);
        free(outgoing);
        return cohort_fail(COHORT_ERR_NETWORK, "connection to %s: %s", stream->peer,
                           uv_strerror(error));
    }
    return COHORT_OK;
}

/* Writes as much as possible at once. What is queued stays in memory until the loop turns, and
 * before that, a long message may be sent on thousands of streams. */
cohort_status cohort__stream_send(struct cohort__stream *stream, const void *message, size_t bytes)
{
    if (stream->ended || stream->closing)
        return COHORT_OK;
    unsigned char head[COHORT__STREAM_HEAD_BYTES];
    cohort__stream_head(head, bytes);
    uv_buf_t buffers[] = {uv_buf_init((char *)head, sizeof(head)),
                          uv_buf_init((char *)message, (unsigned)bytes)};
    int tried = uv_try_write((uv_stream_t *)&stream->pipe, buffers, bytes > 0 ? 2 : 1);
    size_t done = tried > 0 ? (size_t)tried : 0; /* if it failed, uv_write tries again */
    return done == sizeof(head) + bytes ? COHORT_OK : queue(stream, head, message, bytes, done);
}

bool cohort__stream_is_written(const struct cohort__stream *stream)
{
    return atomic_load(&stream->num_queued) == 0;
}

void cohort__stream_head(unsigned char ret_head[COHORT__STREAM_HEAD_BYTES], size_t bytes)
{
    for (int i = 0; i < COHORT__STREAM_HEAD_BYTES; i++)
        ret_head[i] = (unsigned char)(bytes >> 8 * i);
}
