/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_WRAP_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_WRAP_H

#include <stdint.h>

/* Sites, or ranks, in a circle. PLACE and DISTANCE are below NUM. */
static inline uint32_t cohort__wrap_after(uint32_t place, uint32_t distance, uint32_t num)
{
    return distance < num - place ? place + distance : distance - (num - place);
}

static inline uint32_t cohort__wrap_before(uint32_t place, uint32_t distance, uint32_t num)
{
    return place >= distance ? place - distance : place + (num - distance);
}

#endif
