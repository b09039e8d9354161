/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_CLOCK_H
#define COHORT_RUNTIME_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t cohort__clock_now(void);

/* NOW + NANOSECONDS; what would overflow becomes UINT64_MAX, which is never. */
uint64_t cohort__clock_after(uint64_t nanoseconds);

#endif
