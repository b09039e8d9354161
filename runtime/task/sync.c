/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "cohort/sync.h"
#include "runtime/base/error.h"
#include "runtime/base/misuse.h"
#include "runtime/base/slab.h"
#include "runtime/task/scope.h"
#include "runtime/task/wait.h"
#include "runtime/task/worker.h"

/* The objects of cohort/sync.h. First what they have in common, the parking: a lock, references,
 * and lists of those who wait. The lock is held for a few instructions only, and never while
 * something waits or is woken. */

/* Who waits. In the frame of the waiting function. Whoever takes it out of its list, under the
 * lock, decides how the wait ends: one whose time has just passed may find that it was served. */
struct parked {
    struct cohort__wait wait;
    struct parked *prev, *next;
    struct parking_list *list; /* in which it is, or NULL */
    cohort_status status;      /* set by whoever has served it */
    uintptr_t actor;           /* these two belong to the object */
    void *item;
};

struct parking_list {
    struct parked *first, *last;
    uint64_t num;
};

/* The first member of each object. */
struct parking {
    pthread_mutex_t lock;
    _Atomic uint32_t refs;  /* the program's */
    _Atomic uint32_t users; /* one for all of those, and one for each that waits */
    struct parking_list waiting;
    struct parking_list getting;           /* those of a queue that are not putters */
    void (*fini)(struct parking *parking); /* called before the memory is freed; or NULL */
};

/* How a wait is to be done. */
struct parking_terms {
    const char *function; /* for messages */
    const void *caller;   /* a return address, noted (wait.h) */
    uintptr_t what;       /* the same: the object, with its kind */
    uint64_t nanoseconds;
    bool always;                               /* no limit, and its scope does not matter */
    void (*withdraw)(struct parking *parking); /* see below; these may be NULL */
    void (*listed)(void *arg);
    void *arg;
};

/* --- lists --- */

static void append(struct parking_list *list, struct parked *parked)
{
    parked->list = list;
    parked->next = NULL;
    parked->prev = list->last;
    if (list->last)
        list->last->next = parked;
    else
        list->first = parked;
    list->last = parked;
    list->num++;
}

static void take_out(struct parked *parked)
{
    struct parking_list *list = parked->list;
    if (parked->prev)
        parked->prev->next = parked->next;
    else
        list->first = parked->next;
    if (parked->next)
        parked->next->prev = parked->prev;
    else
        list->last = parked->prev;
    list->num--;
    parked->list = NULL;
}

/* Serves the first of LIST with STATUS, COHORT_OK or COHORT_ERR_GONE. With the lock. Adds it to
 * TO_WAKE, which begins as {0} and is to be woken without the lock, unless it is about to go on
 * anyway. False: LIST is empty. */
static bool parking_serve(struct parking_list *list, cohort_status status,
                          struct parking_list *to_wake)
{
    struct parked *parked = list->first;
    if (!parked)
        return false;
    take_out(parked);
    parked->status = status;
    if (cohort__wait_claim(&parked->wait)) {
        append(to_wake, parked);
        parked->list = NULL;
    }
    return true;
}

/* Gives the lock back, and wakes TO_WAKE. */
static void parking_wake(struct parking *parking, struct parking_list *to_wake)
{
    struct parked *parked = to_wake->first;
    pthread_mutex_unlock(&parking->lock);
    while (parked) {
        struct parked *next = parked->next; /* it may go when it is woken */
        cohort__wait_wake(&parked->wait);
        parked = next;
    }
}

/* --- objects --- */

/* Memory for an object of BYTES, cleared but for its parking, with one reference. WHAT names the
 * function. NULL: the error is set. */
static void *parking_create(size_t bytes, const char *what)
{
    struct parking *parking = cohort__slab_alloc_zero(bytes);
    if (!parking) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for %zu bytes", what, bytes);
        return NULL;
    }
    pthread_mutex_init(&parking->lock, NULL);
    atomic_init(&parking->refs, 1);
    atomic_init(&parking->users, 1);
    return parking;
}

/* For a public FUNCTION, as cohort__misuse_check: PARKING is that of a NOUN. */
__attribute__((always_inline)) static inline void
parking_check(const struct parking *parking, const char *noun, const char *function)
{
    cohort__misuse_check(&parking->refs, noun, parking, COHORT__MISUSE_UNREF, function);
}

