/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_INQUIRY_H
#define COHORT_COLLECTIVES_EXEC_INQUIRY_H

#include <stdint.h>

struct cohort__participant;

enum { COHORT__INQUIRY_SITES = 4 }; /* how many missing sites are asked at a time */

/* What a meeting that has waited for long has asked. One participant asks for all of them: what it
 * learns fails the meeting, and there may be many participants. */
struct cohort__inquiry {
    const struct cohort__participant *asker; /* the first one that has stalled, or NULL */
    uint32_t first;                          /* the rank from which on it looks for sites to ask */
    uint32_t next;                           /* the rank after the last one that it has asked */
    uint32_t num_sites;
    uint32_t sites[COHORT__INQUIRY_SITES];
    uint8_t answers[COHORT__INQUIRY_SITES]; /* enum cohort__answer, the last one of each */
};

#endif
