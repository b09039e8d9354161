/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_RANDOM_H
#define COHORT_RUNTIME_BASE_RANDOM_H

#include <stdint.h>

/* xoshiro256**, seeded by splitmix64: a seed gives the same numbers on every machine. Not for
 * secrets. One thread at a time. */
struct cohort__random {
    uint64_t state[4];
};

struct cohort__random cohort__random_seeded(uint64_t seed);

uint64_t cohort__random_next(struct cohort__random *random);

/* A number from 0 to LIMIT-1, all with the same probability. LIMIT is not 0. */
uint64_t cohort__random_below(struct cohort__random *random, uint64_t limit);

#endif
