/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_CROSS_SCHEDULE_H
#define COHORT_TESTS_CROSS_SCHEDULE_H

#include <stdint.h>

/* From now on the one worker takes what is ready in an order that is drawn from SEED: it holds some
 * back while others run, and turns the event loop between any two of them. 0: as it would. */
void schedule_begin(uint64_t seed);

#endif
