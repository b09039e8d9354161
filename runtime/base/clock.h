/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_CLOCK_H
#define COHORT_RUNTIME_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t cohort__clock_now(void);

/* Now + NANOSECONDS. If the sum would overflow, UINT64_MAX, which means never. */
uint64_t cohort__clock_after(uint64_t nanoseconds);

/* The processor's own counter, where there is one. It is a cheap way to notice that time has
 * passed, but it does not measure time. */
uint64_t cohort__clock_cycles(void);

/* NANOSECONDS in cycles, correct within a factor of two on today's processors. */
static inline uint64_t cohort__clock_cycles_of(uint64_t nanoseconds)
{
#if defined(__x86_64__)
    return nanoseconds * 5 / 2;
#elif defined(__aarch64__)
    uint64_t per_second;
    __asm__("mrs %0, cntfrq_el0" : "=r"(per_second));
    return nanoseconds * (per_second / 1000000) / 1000;
#else
    return nanoseconds;
#endif
}

#endif