/* The same for OBJECT, which may be NULL. Returns it, with one more reference. */
__attribute__((always_inline)) static inline void *parking_ref(void *object, const char *noun,
                                                               const char *function)
{
    struct parking *parking = object; /* its first member */
    if (!parking)
        return NULL;
    parking_check(parking, noun, function);
    atomic_fetch_add_explicit(&parking->refs, 1, memory_order_relaxed);
    return object;
}

/* For a public FUNCTION: takes the lock of OBJECT, a NOUN. COHORT_ERR_BAD_PARAMETER: it is NULL. */
__attribute__((always_inline)) static inline cohort_status
parking_enter(void *object, const char *noun, const char *function)
{
    struct parking *parking = object;
    if (!parking)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s is NULL", function, noun);
    parking_check(parking, noun, function);
    pthread_mutex_lock(&parking->lock);
    return COHORT_OK;
}

static void leave(struct parking *parking)
{
    if (atomic_fetch_sub_explicit(&parking->users, 1, memory_order_acq_rel) != 1)
        return;
    if (parking->fini)
        parking->fini(parking);
    pthread_mutex_destroy(&parking->lock);
    cohort__slab_free(parking);
}

/* With the lock, which it gives back: those who wait get COHORT_ERR_GONE. */
static void parking_close(struct parking *parking)
{
    struct parking_list to_wake = {0};
    while (parking_serve(&parking->waiting, COHORT_ERR_GONE, &to_wake) ||
           parking_serve(&parking->getting, COHORT_ERR_GONE, &to_wake))
        ;
    parking_wake(parking, &to_wake);
}

/* For a public FUNCTION: gives a reference to OBJECT, a NOUN or NULL, back. After the last one the
 * memory is freed when the last of those who waited has left. */
