/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_LINES_H
#define COHORT_RUNTIME_LOOP_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "cohort/status.h"

struct cohort__loop;

/* Reads lines from a pipe: the output of a child; or from what is handed in. Everything here: the
 * loop's holder only. */
struct cohort__lines;

enum { COHORT__LINES_MAX_PIECE = 64 * 1024 };

struct cohort__lines_handlers {
    void *context;
    /* A whole line with its newline; or, of a line that is longer than COHORT__LINES_MAX_PIECE, or
     * that the end of the input leaves without a newline, a piece. TEXT is the reader's again on
     * return. */
    void (*piece)(void *context, const char *text, size_t bytes);
    /* Nothing comes any more. The last call; the reader still has to be closed. */
    void (*ended)(void *context);
};

/* Takes FD over, also where it fails. */
cohort_status cohort__lines_open(struct cohort__lines **ret_lines, struct cohort__loop *loop,
                                 int fd, const struct cohort__lines_handlers *handlers);

/* One into which text is fed. */
cohort_status cohort__lines_create(struct cohort__lines **ret_lines, struct cohort__loop *loop,
                                   const struct cohort__lines_handlers *handlers);

/* TEXT is copied, and handed out as far as it can be, before this returns or, after a pause, later.
 * False: it is too much, since COHORT__LINES_MAX_PIECE are kept in all, or comes after the end. For
 * those without a pipe only; as cohort__lines_feed_end, after which `ended` comes. */
bool cohort__lines_feed(struct cohort__lines *lines, const char *text, size_t bytes);
void cohort__lines_feed_end(struct cohort__lines *lines);

/* No handler is called any more. May be called by handlers. NULL is fine. */
void cohort__lines_close(struct cohort__lines *lines);

/* While paused, `piece` and `ended` are not called, and the child will block once its pipe is full.
 * May be called by handlers, and as often as one likes. */
void cohort__lines_pause(struct cohort__lines *lines, bool paused);

#endif
