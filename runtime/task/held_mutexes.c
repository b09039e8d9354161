/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/held_mutexes.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/symbol.h"
#include "runtime/task/worker.h"

/* A definition of libcohort's is found before the C library's, which comes last, by the program and
 * by all of its libraries. In a program that opens libcohort by dlopen it is not, nor for calls
 * within the C library: its C11 mutexes, and the unlock and lock inside pthread_cond_wait, between
 * which the thread runs nothing else. */

enum { MOST_PLACES = 256 }; /* that are told about */

static _Thread_local struct cohort__held_mutexes mine __attribute__((tls_model("initial-exec")));

/* --- the functions of pthreads --- */

enum function { LOCK, TRYLOCK, TIMEDLOCK, CLOCKLOCK, UNLOCK, NUM_FUNCTIONS };
static const char *const names[NUM_FUNCTIONS] = {
    [LOCK] = "pthread_mutex_lock",           [TRYLOCK] = "pthread_mutex_trylock",
    [TIMEDLOCK] = "pthread_mutex_timedlock", [CLOCKLOCK] = "pthread_mutex_clocklock",
    [UNLOCK] = "pthread_mutex_unlock",
};

/* The next definition, mostly the C library's, or a sanitizer's. */
static void *next_of(enum function function)
{
    static void *_Atomic nexts[NUM_FUNCTIONS];
    void *next = atomic_load_explicit(&nexts[function], memory_order_relaxed);
    if (next)
        return next;
    next = dlsym(RTLD_NEXT, names[function]);
    atomic_store_explicit(&nexts[function], next, memory_order_relaxed);
    return next;
}

/* Notes MUTEX if RESULT says that it was locked. Returns RESULT. */
static int note_lock(int result, const void *mutex, const void *caller)
{
    bool is_locked = result == 0 || result == EOWNERDEAD;
    const struct cohort__worker *worker = cohort__worker_self;
    if (is_locked && mine.num < COHORT__HELD_MUTEXES_MOST)
        mine.held[mine.num++] =
            (struct cohort__held_mutex){mutex, caller, worker ? worker->context : NULL};
    return result;
}

static void note_unlock(const void *mutex)
{
    unsigned i = mine.num;
    while (i > 0 && mine.held[i - 1].mutex != mutex)
        i--;
    if (i == 0)
        return; /* one too many, or locked by another thread */
    memmove(&mine.held[i - 1], &mine.held[i], (mine.num - i) * sizeof(mine.held[0]));
    mine.num--;
}

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    int (*next)(pthread_mutex_t *) = (int (*)(pthread_mutex_t *))next_of(LOCK);
    return note_lock(next(mutex), mutex, __builtin_return_address(0));
}

EXPORTED int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    int (*next)(pthread_mutex_t *) = (int (*)(pthread_mutex_t *))next_of(TRYLOCK);
    return note_lock(next(mutex), mutex, __builtin_return_address(0));
}

EXPORTED int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *time)
{
    int (*next)(pthread_mutex_t *, const struct timespec *) =
        (int (*)(pthread_mutex_t *, const struct timespec *))next_of(TIMEDLOCK);
    return note_lock(next(mutex, time), mutex, __builtin_return_address(0));
}

EXPORTED int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                     const struct timespec *time)
{
    int (*next)(pthread_mutex_t *, clockid_t, const struct timespec *) =
        (int (*)(pthread_mutex_t *, clockid_t, const struct timespec *))next_of(CLOCKLOCK);
    if (!next)
        return ENOSYS;
    return note_lock(next(mutex, clock, time), mutex, __builtin_return_address(0));
}

EXPORTED int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    int (*next)(pthread_mutex_t *) = (int (*)(pthread_mutex_t *))next_of(UNLOCK);
    int result = next(mutex);
    if (result == 0)
        note_unlock(mutex);
    return result;
}

/* --- tasks that wait --- */

/* Whether CALLER was told about before; else it is now. */
static bool is_told(const void *caller)
{
    static const void *_Atomic told[MOST_PLACES];
    for (size_t i = 0; i < MOST_PLACES; i++) {
        const void *there = NULL;
        if (atomic_compare_exchange_strong(&told[i], &there, caller))
            return false;
        if (there == caller)
            return true;
    }
    return true; /* enough has been said */
}

static void tell(const struct cohort__task_context *context, const void *caller,
                 const struct cohort__held_mutex *first, unsigned num)
{
    char task[480], waits[480], locked[480], text[2048];
    cohort__task_name(context->shown, task, sizeof(task));
    cohort__symbol_name(caller, waits, sizeof(waits));
    cohort__symbol_name(first->caller, locked, sizeof(locked));
    int bytes = snprintf(text, sizeof(text),
                         "cohort: the task %s waits at %s, and holds %u pthread mutex%s, the first "
                         "one %p, locked at %s: another task on this worker that locks it would "
                         "block the thread for ever; take a cohort_mutex (cohort/sync.h)\n",
                         task, waits, num, num > 1 ? "es" : "", first->mutex, locked);
    (void)!write(STDERR_FILENO, text, (size_t)bytes);
}

void cohort__held_mutexes_tell(const struct cohort__task_context *context, const void *caller)
{
    const struct cohort__held_mutex *first = NULL;
    unsigned num = 0;
    for (unsigned i = mine.num; i-- > 0;) {
        if (mine.held[i].context != context)
            continue;
        first = &mine.held[i];
        num++;
    }
    if (first && !is_told(caller))
        tell(context, caller, first, num);
}

void cohort__held_mutexes_leave(struct cohort__held_mutexes *held,
                                const struct cohort__task_context *context, const void *caller)
{
    cohort__held_mutexes_tell(context, caller);
    *held = mine;
    mine.num = 0;
}

void cohort__held_mutexes_return(const struct cohort__held_mutexes *held)
{
    mine = *held;
}