__attribute__((always_inline)) static inline void parking_unref(void *object, const char *noun,
                                                                const char *function)
{
    struct parking *parking = object;
    if (!parking)
        return;
    parking_check(parking, noun, function);
    if (atomic_fetch_sub_explicit(&parking->refs, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_lock(&parking->lock);
    parking_close(parking);
    leave(parking);
}

/* --- waiting --- */

static cohort_status fail(const struct parking_terms *terms, enum cohort_wait_end end)
{
    const cohort_scope *scope = cohort__scope_current();
    if (end == COHORT_WAIT_EXPIRED)
        return cohort_fail(COHORT_ERR_TIMEOUT, "%s: not within %.3f milliseconds", terms->function,
                           (double)terms->nanoseconds / 1e6);
    cohort__scope_explain(scope, terms->function, cohort__error_slot());
    return COHORT_ERR_CANCELLED;
}

/* Before it waits. */
static cohort_status begin(struct parked *parked, const struct parking_terms *terms)
{
    const cohort_scope *scope = cohort__scope_current();
    if (terms->always)
        return cohort__wait_begin_always(&parked->wait, terms->function);
    if (scope && cohort__scope_is_cancelled(scope))
        return fail(terms, COHORT_WAIT_CANCELLED);
    if (terms->nanoseconds == 0)
        return fail(terms, COHORT_WAIT_EXPIRED);
    return cohort__wait_begin(&parked->wait, terms->nanoseconds, terms->function);
}

static cohort_status status_of(const struct parked *parked, const struct parking_terms *terms)
{
    if (parked->status != COHORT_ERR_GONE)
        return parked->status;
    return cohort_fail(COHORT_ERR_GONE, "%s: closed or given back by others", terms->function);
}

/* Its time has passed, or its scope is cancelled. Whether it was served all the same. */
static bool withdraw(struct parking *parking, struct parked *parked,
                     const struct parking_terms *terms)
{
    pthread_mutex_lock(&parking->lock);
    bool is_served = !parked->list;
    if (!is_served) {
        take_out(parked);
        if (terms->withdraw)
            terms->withdraw(parking);
    }
    pthread_mutex_unlock(&parking->lock);
    return is_served;
}

/* The thread may be another one now. */
COHORT__IN_THREAD_OF_NOW static cohort_status ended(struct parking *parking, struct parked *parked,
                                                    const struct parking_terms *terms,
                                                    enum cohort_wait_end end)
{
    bool is_served = end == COHORT_WAIT_COMPLETE || withdraw(parking, parked, terms);
    cohort_status status = is_served ? status_of(parked, terms) : fail(terms, end);
    cohort__wait_fini(&parked->wait);
    leave(parking);
    return status;
}

/* To be called with the lock, which it gives back. Waits at the end of LIST until it is served, and
 * returns the status of that. Else the error is set: COHORT_ERR_TIMEOUT, COHORT_ERR_CANCELLED,
 * COHORT_ERR_NO_MEMORY, COHORT_ERR_STATE. terms->listed is called without the lock when PARKED is
 * in LIST, and before it waits. terms->withdraw is called with the lock when it leaves LIST without
 * being served. A task may be in another thread afterwards. */
static cohort_status parking_wait(struct parking *parking, struct parking_list *list,
                                  struct parked *parked, const struct parking_terms *terms)
{
    cohort_status status = begin(parked, terms);
    if (status != COHORT_OK) {
        pthread_mutex_unlock(&parking->lock);
        return status;
    }
    atomic_fetch_add_explicit(&parking->users, 1, memory_order_relaxed);
    append(list, parked);
    pthread_mutex_unlock(&parking->lock);
    if (terms->listed)
        terms->listed(terms->arg);
    return ended(parking, parked, terms,
                 cohort__wait_suspend(&parked->wait, terms->what, terms->caller));
}

/* The same for an object that is waited for in one way only. KIND is that of the wait. */
static cohort_status parking_wait_simply(struct parking *parking, uintptr_t kind,
                                         const char *function, const void *caller,
                                         uint64_t nanoseconds)
{
    struct parked parked = {0};
    const struct parking_terms terms = {.function = function,
                                        .caller = caller,
                                        .what = (uintptr_t)parking + kind,
                                        .nanoseconds = nanoseconds};
    return parking_wait(parking, &parking->waiting, &parked, &terms);
}

/* mutex ---------------------------------------------------------------------------------------- */

/* Who holds the mutex is one word, so that locking and unlocking are one atomic operation each
 * while nobody waits. While somebody does, or is about to, the word has a mark, and then it is
 * changed under the lock only. An unlock hands the mutex on: nobody can come between. */
enum { WAITED_FOR = 1 };

struct cohort_mutex {
    struct parking parking;  /* first */
    _Atomic uintptr_t owner; /* see wait_line_self; 0: nobody */
};

cohort_status cohort_mutex_create(cohort_mutex **ret_mutex)
{
    const char *name = "cohort_mutex_create";
    if (!ret_mutex)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: ret_mutex is NULL", name);
    cohort_mutex *mutex = parking_create(sizeof(*mutex), name);
    if (!mutex)
        return COHORT_ERR_NO_MEMORY;
    *ret_mutex = mutex;
    return COHORT_OK;
}

cohort_mutex *cohort_mutex_ref(cohort_mutex *mutex)
{
    return parking_ref(mutex, "mutex", "cohort_mutex_ref");
}

void cohort_mutex_unref(cohort_mutex *mutex)
{
    parking_unref(mutex, "mutex", "cohort_mutex_unref");
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
static void mutex_withdraw(struct parking *parking)
{
    cohort_mutex *mutex = (cohort_mutex *)(void *)parking;
    if (!mutex->parking.waiting.first)
        atomic_fetch_and_explicit(&mutex->owner, ~(uintptr_t)WAITED_FOR, memory_order_relaxed);
}

/* Under the lock: whose turn with MUTEX the caller waits for. It is handed on in the order of the
 * list, so this stays right unless that one gives up waiting. */
static uintptr_t before_me(const cohort_mutex *mutex)
{
    const struct parked *last = mutex->parking.waiting.last;
    return last
               ? last->actor
               : atomic_load_explicit(&mutex->owner, memory_order_relaxed) & ~(uintptr_t)WAITED_FOR;
}

static cohort_status wait(cohort_mutex *mutex, uintptr_t me, struct parking_terms *terms)
{
    struct parked parked = {.actor = me};
    pthread_mutex_lock(&mutex->parking.lock);
    if (!mark(mutex, me)) {
        pthread_mutex_unlock(&mutex->parking.lock);
        return COHORT_OK;
    }
    terms->what = before_me(mutex) + COHORT__WAIT_MUTEX;
    return parking_wait(&mutex->parking, &mutex->parking.waiting, &parked, terms);
}

cohort_status cohort_mutex_lock(cohort_mutex *mutex, uint64_t nanoseconds)
{
    const char *name = "cohort_mutex_lock";
    uintptr_t me = cohort__wait_line_self(), owner;
    if (!mutex)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: mutex is NULL", name);
    parking_check(&mutex->parking, "mutex", name);
    if (try_lock(mutex, me, &owner))
        return COHORT_OK;
    if ((owner & ~(uintptr_t)WAITED_FOR) == me)
        return cohort_fail(COHORT_ERR_STATE, "%s: the caller holds the mutex already", name);
    struct parking_terms terms = {.function = name,
                                  .caller = __builtin_return_address(0),
                                  .nanoseconds = nanoseconds,
                                  .withdraw = mutex_withdraw};
    return wait(mutex, me, &terms);
}

/* Locks MUTEX, whatever happens, for a caller that does not hold it. Only where it may wait. */
static void mutex_lock_always(cohort_mutex *mutex, const char *function, const void *caller)
{
    uintptr_t me = cohort__wait_line_self(), owner;
    struct parking_terms terms = {.function = function, .caller = caller, .always = true};
    if (!try_lock(mutex, me, &owner))
        (void)!wait(mutex, me, &terms);
}

/* Whether the caller holds MUTEX; if not, COHORT_ERR_STATE, with FUNCTION in the message. */
static cohort_status mutex_check_held(const cohort_mutex *mutex, const char *function)
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
    struct parking_list to_wake = {0};
    pthread_mutex_lock(&mutex->parking.lock);
    uintptr_t owner = mutex->parking.waiting.first ? mutex->parking.waiting.first->actor : 0;
    parking_serve(&mutex->parking.waiting, COHORT_OK, &to_wake);
    if (mutex->parking.waiting.first)
        owner |= WAITED_FOR;
    atomic_store_explicit(&mutex->owner, owner, memory_order_release);
    parking_wake(&mutex->parking, &to_wake);
}

/* Unlocks MUTEX, which the caller holds. */
static void mutex_unlock_held(cohort_mutex *mutex)
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
    parking_check(&mutex->parking, "mutex", name);
    uintptr_t owner = cohort__wait_line_self();
    if (atomic_compare_exchange_strong_explicit(&mutex->owner, &owner, 0, memory_order_release,
                                                memory_order_relaxed))
        return COHORT_OK;
    cohort_status status = mutex_check_held(mutex, name);
    if (status == COHORT_OK)
        hand_on(mutex);
    return status;
}

/* condition ------------------------------------------------------------------------------------ */

struct cohort_condition {
    struct parking parking; /* first */
};

cohort_status cohort_condition_create(cohort_condition **ret_condition)
{
    const char *name = "cohort_condition_create";
    if (!ret_condition)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: ret_condition is NULL", name);
    cohort_condition *condition = parking_create(sizeof(*condition), name);
    if (!condition)
        return COHORT_ERR_NO_MEMORY;
    *ret_condition = condition;
    return COHORT_OK;
}

cohort_condition *cohort_condition_ref(cohort_condition *condition)
{
    return parking_ref(condition, "condition", "cohort_condition_ref");
}

void cohort_condition_unref(cohort_condition *condition)
{
    parking_unref(condition, "condition", "cohort_condition_unref");
}

struct held {
    cohort_mutex *mutex;
    bool is_unlocked;
};

/* The caller is in the list by now, so that no signal is missed. */
static void unlock(void *arg)
{
    struct held *held = arg;
    mutex_unlock_held(held->mutex);
    held->is_unlocked = true;
}

cohort_status cohort_condition_wait(cohort_condition *condition, cohort_mutex *mutex,
                                    uint64_t nanoseconds)
{
    const char *name = "cohort_condition_wait";
    const void *caller = __builtin_return_address(0);
    if (!condition || !mutex)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s is NULL", name,
                           condition ? "mutex" : "condition");
    parking_check(&condition->parking, "condition", name);
    parking_check((const struct parking *)(const void *)mutex, "mutex", name);
    cohort_status status = mutex_check_held(mutex, name);
    if (status != COHORT_OK)
        return status;
    struct held held = {.mutex = mutex};
    struct parked parked = {0};
    struct parking_terms terms = {.function = name,
                                  .caller = caller,
                                  .what = (uintptr_t)condition + COHORT__WAIT_CONDITION,
                                  .nanoseconds = nanoseconds,
                                  .listed = unlock,
                                  .arg = &held};
    pthread_mutex_lock(&condition->parking.lock);
    status = parking_wait(&condition->parking, &condition->parking.waiting, &parked, &terms);
    if (held.is_unlocked)
        mutex_lock_always(mutex, name, caller);
    return status;
}

