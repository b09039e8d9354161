/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_LOCK_H
#define COHORT_RUNTIME_BASE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/futex.h"

/* A lock of one word, for what each small call does and holds for a short time: who finds it held
 * spins for a moment before it sleeps. pthread's takes 75 instructions to lock and unlock, this one
 * 10. All zero it is free, and needs no end. Of one process. Ulrich Drepper, "Futexes Are Tricky",
 * mutex3. */
struct cohort__lock {
    _Atomic uint32_t word; /* one of these: */
};
enum { COHORT__LOCK_FREE, COHORT__LOCK_HELD, COHORT__LOCK_AWAITED };

/* Whether the calling thread holds it now, which no thread did. */
static inline bool cohort__lock_try(struct cohort__lock *lock)
{
    uint32_t free = COHORT__LOCK_FREE;
    return atomic_compare_exchange_strong_explicit(&lock->word, &free, COHORT__LOCK_HELD,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* The rest of cohort__lock_take. */
void cohort__lock_await(struct cohort__lock *lock);

static inline void cohort__lock_take(struct cohort__lock *lock)
{
    if (__builtin_expect(!cohort__lock_try(lock), 0))
        cohort__lock_await(lock);
}

static inline void cohort__lock_give(struct cohort__lock *lock)
{
    if (__builtin_expect(atomic_exchange_explicit(&lock->word, COHORT__LOCK_FREE,
                                                  memory_order_release) == COHORT__LOCK_AWAITED,
                         0))
        cohort__futex_wake_one(&lock->word);
}

#endif
