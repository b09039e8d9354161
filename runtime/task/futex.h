/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_FUTEX_H
#define COHORT_RUNTIME_TASK_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Blocks while *WORD is VALUE, until woken, or for no reason at all. */
static inline void cohort__futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    int saved_errno = errno;
    syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
    errno = saved_errno;
}

/* The same, but not beyond DEADLINE (of cohort__clock_now()); false: it has passed. */
static inline bool cohort__futex_wait_until(_Atomic uint32_t *word, uint32_t value,
                                            uint64_t deadline)
{
    int saved_errno = errno;
    struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000),
                             .tv_nsec = (long)(deadline % 1000000000)};
    long result = syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_BITSET_PRIVATE, value, &until,
                          NULL, FUTEX_BITSET_MATCH_ANY);
    bool passed = result != 0 && errno == ETIMEDOUT;
    errno = saved_errno;
    return !passed;
}

/* Wakes who waits on WORD. The word may be gone: then nobody waits on it, or somebody wakes for no
 * reason. */
static inline void cohort__futex_wake(_Atomic uint32_t *word)
{
    int saved_errno = errno;
    syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    errno = saved_errno;
}

#endif
