/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_PARKING_H
#define COHORT_RUNTIME_TASK_PARKING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/misuse.h"
#include "runtime/task/wait.h"
#include "runtime/task/wait_line.h"

/* What the objects of cohort/sync.h have in common: a lock, references, and lists of those who
 * wait. The lock is held for a few instructions only, and never while something waits or is woken.
 */

/* Who waits. In the frame of the waiting function. Whoever takes it out of its list, under the
 * lock, decides how the wait ends: one whose time has just passed may find that it was served. */
struct cohort__parking_list;
struct cohort__parked {
    struct cohort__wait wait;
    struct cohort__parked *prev, *next;
    struct cohort__parking_list *list; /* in which it is, or NULL */
    cohort_status status;              /* set by whoever has served it */
    uintptr_t actor;                   /* these two belong to the object */
    void *item;
};

struct cohort__parking_list {
    struct cohort__parked *first, *last;
    uint64_t num;
};

/* The first member of each object. */
struct cohort__parking {
    pthread_mutex_t lock;
    _Atomic uint32_t refs;  /* the program's */
    _Atomic uint32_t users; /* one for all of those, and one for each that waits */
};

/* Memory for an object of BYTES, cleared but for its parking, with one reference. WHAT names the
 * function. NULL: the error is set. */
void *cohort__parking_create(size_t bytes, const char *what);
void cohort__parking_ref(struct cohort__parking *parking);

/* For a public FUNCTION, as cohort__misuse_check: PARKING is that of a NOUN. */
__attribute__((always_inline)) static inline void
cohort__parking_check(const struct cohort__parking *parking, const char *noun, const char *function)
{
    cohort__misuse_check(&parking->refs, noun, parking, COHORT__MISUSE_UNREF, function);
}

/* Gives a reference back. If it was the last one, those in LISTS get COHORT_ERR_GONE. Then FINI,
 * which may be NULL, is called when the last of them has left, before the memory is freed. */
void cohort__parking_unref(struct cohort__parking *parking, struct cohort__parking_list *lists,
                           unsigned num_lists, void (*fini)(struct cohort__parking *parking));

/* How a wait is to be done. */
struct cohort__parking_terms {
    const char *function; /* for messages */
    const void *caller;   /* a return address, noted (wait_line.h) */
    uintptr_t what;       /* the same: the object, with its kind */
    uint64_t nanoseconds;
    bool always;                                       /* no limit, and its scope does not matter */
    void (*withdraw)(struct cohort__parking *parking); /* see below; these may be NULL */
    void (*fini)(struct cohort__parking *parking);     /* as above */
    void (*listed)(void *arg);                         /* see below */
    void *arg;
};

/* To be called with the lock, which it gives back. Waits at the end of LIST until it is served, and
 * returns the status of that. Else the error is set: COHORT_ERR_TIMEOUT, COHORT_ERR_CANCELLED,
 * COHORT_ERR_NO_MEMORY, COHORT_ERR_STATE. terms->listed is called without the lock when PARKED is
 * in LIST, and before it waits. terms->withdraw is called with the lock when it leaves LIST without
 * being served. A task may be in another thread afterwards. */
cohort_status cohort__parking_wait(struct cohort__parking *parking,
                                   struct cohort__parking_list *list, struct cohort__parked *parked,
                                   const struct cohort__parking_terms *terms);

/* Serves the first of LIST with STATUS, COHORT_OK or COHORT_ERR_GONE. With the lock. Adds it to
 * TO_WAKE, which begins as {0} and is to be woken without the lock, unless it is about to go on
 * anyway. False: LIST is empty. */
bool cohort__parking_serve(struct cohort__parking_list *list, cohort_status status,
                           struct cohort__parking_list *to_wake);
void cohort__parking_wake(struct cohort__parking_list *to_wake);

#endif
