/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_PROBE_H
#define COHORT_RUNTIME_PROC_PROBE_H

#include <stdint.h>

struct cohort__process;

/* Questions on a link on which nothing has been sent for a while. A message that a network has lost
 * is missed as soon as a later one arrives (link.h); the last one only if something follows it. So
 * a sender whose messages are not confirmed asks the peer to confirm them: the question is that
 * later message. It may be lost as well, so it is repeated, twice as long after each. Model:
 * tests/model/link.pml. */
struct cohort__probe {
    uint32_t number; /* of the next message, when last looked at */
    uint32_t num;    /* questions asked since anything else was sent */
    uint64_t at;     /* when to ask, as cohort__clock_now, if nothing is sent until then */
};

/* Asks where it is time to. The loop's tick. */
void cohort__probe_links(struct cohort__process *process, uint64_t now);

#endif
