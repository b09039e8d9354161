/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/mutex.h"

#include "runtime/base/error.h"
#include "runtime/task/parking.h"

/* Who holds the mutex is one word, so that locking and unlocking are one atomic operation each
 * while nobody waits. While somebody does, or is about to, the word has a mark, and then it is
 * changed under the lock only. An unlock hands the mutex on: nobody can come between. */
enum { WAITED_FOR = 1 };

struct cohort_mutex {
    struct cohort__parking parking; /* first */
    _Atomic uintptr_t owner;        /* see wait_line_self; 0: nobody */
    struct cohort__parking_list waiting;
};

cohort_status cohort_mutex_create(cohort_mutex **ret_mutex)
{
    const char *name = "cohort_mutex_create";
    if (!ret_mutex)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: ret_mutex is NULL", name);
    cohort_mutex *mutex = cohort__parking_create(sizeof(*mutex), name);
    if (!mutex)
        return COHORT_ERR_NO_MEMORY;
    *ret_mutex = mutex;
    return COHORT_OK;
}

cohort_mutex *cohort_mutex_ref(cohort_mutex *mutex)
{
    if (!mutex)
        return NULL;
    cohort__parking_check(&mutex->parking, "mutex", "cohort_mutex_ref");
    cohort__parking_ref(&mutex->parking);
    return mutex;
}

void cohort_mutex_unref(cohort_mutex *mutex)
{
    if (!mutex)
        return;
    cohort__parking_check(&mutex->parking, "mutex", "cohort_mutex_unref");
    cohort__parking_unref(&mutex->parking, &mutex->waiting, 1, NULL);
}

static bool try_lock(cohort_mutex *mutex, uintptr_t me, uintptr_t *ret_owner)
{
    *ret_owner = 0;
    return atomic_compare_exchange_strong_explicit(&mutex->owner, ret_owner, me,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Under the lock. Whether somebody holds MUTEX, who will see the mark when unlocking. Else the
 * caller holds it now. */
static bool mark(cohort_mutex *mutex, uintptr_t me)
{
    uintptr_t owner = atomic_load_explicit(&mutex->owner, memory_order_relaxed);
    while (owner == 0 || !(owner & WAITED_FOR)) {
        uintptr_t next = owner == 0 ? me : owner | WAITED_FOR;
        if (atomic_compare_exchange_weak_explicit(&mutex->owner, &owner, next, memory_order_acquire,
                                                  memory_order_relaxed))
            return owner != 0;
    }
    return true;
}

/* Somebody has left the list: if it was the last one, the mark goes. */
static void withdraw(struct cohort__parking *parking)
{
    cohort_mutex *mutex = (cohort_mutex *)(void *)parking;
    if (!mutex->waiting.first)
        atomic_fetch_and_explicit(&mutex->owner, ~(uintptr_t)WAITED_FOR, memory_order_relaxed);
}

/* Under the lock: whose turn with MUTEX the caller waits for. It is handed on in the order of the
 * list, so this stays right unless that one gives up waiting. */
static uintptr_t before_me(const cohort_mutex *mutex)
{
    const struct cohort__parked *last = mutex->waiting.last;
    return last
               ? last->actor
               : atomic_load_explicit(&mutex->owner, memory_order_relaxed) & ~(uintptr_t)WAITED_FOR;
}

static cohort_status wait(cohort_mutex *mutex, uintptr_t me, struct cohort__parking_terms *terms)
{
    struct cohort__parked parked = {.actor = me};
    pthread_mutex_lock(&mutex->parking.lock);
    if (!mark(mutex, me)) {
        pthread_mutex_unlock(&mutex->parking.lock);
        return COHORT_OK;
    }
    terms->what = before_me(mutex) + COHORT__WAIT_MUTEX;
    return cohort__parking_wait(&mutex->parking, &mutex->waiting, &parked, terms);
}

cohort_status cohort_mutex_lock(cohort_mutex *mutex, uint64_t nanoseconds)
{
    const char *name = "cohort_mutex_lock";
    uintptr_t me = cohort__wait_line_self(), owner;
    if (!mutex)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: mutex is NULL", name);
    cohort__parking_check(&mutex->parking, "mutex", name);
    if (try_lock(mutex, me, &owner))
        return COHORT_OK;
    if ((owner & ~(uintptr_t)WAITED_FOR) == me)
        return cohort_fail(COHORT_ERR_STATE, "%s: the caller holds the mutex already", name);
    struct cohort__parking_terms terms = {.function = name,
                                          .caller = __builtin_return_address(0),
                                          .nanoseconds = nanoseconds,
                                          .withdraw = withdraw};
    return wait(mutex, me, &terms);
}

void cohort__mutex_lock_always(cohort_mutex *mutex, const char *function, const void *caller)
{
    uintptr_t me = cohort__wait_line_self(), owner;
    struct cohort__parking_terms terms = {.function = function, .caller = caller, .always = true};
    if (!try_lock(mutex, me, &owner))
        (void)!wait(mutex, me, &terms);
}

cohort_status cohort__mutex_check_held(const cohort_mutex *mutex, const char *function)
{
    uintptr_t owner = atomic_load_explicit(&mutex->owner, memory_order_relaxed);
    if ((owner & ~(uintptr_t)WAITED_FOR) == cohort__wait_line_self())
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_STATE, "%s: the caller does not hold the mutex, %s does",
                       function, owner ? "another task or thread" : "nobody");
}

/* There is a mark. */
static void hand_on(cohort_mutex *mutex)
{
    struct cohort__parking_list to_wake = {0};
    pthread_mutex_lock(&mutex->parking.lock);
    uintptr_t owner = mutex->waiting.first ? mutex->waiting.first->actor : 0;
    cohort__parking_serve(&mutex->waiting, COHORT_OK, &to_wake);
    if (mutex->waiting.first)
        owner |= WAITED_FOR;
    atomic_store_explicit(&mutex->owner, owner, memory_order_release);
    pthread_mutex_unlock(&mutex->parking.lock);
    cohort__parking_wake(&to_wake);
}

void cohort__mutex_unlock_held(cohort_mutex *mutex)
{
    uintptr_t owner = cohort__wait_line_self();
    if (!atomic_compare_exchange_strong_explicit(&mutex->owner, &owner, 0, memory_order_release,
                                                 memory_order_relaxed))
        hand_on(mutex);
}

cohort_status cohort_mutex_unlock(cohort_mutex *mutex)
{
    const char *name = "cohort_mutex_unlock";
    if (!mutex)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: mutex is NULL", name);
    cohort__parking_check(&mutex->parking, "mutex", name);
    uintptr_t owner = cohort__wait_line_self();
    if (atomic_compare_exchange_strong_explicit(&mutex->owner, &owner, 0, memory_order_release,
                                                memory_order_relaxed))
        return COHORT_OK;
    cohort_status status = cohort__mutex_check_held(mutex, name);
    if (status == COHORT_OK)
        hand_on(mutex);
    return status;
}