/* Wakes up to MOST of those who wait. */
static void wake(cohort_condition *condition, uint64_t most)
{
    struct parking_list to_wake = {0};
    pthread_mutex_lock(&condition->parking.lock);
    while (most > 0 && parking_serve(&condition->parking.waiting, COHORT_OK, &to_wake))
        most--;
    parking_wake(&condition->parking, &to_wake);
}

void cohort_condition_signal(cohort_condition *condition)
{
    if (!condition)
        return;
    parking_check(&condition->parking, "condition", "cohort_condition_signal");
    wake(condition, 1);
}

void cohort_condition_broadcast(cohort_condition *condition)
{
    if (!condition)
        return;
    parking_check(&condition->parking, "condition", "cohort_condition_broadcast");
    wake(condition, UINT64_MAX);
}

/* semaphore ------------------------------------------------------------------------------------ */

/* While somebody waits there are no permits. */
struct cohort_semaphore {
    struct parking parking; /* first */
    uint64_t count;
};

cohort_status cohort_semaphore_create(uint64_t count, cohort_semaphore **ret_semaphore)
{
    const char *name = "cohort_semaphore_create";
    if (!ret_semaphore)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: ret_semaphore is NULL", name);
    cohort_semaphore *semaphore = parking_create(sizeof(*semaphore), name);
    if (!semaphore)
        return COHORT_ERR_NO_MEMORY;
    semaphore->count = count;
    *ret_semaphore = semaphore;
    return COHORT_OK;
}

