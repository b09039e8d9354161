/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: merges what the localities print, line by line. */
#ifndef COHORT_TOOLS_COHORTRUN_OUTPUT_H
#define COHORT_TOOLS_COHORTRUN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

struct cohort__loop;

/* Merges the output of all localities, line by line, into cohortrun's own. While its reader is
 * slow, the localities' pipes fill and they wait.
 *
 * A line that is too long to be kept goes out in pieces, while the other sources wait. They wait
 * until the line ends, or until nothing of it has come for a second. Then the line is broken off,
 * since its writer may itself wait for a source that has to wait. */
struct output;
struct output_source; /* standard output or error of one locality */

enum output_stream { OUTPUT_OUT, OUTPUT_ERR, OUTPUT_NUM_STREAMS };

struct output_handlers {
    void *context;
    /* The source has ended, and all of it has been handed on. */
    void (*ended)(void *context, uint32_t rank, enum output_stream stream);
    /* BYTES of what was fed have been passed on. NULL: no source is fed. */
    void (*taken)(void *context, uint32_t rank, enum output_stream stream, size_t bytes);
    /* Nothing waits to be written. */
    void (*drained)(void *context);
    /* STREAM can't be written to any more (EPIPE: nobody reads it). What comes for it is thrown
     * away. */
    void (*failed)(void *context, enum output_stream stream, int error);
};

/* Makes the output of SIZE localities. */
cohort_status output_create(struct output **ret_output, struct cohort__loop *loop, uint32_t size,
                            bool tag, const struct output_handlers *handlers);
/* output_close: before the loop is destroyed. output_free: after that, it frees the memory. NULL is
 * fine. */
void output_close(struct output *output);
void output_free(struct output *output);

/* Takes over FD, the reading end of a pipe, also on failure. */
cohort_status output_add(struct output *output, uint32_t rank, enum output_stream stream, int fd);

/* The same for output that comes from another host, and is fed. output_feed returns false for more
 * than cohort__lines_feed takes. A source that has been closed drops what is fed. */
cohort_status output_add_fed(struct output *output, uint32_t rank, enum output_stream stream);
bool output_feed(struct output *output, uint32_t rank, enum output_stream stream, const char *text,
                 size_t bytes);
void output_feed_end(struct output *output, uint32_t rank, enum output_stream stream);

/* Closes the source, without what has not come yet. */
void output_close_source(struct output *output, uint32_t rank, enum output_stream stream);

/* Prints a line of cohortrun's own to standard error. */
void output_say(struct output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool output_is_drained(const struct output *output);

#endif
