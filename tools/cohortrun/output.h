/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: merges what the localities print, line by line. */
#ifndef COHORT_TOOLS_COHORTRUN_OUTPUT_H
#define COHORT_TOOLS_COHORTRUN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

struct cohort__loop;

/* Merges the output of all localities, line by line, into cohortrun's own. While the reader of that
 * is slow, the localities' pipes fill and they wait.
 *
 * A line that is too long to be kept goes out in pieces; the others wait until it ends, or until
 * nothing of it has come for a second: then it is broken off, since whoever writes it may wait for
 * one that is kept waiting. */
struct output;
struct output_source; /* standard output or error of one locality */

enum output_stream { OUTPUT_OUT, OUTPUT_ERR, OUTPUT_NUM_STREAMS };

struct output_handlers {
    void *context;
    /* All that the source will ever give has been handed on. */
    void (*ended)(void *context, uint32_t rank, enum output_stream stream);
    /* BYTES of what was fed have been passed on. NULL: nobody feeds. */
    void (*taken)(void *context, uint32_t rank, enum output_stream stream, size_t bytes);
    /* Nothing waits to be written. */
    void (*drained)(void *context);
    /* STREAM can't be written to any more (EPIPE: nobody reads it); what comes for it is thrown
     * away. */
    void (*failed)(void *context, enum output_stream stream, int error);
};

/* Of SIZE localities. */
cohort_status output_create(struct output **ret_output, struct cohort__loop *loop, uint32_t size,
                            bool tag, const struct output_handlers *handlers);
/* Before the loop; memory is freed by output_free, after the loop. NULL is fine. */
void output_close(struct output *output);
void output_free(struct output *output);

/* Takes FD over, the reading end of a pipe, also where it fails. */
cohort_status output_add(struct output *output, uint32_t rank, enum output_stream stream, int fd);

/* The same for what comes from another host, and is fed; false: more than cohort__lines_feed takes.
 * A source that has been closed drops it. */
cohort_status output_add_fed(struct output *output, uint32_t rank, enum output_stream stream);
bool output_feed(struct output *output, uint32_t rank, enum output_stream stream, const char *text,
                 size_t bytes);
void output_feed_end(struct output *output, uint32_t rank, enum output_stream stream);

/* Gives up on what has not come yet. */
void output_close_source(struct output *output, uint32_t rank, enum output_stream stream);

/* A line of cohortrun's own, to standard error. */
void output_say(struct output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool output_is_drained(const struct output *output);

#endif