cohort_semaphore *cohort_semaphore_ref(cohort_semaphore *semaphore)
{
    return parking_ref(semaphore, "semaphore", "cohort_semaphore_ref");
}

void cohort_semaphore_unref(cohort_semaphore *semaphore)
{
    parking_unref(semaphore, "semaphore", "cohort_semaphore_unref");
}

cohort_status cohort_semaphore_acquire(cohort_semaphore *semaphore, uint64_t nanoseconds)
{
    const char *name = "cohort_semaphore_acquire";
    if (parking_enter(semaphore, "semaphore", name))
        return COHORT_ERR_BAD_PARAMETER;
    if (semaphore->count == 0)
        return parking_wait_simply(&semaphore->parking, COHORT__WAIT_SEMAPHORE, name,
                                   __builtin_return_address(0), nanoseconds);
    semaphore->count--;
    pthread_mutex_unlock(&semaphore->parking.lock);
    return COHORT_OK;
}

cohort_status cohort_semaphore_release(cohort_semaphore *semaphore, uint64_t count)
{
    const char *name = "cohort_semaphore_release";
    struct parking_list to_wake = {0};
    if (parking_enter(semaphore, "semaphore", name))
        return COHORT_ERR_BAD_PARAMETER;
    if (count > UINT64_MAX - semaphore->count) {
        pthread_mutex_unlock(&semaphore->parking.lock);
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %llu more permits are too many", name,
                           (unsigned long long)count);
    }
    while (count > 0 && parking_serve(&semaphore->parking.waiting, COHORT_OK, &to_wake))
        count--;
    semaphore->count += count;
    parking_wake(&semaphore->parking, &to_wake);
    return COHORT_OK;
}

/* latch ---------------------------------------------------------------------------------------- */

struct cohort_latch {
    struct parking parking; /* first */
    uint64_t count;
};

cohort_status cohort_latch_create(uint64_t count, cohort_latch **ret_latch)
{
    const char *name = "cohort_latch_create";
    if (!ret_latch)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: ret_latch is NULL", name);
    cohort_latch *latch = parking_create(sizeof(*latch), name);
    if (!latch)
        return COHORT_ERR_NO_MEMORY;
    latch->count = count;
    *ret_latch = latch;
    return COHORT_OK;
}

cohort_latch *cohort_latch_ref(cohort_latch *latch)
{
    return parking_ref(latch, "latch", "cohort_latch_ref");
}

void cohort_latch_unref(cohort_latch *latch)
{
    parking_unref(latch, "latch", "cohort_latch_unref");
}

