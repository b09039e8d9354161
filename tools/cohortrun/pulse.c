/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: signs of life on that connection, and when they are missing. */
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
    /* Who was stopped or suspended itself has not listened: what came meanwhile is still to be
     * read. */
    if (now - pulse->looked > pulse->interval_ns + pulse->timeout_ns / 2)
        pulse->heard = now;
    pulse->looked = now;
    return now - pulse->heard >= pulse->timeout_ns;
}
