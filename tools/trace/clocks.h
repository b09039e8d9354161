/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: how the clocks of hosts stand to each other. */
#ifndef COHORT_TOOLS_TRACE_CLOCKS_H
#define COHORT_TOOLS_TRACE_CLOCKS_H

#include <stdint.h>

#include "cohort/status.h"
#include "tools/trace/part.h"

/* Clocks of different hosts have nothing in common, but none is told something before another one
 * has said it, and the fastest messages of both directions take about as long. Messages are those
 * of the trace, and what cohortrun exchanges with the hosts for this. */

/* A message of cohortrun to the host of a locality, and one back, perhaps another one. */
struct trace_ping {
    uint32_t rank;
    uint64_t sent, returned;    /* by cohortrun's CLOCK_MONOTONIC */
    uint64_t arrived, answered; /* by that of the host */
};

struct trace_pings {
    const struct trace_ping *list;
    size_t num;
    const char *clock; /* cohortrun's, as cohort__trace_clock_name says it */
};

/* What has become known of a clock. */
struct known_clock {
    enum cohort__trace_clock_known known;
    int64_t ahead; /* of the first part's clock, in ns */
    uint64_t bound;
};

/* Makes the PARTS, of which each has one of NUM_CLOCKS CLOCKS, have the time of the first part's
 * clock, and fills in RET_CLOCKS, one for each of these. A clock of which nothing but its own parts
 * is known goes by the time of day. PINGS may be NULL. COHORT_ERR_NO_MEMORY. */
cohort_status clocks_align(struct part *parts, uint32_t num_parts, const uint32_t *clocks,
                           uint32_t num_clocks, const struct trace_pings *pings,
                           struct known_clock *ret_clocks);

#endif