cohort_status cohort_latch_count_down(cohort_latch *latch, uint64_t count)
{
    const char *name = "cohort_latch_count_down";
    struct parking_list to_wake = {0};
    if (parking_enter(latch, "latch", name))
        return COHORT_ERR_BAD_PARAMETER;
    uint64_t left = latch->count;
    if (count <= left)
        latch->count -= count;
    while (latch->count == 0 && parking_serve(&latch->parking.waiting, COHORT_OK, &to_wake))
        ;
    parking_wake(&latch->parking, &to_wake);
    return count <= left ? COHORT_OK
                         : cohort_fail(COHORT_ERR_STATE, "%s: by %llu, but only %llu are left",
                                       name, (unsigned long long)count, (unsigned long long)left);
}

cohort_status cohort_latch_wait(cohort_latch *latch, uint64_t nanoseconds)
{
    const char *name = "cohort_latch_wait";
    if (parking_enter(latch, "latch", name))
        return COHORT_ERR_BAD_PARAMETER;
    if (latch->count > 0)
        return parking_wait_simply(&latch->parking, COHORT__WAIT_LATCH, name,
                                   __builtin_return_address(0), nanoseconds);
    pthread_mutex_unlock(&latch->parking.lock);
    return COHORT_OK;
}

/* barrier -------------------------------------------------------------------------------------- */

struct cohort_local_barrier {
    struct parking parking; /* first */
    uint64_t count;
};

cohort_status cohort_local_barrier_create(uint64_t count, cohort_local_barrier **ret_barrier)
{
    const char *name = "cohort_local_barrier_create";
    if (!ret_barrier || count == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s", name,
                           ret_barrier ? "count is 0" : "ret_barrier is NULL");
    cohort_local_barrier *barrier = parking_create(sizeof(*barrier), name);
    if (!barrier)
        return COHORT_ERR_NO_MEMORY;
    barrier->count = count;
    *ret_barrier = barrier;
    return COHORT_OK;
}

cohort_local_barrier *cohort_local_barrier_ref(cohort_local_barrier *barrier)
{
    return parking_ref(barrier, "local barrier", "cohort_local_barrier_ref");
}

void cohort_local_barrier_unref(cohort_local_barrier *barrier)
{
    parking_unref(barrier, "local barrier", "cohort_local_barrier_unref");
}

/* Under the lock, which it gives back: the caller is the last one. */
static void let_all_go(cohort_local_barrier *barrier)
{
    struct parking_list to_wake = {0};
    while (parking_serve(&barrier->parking.waiting, COHORT_OK, &to_wake))
        ;
    parking_wake(&barrier->parking, &to_wake);
}

cohort_status cohort_local_barrier_wait(cohort_local_barrier *barrier, uint64_t nanoseconds,
                                        bool *ret_is_last)
{
    const char *name = "cohort_local_barrier_wait";
    cohort_status status = COHORT_OK;
    if (parking_enter(barrier, "local barrier", name))
        return COHORT_ERR_BAD_PARAMETER;
    bool is_last = barrier->parking.waiting.num + 1 == barrier->count;
    if (is_last)
        let_all_go(barrier);
    else
        status = parking_wait_simply(&barrier->parking, COHORT__WAIT_LOCAL_BARRIER, name,
                                     __builtin_return_address(0), nanoseconds);
    if (status == COHORT_OK && ret_is_last)
        *ret_is_last = is_last;
    return status;
}

/* queue ---------------------------------------------------------------------------------------- */

/* A ring of items. Who waits to put has its item with it, which goes into the ring as soon as there
 * is room; who waits to get is given its item. So putters wait only while the ring is full, and
 * getters only while it is empty. */
struct cohort_queue {
    struct parking parking; /* first */
    void **items;
    size_t capacity;
    size_t num;
    size_t first; /* the place of the first item */
    bool is_closed;
};

static void fini(struct parking *parking)
{
    free(((cohort_queue *)(void *)parking)->items);
}

cohort_status cohort_queue_create(size_t capacity, cohort_queue **ret_queue)
{
    const char *name = "cohort_queue_create";
    if (!ret_queue || capacity == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s", name,
                           ret_queue ? "capacity is 0" : "ret_queue is NULL");
    cohort_queue *queue = parking_create(sizeof(*queue), name);
    if (!queue)
        return COHORT_ERR_NO_MEMORY;
    queue->parking.fini = fini;
    queue->capacity = capacity;
    queue->items = calloc(capacity, sizeof(*queue->items));
    if (!queue->items) {
        cohort_queue_unref(queue);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for %zu items", name, capacity);
    }
    *ret_queue = queue;
    return COHORT_OK;
}

