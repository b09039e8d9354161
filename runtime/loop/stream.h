/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_STREAM_H
#define COHORT_RUNTIME_LOOP_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "cohort/status.h"

struct cohort__loop;

/* Messages over a connected socket, in order. In front of each message is its length (u32,
 * little-endian). Except where it says otherwise, the functions here may be called only by the
 * loop's holder. */
struct cohort__stream;

enum { COHORT__STREAM_HEAD_BYTES = 4 };

struct cohort__stream_handlers {
    void *context;
    /* MESSAGE is valid only until the handler returns. */
    void (*message)(void *context, const void *message, size_t bytes);
    /* The other end has closed the connection (COHORT_OK), or something has failed, and the error
     * message says what. This is the last call. The stream still has to be closed. */
    void (*ended)(void *context, cohort_status status);
};

/* Takes ownership of FD, even if it fails. PEER ("locality 3"; copied) is the name of the other end
 * in error messages. If the peer sends a message of more than MAX_MESSAGE bytes, the stream ends
 * with COHORT_ERR_PROTOCOL. */
cohort_status cohort__stream_open(struct cohort__stream **ret_stream, struct cohort__loop *loop,
                                  int fd, const char *peer, size_t max_message,
                                  const struct cohort__stream_handlers *handlers);

/* From now on no handler is called. Messages that were sent but not yet written are lost. May be
 * called by handlers. NULL is fine. */
void cohort__stream_close(struct cohort__stream *stream);

/* Changes the limit that was set by open, for messages that have not begun to arrive. */
void cohort__stream_limit(struct cohort__stream *stream, size_t max_message);

/* Copies the message. Does nothing on a stream that has ended. If writing fails later, `ended` is
 * called. */
cohort_status cohort__stream_send(struct cohort__stream *stream, const void *message, size_t bytes);

/* Whether all messages that were sent have been written. While no other thread sends, what is
 * written to the descriptor then doesn't get into the middle of a message. Any thread. */
bool cohort__stream_is_written(const struct cohort__stream *stream);

/* The head of a message of BYTES bytes. */
void cohort__stream_head(unsigned char ret_head[COHORT__STREAM_HEAD_BYTES], size_t bytes);

#endif
