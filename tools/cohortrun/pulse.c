/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: heartbeats on that connection, and whether they still come. */
#include "tools/cohortrun/pulse.h"

#include "runtime/base/clock.h"

void pulse_start(struct pulse *pulse, uint64_t interval_ns, uint64_t timeout_ns)
{
    uint64_t now = cohort__clock_now();
    *pulse = (struct pulse){interval_ns, timeout_ns, now, now};
}

void pulse_heard(struct pulse *pulse)
{
    pulse->heard = cohort__clock_now();
}

bool pulse_is_silent(struct pulse *pulse)
{
    uint64_t now = cohort__clock_now();
    /* If this process was stopped or suspended, it has not listened: what came meanwhile has still
     * to be read. */
    if (now - pulse->looked > pulse->interval_ns + pulse->timeout_ns / 2)
        pulse->heard = now;
    pulse->looked = now;
    return now - pulse->heard >= pulse->timeout_ns;
}
