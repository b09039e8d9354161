/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/clock.h"

#include <time.h>

uint64_t cohort__clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t cohort__clock_after(uint64_t nanoseconds)
{
    uint64_t now = cohort__clock_now();
    return nanoseconds > UINT64_MAX - now ? UINT64_MAX : now + nanoseconds;
}

uint64_t cohort__clock_cycles(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t cycles;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(cycles));
    return cycles;
#else
    return cohort__clock_now();
#endif
}
