/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: signs of life on that connection, and when they are missing. */
#ifndef COHORT_TOOLS_COHORTRUN_PULSE_H
#define COHORT_TOOLS_COHORTRUN_PULSE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the other end of a node_link is still there: each end sends a beat every interval, and
 * whatever arrives counts. The beats are those of cohortrun and the node daemons, so a program may
 * compute as long as it likes. */
struct pulse {
    uint64_t interval_ns;
    uint64_t timeout_ns;
    uint64_t heard;
    uint64_t looked;
};

void pulse_start(struct pulse *pulse, uint64_t interval_ns, uint64_t timeout_ns);
void pulse_heard(struct pulse *pulse);

/* To be asked every interval. */
bool pulse_is_silent(struct pulse *pulse);

#endif
