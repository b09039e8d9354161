/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: makes one trace of the parts of a job. */
#ifndef COHORT_TOOLS_TRACE_JOIN_H
#define COHORT_TOOLS_TRACE_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"
#include "tools/trace/clocks.h"

struct trace_join_options {
    const char *file;         /* the trace to be made, in place of what has that name */
    const char *const *parts; /* NULL: all FILE.RANK.part that there are */
    uint32_t num_parts;
    bool has_key; /* parts of jobs with another key than this one are left alone; else all have to
                   * be of one job */
    uint64_t key;
    const struct trace_pings *pings; /* NULL: none */
};

struct trace_joined {
    uint32_t num_parts;
    uint32_t size;    /* localities of the job */
    uint32_t num_cut; /* parts of localities that have not come to their end */
    uint32_t num_hosts;
    uint64_t num_events;
    uint64_t lost; /* records */
};

/* Makes one trace of the parts of a job, and then removes these. A failure leaves all as it was.
 * RET_JOINED may be NULL. COHORT_ERR_STATE: there are no parts, or they are of different jobs;
 * COHORT_ERR_PROTOCOL: one is no part; COHORT_ERR_SYSTEM; COHORT_ERR_NO_MEMORY. */
cohort_status trace_join(const struct trace_join_options *options, struct trace_joined *ret_joined);

/* For jobs that nobody joins when all have ended: each locality asks for this when its part is
 * closed. The one that finds the parts of all in the folder of FILE closed makes the trace of them;
 * of several that do one. COHORT_OK if that is not this one; COHORT_ERR_SYSTEM: it can't look at
 * the parts; else see trace_join. */
cohort_status trace_join_closed(const char *file);

#endif
