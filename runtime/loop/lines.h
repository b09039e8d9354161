/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_LINES_H
#define COHORT_RUNTIME_LOOP_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "cohort/status.h"

struct cohort__loop;

/* Splits text into lines. The text comes from a pipe (the output of a child), or is fed in by the
 * caller. All functions here may be called only by the loop's holder. */
struct cohort__lines;

enum { COHORT__LINES_MAX_PIECE = 64 * 1024 };

struct cohort__lines_handlers {
    void *context;
    /* A whole line with its newline. Or a piece of a line that is longer than
     * COHORT__LINES_MAX_PIECE, or that ends without a newline at the end of the input. TEXT is
     * valid only until the handler returns. */
    void (*piece)(void *context, const char *text, size_t bytes);
    /* The input has ended. This is the last call. The reader still has to be closed. */
    void (*ended)(void *context);
};

/* Takes ownership of FD, even if it fails. */
cohort_status cohort__lines_open(struct cohort__lines **ret_lines, struct cohort__loop *loop,
                                 int fd, const struct cohort__lines_handlers *handlers);

/* Creates a reader without a pipe, into which the caller feeds text. */
cohort_status cohort__lines_create(struct cohort__lines **ret_lines, struct cohort__loop *loop,
                                   const struct cohort__lines_handlers *handlers);

/* Only for readers without a pipe. feed copies TEXT. What is complete is delivered before feed
 * returns, or if the reader is paused, after the pause. Returns false if the text is too long,
 * since at most COHORT__LINES_MAX_PIECE bytes are kept, or if the input has ended. feed_end ends
 * the input: `ended` is called after all text was delivered. */
bool cohort__lines_feed(struct cohort__lines *lines, const char *text, size_t bytes);
void cohort__lines_feed_end(struct cohort__lines *lines);

/* From now on no handler is called. May be called by handlers. NULL is fine. */
void cohort__lines_close(struct cohort__lines *lines);

/* While a reader is paused, `piece` and `ended` are not called, and the child blocks when its pipe
 * is full. May be called by handlers, and with the same value several times. */
void cohort__lines_pause(struct cohort__lines *lines, bool paused);

#endif
