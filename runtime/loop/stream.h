/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_STREAM_H
#define COHORT_RUNTIME_LOOP_STREAM_H

#include <stddef.h>

#include "cohort/status.h"

struct cohort__loop;

/* Messages over a connected socket or pipe, in order, each behind its length (u32, little-endian).
 * Everything here: the loop's holder only. */
struct cohort__stream;

enum { COHORT__STREAM_HEAD_BYTES = 4 };

struct cohort__stream_handlers {
    void *context;
    /* MESSAGE is the stream's again on return. */
    void (*message)(void *context, const void *message, size_t bytes);
    /* The last call: the other end has closed (COHORT_OK), or something failed; then the message
     * says what. The stream still has to be closed. */
    void (*ended)(void *context, cohort_status status);
};

/* Takes FD over, also where it fails. PEER ("locality 3"; copied) is what errors call the other
 * end. A message above MAX_MESSAGE bytes is an error of the peer's. */
cohort_status cohort__stream_open(struct cohort__stream **ret_stream, struct cohort__loop *loop,
                                  int fd, const char *peer, size_t max_message,
                                  const struct cohort__stream_handlers *handlers);

/* No handler is called any more; what has been sent and not yet been written is lost. May be called
 * by handlers. NULL is fine. */
void cohort__stream_close(struct cohort__stream *stream);

/* Another limit than that of the start, for messages that have not begun to arrive. */
void cohort__stream_limit(struct cohort__stream *stream, size_t max_message);

/* Copies the message. Nothing happens on a stream that has ended; a failure of writing is told to
 * `ended`. */
cohort_status cohort__stream_send(struct cohort__stream *stream, const void *message, size_t bytes);

#endif
