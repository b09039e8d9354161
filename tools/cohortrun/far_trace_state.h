/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what is asked for next of another host, for a trace. */
#ifndef COHORT_TOOLS_COHORTRUN_FAR_TRACE_STATE_H
#define COHORT_TOOLS_COHORTRUN_FAR_TRACE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/cohortrun/far_trace.h"
#include "tools/cohortrun/trace_part.h"

/* Of one host; far_trace.c's. */
struct far_trace_host {
    uint64_t sent; /* the ping under way; 0: none */
    uint32_t num_left;
    struct trace_ping best; /* of this series: the quickest one there, and back */
    enum {
        FAR_TRACE_RUNS,    /* the job is not over */
        FAR_TRACE_CLOCK,   /* the last series of pings */
        FAR_TRACE_PARTS,   /* a part is asked for: that of `rank` */
        FAR_TRACE_IS_OVER, /* nothing more is asked */
    } stage;
    uint32_t rank;
    bool is_wanted; /* the part; else only what is in the ledger is to be added to it */
    struct trace_part_copy copy;
};

#endif
