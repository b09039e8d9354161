/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/lock.h"

#include "runtime/base/cores.h"

enum { SPINS = 100 }; /* as those of glibc's adaptive mutexes */

void cohort__lock_await(struct cohort__lock *lock)
{
    for (int i = 0; i < SPINS; i++) {
        cohort__core_pause();
        if (atomic_load_explicit(&lock->word, memory_order_relaxed) == COHORT__LOCK_FREE &&
            cohort__lock_try(lock))
            return;
    }
    while (atomic_exchange_explicit(&lock->word, COHORT__LOCK_AWAITED, memory_order_acquire) !=
           COHORT__LOCK_FREE)
        cohort__futex_wait(&lock->word, COHORT__LOCK_AWAITED);
}