cohort_queue *cohort_queue_ref(cohort_queue *queue)
{
    return parking_ref(queue, "queue", "cohort_queue_ref");
}

void cohort_queue_unref(cohort_queue *queue)
{
    parking_unref(queue, "queue", "cohort_queue_unref");
}

/* --- under the lock --- */

static void push(cohort_queue *queue, void *item)
{
    queue->items[(queue->first + queue->num++) % queue->capacity] = item;
}

static void *pop(cohort_queue *queue)
{
    void *item = queue->items[queue->first];
    queue->first = (queue->first + 1) % queue->capacity;
    queue->num--;
    return item;
}

/* False: nobody waits for an item. */
static bool give(cohort_queue *queue, void *item, struct parking_list *to_wake)
{
    if (queue->parking.getting.first)
        queue->parking.getting.first->item = item;
    return parking_serve(&queue->parking.getting, COHORT_OK, to_wake);
}

/* There is room for one more item: that of the first putter. */
static void fill(cohort_queue *queue, struct parking_list *to_wake)
{
    if (queue->parking.waiting.first)
        push(queue, queue->parking.waiting.first->item);
    parking_serve(&queue->parking.waiting, COHORT_OK, to_wake);
}

/* --- putting and getting --- */

static cohort_status closed(cohort_queue *queue, const char *function)
{
    pthread_mutex_unlock(&queue->parking.lock);
    return cohort_fail(COHORT_ERR_GONE, "%s: the queue is closed", function);
}

cohort_status cohort_queue_put(cohort_queue *queue, void *item, uint64_t nanoseconds)
{
    struct parking_terms terms = {.function = "cohort_queue_put",
                                  .caller = __builtin_return_address(0),
                                  .what = (uintptr_t)queue + COHORT__WAIT_QUEUE,
                                  .nanoseconds = nanoseconds};
    struct parking_list to_wake = {0};
    if (parking_enter(queue, "queue", terms.function))
        return COHORT_ERR_BAD_PARAMETER;
    if (queue->is_closed)
        return closed(queue, terms.function);
    if (!give(queue, item, &to_wake)) {
        if (queue->num == queue->capacity) {
            struct parked parked = {.item = item};
            return parking_wait(&queue->parking, &queue->parking.waiting, &parked, &terms);
        }
        push(queue, item);
    }
    parking_wake(&queue->parking, &to_wake);
    return COHORT_OK;
}

/* Under the lock, which it gives back. */
static cohort_status wait_for_item(cohort_queue *queue, void **ret_item,
                                   const struct parking_terms *terms)
{
    struct parked parked = {0};
    if (queue->is_closed)
        return closed(queue, terms->function);
    cohort_status status = parking_wait(&queue->parking, &queue->parking.getting, &parked, terms);
    if (status == COHORT_OK)
        *ret_item = parked.item;
    return status;
}

cohort_status cohort_queue_get(cohort_queue *queue, void **ret_item, uint64_t nanoseconds)
{
    struct parking_terms terms = {.function = "cohort_queue_get",
                                  .caller = __builtin_return_address(0),
                                  .what = (uintptr_t)queue + COHORT__WAIT_QUEUE,
                                  .nanoseconds = nanoseconds};
    struct parking_list to_wake = {0};
    if (!queue || !ret_item)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s is NULL", terms.function,
                           queue ? "ret_item" : "queue");
    parking_check(&queue->parking, "queue", terms.function);
    pthread_mutex_lock(&queue->parking.lock);
    if (queue->num == 0)
        return wait_for_item(queue, ret_item, &terms);
    *ret_item = pop(queue);
    fill(queue, &to_wake);
    parking_wake(&queue->parking, &to_wake);
    return COHORT_OK;
}

void cohort_queue_close(cohort_queue *queue)
{
    if (!queue)
        return;
    parking_check(&queue->parking, "queue", "cohort_queue_close");
    pthread_mutex_lock(&queue->parking.lock);
    queue->is_closed = true;
    parking_close(&queue->parking);
}
