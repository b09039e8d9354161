/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/stream.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/base/container.h"
#include "runtime/loop/private.h"

/* libuv watches the socket, and each call here says that it must not block (MSG_DONTWAIT). libuv's
 * own streams rely on O_NONBLOCK, which others who have inherited the socket can clear (see
 * base/bell.h). */
enum { MIN_INPUT = 4096, MAX_READS_A_TURN = 16 };

struct cohort__stream {
    struct cohort__loop *loop;
    uv_poll_t poll;
    int events; /* for which libuv watches */
    int fd;
    struct cohort__stream_handlers handlers;
    char peer[64];
    size_t max_message;
    unsigned char *input;
    size_t filled;
    size_t capacity;
    struct cohort__list queue; /* struct outgoing: what the socket had no room for */
    atomic_uint num_queued;    /* of these */
    bool ended;                /* `ended` was called */
    bool closing;              /* freed by libuv's close callback */
};

/* The part of a message that could not be written at once. */
struct outgoing {
    struct cohort__list link;
    size_t done;
    size_t bytes;
    unsigned char data[];
};

static bool is_over(const struct cohort__stream *stream)
{
    return stream->ended || stream->closing;
}

static void end(struct cohort__stream *stream, cohort_status status)
{
    if (is_over(stream))
        return;
    stream->ended = true;
    uv_poll_stop(&stream->poll);
    stream->handlers.ended(stream->handlers.context, status);
}

static void end_failed(struct cohort__stream *stream, int error)
{
    end(stream, cohort_fail(COHORT_ERR_NETWORK, "connection to %s: %s", stream->peer,
                            uv_strerror(uv_translate_sys_error(error))));
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

/* Makes room for at least one byte. */
static bool make_room(struct cohort__stream *stream)
{
    size_t wanted = wanted_bytes(stream);
    size_t capacity = wanted > MIN_INPUT ? wanted : MIN_INPUT;
    if (stream->capacity >= capacity)
        return true;
    unsigned char *input = realloc(stream->input, capacity);
    if (!input)
        return false;
    stream->input = input;
    stream->capacity = capacity;
    return true;
}

static void deliver(struct cohort__stream *stream)
{
    size_t done = 0;
    while (!is_over(stream)) {
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

/* Returns whether there may be more. */
static bool read_some(struct cohort__stream *stream)
{
    if (!make_room(stream)) {
        end(stream,
            cohort_fail(COHORT_ERR_NO_MEMORY, "connection to %s: out of memory", stream->peer));
        return false;
    }
    size_t room = stream->capacity - stream->filled;
    ssize_t bytes = recv(stream->fd, stream->input + stream->filled, room, MSG_DONTWAIT);
    if (bytes > 0) {
        stream->filled += (size_t)bytes;
        deliver(stream);
        return (size_t)bytes == room;
    }
    if (bytes == 0 && stream->filled > 0)
        end(stream, cohort_fail(COHORT_ERR_PROTOCOL, "%s ended within a message", stream->peer));
    else if (bytes == 0)
        end(stream, COHORT_OK);
    else if (errno != EAGAIN && errno != EINTR)
        end_failed(stream, errno);
    return false;
}

static void drop_first(struct cohort__stream *stream)
{
    struct cohort__list *link = cohort__list_pop_front(&stream->queue);
    free(COHORT_CONTAINER_OF(link, struct outgoing, link));
    atomic_fetch_sub(&stream->num_queued, 1);
}

static void write_queue(struct cohort__stream *stream)
{
    while (!cohort__list_is_empty(&stream->queue)) {
        struct outgoing *outgoing = COHORT_CONTAINER_OF(stream->queue.next, struct outgoing, link);
        ssize_t bytes = send(stream->fd, outgoing->data + outgoing->done,
                             outgoing->bytes - outgoing->done, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (bytes < 0 && errno != EAGAIN && errno != EINTR)
            end_failed(stream, errno);
        if (bytes < 0)
            return;
        outgoing->done += (size_t)bytes;
        if (outgoing->done == outgoing->bytes)
            drop_first(stream);
    }
}

static void ready(uv_poll_t *handle, int status, int events);

/* Has libuv watch for what the stream waits for. */
static void watch(struct cohort__stream *stream)
{
    int events = UV_READABLE | (cohort__list_is_empty(&stream->queue) ? 0 : UV_WRITABLE);
    if (events != stream->events)
        uv_poll_start(&stream->poll, events, ready); /* can't fail */
    stream->events = events;
}

static void ready(uv_poll_t *handle, int status, int events)
{
    struct cohort__stream *stream = handle->data;
    cohort__loop_note(stream->loop);
    if (status < 0)
        stream->events = 0; /* the socket has an error, which recv returns; libuv has stopped */
    bool more = status < 0 || events & UV_READABLE;
    for (int i = 0; i < MAX_READS_A_TURN && more && !is_over(stream); i++)
        more = read_some(stream);
    if (!is_over(stream))
        write_queue(stream);
    if (!is_over(stream))
        watch(stream);
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
    stream->fd = fd;
    stream->poll.data = stream;
    cohort__list_init(&stream->queue);
    int error = uv_poll_init(&loop->uv, &stream->poll, fd);
    if (error) {
        close(fd);
        free(stream);
        return cohort__loop_fail(error, "connection to %s", peer);
    }
    watch(stream);
    *ret_stream = stream;
    return COHORT_OK;
}

static void closed(uv_handle_t *handle)
{
    struct cohort__stream *stream = handle->data;
    while (!cohort__list_is_empty(&stream->queue))
        drop_first(stream);
    free(stream->input);
    free(stream);
}

void cohort__stream_close(struct cohort__stream *stream)
{
    if (!stream || stream->closing)
        return;
    stream->closing = true;
    uv_close((uv_handle_t *)&stream->poll, closed);
    close(stream->fd);
}

void cohort__stream_limit(struct cohort__stream *stream, size_t max_message)
{
    stream->max_message = max_message;
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
    outgoing->done = 0;
    outgoing->bytes = head_bytes + rest;
    memcpy(outgoing->data, head + head_done, head_bytes);
    if (rest > 0)
        memcpy(outgoing->data + head_bytes, (const unsigned char *)message + message_done, rest);
    cohort__list_push_back(&stream->queue, &outgoing->link);
    atomic_fetch_add(&stream->num_queued, 1);
    watch(stream);
    return COHORT_OK;
}

/* Writes as much as possible at once. What is queued stays in memory until the loop turns, and
 * before that, a long message may be sent on thousands of streams. */
cohort_status cohort__stream_send(struct cohort__stream *stream, const void *message, size_t bytes)
{
    if (is_over(stream))
        return COHORT_OK;
    unsigned char head[COHORT__STREAM_HEAD_BYTES];
    cohort__stream_head(head, bytes);
    struct iovec parts[] = {{head, sizeof(head)}, {(void *)message, bytes}};
    struct msghdr whole = {.msg_iov = parts, .msg_iovlen = bytes > 0 ? 2 : 1};
    ssize_t tried = -1;
    if (cohort__list_is_empty(&stream->queue))
        tried = sendmsg(stream->fd, &whole, MSG_DONTWAIT | MSG_NOSIGNAL);
    size_t done = tried > 0 ? (size_t)tried : 0; /* if it failed, write_queue meets the error */
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
