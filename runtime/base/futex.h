/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_FUTEX_H
#define COHORT_RUNTIME_BASE_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* If *WORD is VALUE, blocks until it is woken. May also return for no reason (a spurious
 * wake-up). */
static inline void cohort__futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    int saved_errno = errno;
    syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
    errno = saved_errno;
}

/* The same, but only until DEADLINE (a time of cohort__clock_now()). Returns false if that has
 * passed. */
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

/* Wakes all threads that wait on WORD. The memory of WORD may have been freed: then nobody waits on
 * it, or another waiter gets a spurious wake-up. */
static inline void cohort__futex_wake(_Atomic uint32_t *word)
{
    int saved_errno = errno;
    syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    errno = saved_errno;
}

/* The same with one of these threads. */
static inline void cohort__futex_wake_one(_Atomic uint32_t *word)
{
    int saved_errno = errno;
    syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved_errno;
}

#endif
