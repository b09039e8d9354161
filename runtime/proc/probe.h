/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_PROBE_H
#define COHORT_RUNTIME_PROC_PROBE_H

#include <stdint.h>

struct cohort__process;

/* A keepalive for a link on which nothing has been sent for a while. When a network has lost a
 * message, the receiver notices it as soon as a later message arrives (link.h). The loss of the
 * last message is noticed only if something follows it. So a sender whose messages are not
 * confirmed asks the peer to confirm them, and this question is the later message. The question may
 * be lost as well, so it is repeated, and the pause doubles each time. Model:
 * tests/model/link.pml. */
struct cohort__probe {
    uint32_t number; /* of the next message, at the last check */
    uint32_t num;    /* questions since anything else was sent */
    uint64_t at;     /* when to ask next, as cohort__clock_now, if nothing is sent before */
};

/* Asks on each link where a question is due. Called by the loop's tick. */
void cohort__probe_links(struct cohort__process *process, uint64_t now);

#endif
