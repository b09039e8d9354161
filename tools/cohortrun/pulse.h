/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: heartbeats on that connection, and whether they still come. */
#ifndef COHORT_TOOLS_COHORTRUN_PULSE_H
#define COHORT_TOOLS_COHORTRUN_PULSE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the other end of a node_link is still there. Each end sends a heartbeat every interval,
 * and whatever arrives counts as one. cohortrun and the node daemons send the heartbeats, so a
 * program may compute as long as it likes. */
struct pulse {
    uint64_t interval_ns;
    uint64_t timeout_ns;
    uint64_t heard;
    uint64_t looked;
};

void pulse_start(struct pulse *pulse, uint64_t interval_ns, uint64_t timeout_ns);
void pulse_heard(struct pulse *pulse);

/* To be called every interval. */
bool pulse_is_silent(struct pulse *pulse);

#endif
