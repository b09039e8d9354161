/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: compares its clock with those of other hosts, and fetches their parts of a trace. */
#ifndef COHORT_TOOLS_COHORTRUN_FAR_TRACE_H
#define COHORT_TOOLS_COHORTRUN_FAR_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cohort__loop;
struct far_piece;
struct host;
struct trace_ping;

/* In a job with COHORT_TRACE: asks the daemons for the time when the job begins, every few seconds,
 * and at its end. Then it fetches the parts that are not here (far_fetch.h). What it has of a host
 * is in the host itself (host.h). */
struct far_trace;

struct far_trace_handlers {
    void *context;
    /* Host I of those; NULL: there are no more. */
    struct host *(*host)(void *context, uint32_t i);
    /* All that could be fetched is here. */
    void (*over)(void *context);
    /* A line for the user. */
    void (*said)(void *context, const char *text);
};

/* FILE is that of the trace, and has to stay. NULL: no memory. */
struct far_trace *far_trace_create(struct cohort__loop *loop, const char *file,
                                   const struct far_trace_handlers *handlers);

/* The daemons have been told what to start. */
void far_trace_begin(struct far_trace *trace);

/* The localities of job KEY have ended, and so have perhaps daemons since the last call: fetches
 * what there is. True: all is here, `over` is not called. */
bool far_trace_fetch(struct far_trace *trace, uint64_t key);

/* What is not here is left there. False: nothing is being fetched. */
bool far_trace_give_up(struct far_trace *trace);

/* What time it is at HOST. False: it makes no sense. ARRIVED: when that came. */
bool far_trace_take_clock(struct far_trace *trace, struct host *host, const unsigned char *data,
                          size_t bytes, uint64_t arrived);

/* A piece of HOST's, which is not late. */
void far_trace_take_piece(struct far_trace *trace, struct host *host,
                          const struct far_piece *piece);

/* What is known of the clocks; valid until it is destroyed. */
const struct trace_ping *far_trace_pings(const struct far_trace *trace, size_t *ret_num);

/* far_trace_close: before the loop is destroyed. far_trace_destroy: after that. NULL is fine. */
void far_trace_close(struct far_trace *trace);
void far_trace_destroy(struct far_trace *trace);

#endif
