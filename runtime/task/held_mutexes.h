/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_HELD_MUTEXES_H
#define COHORT_RUNTIME_TASK_HELD_MUTEXES_H

#include "runtime/task/task.h"

/* Which mutexes of pthreads the calling thread holds, so that a task that waits with one can be
 * told about: whoever locks it on the same worker blocks the thread on which its holder was to go
 * on. Only in a library that is built for it (the build's option mutex_watch): it puts itself
 * before the functions of pthreads that lock and unlock. Otherwise nothing of this costs
 * anything. */

enum { COHORT__HELD_MUTEXES_MOST = 16 }; /* of a thread; more are not noticed */

struct cohort__held_mutex {
    const void *mutex;
    const void *caller;                         /* of the lock */
    const struct cohort__task_context *context; /* of the task; NULL: outside of tasks */
};

struct cohort__held_mutexes {
    unsigned num;
    struct cohort__held_mutex held[COHORT__HELD_MUTEXES_MOST];
};

#if COHORT__WATCHES_MUTEXES
/* The task of CONTEXT waits, in a public function that CALLER has called. If it holds mutexes, says
 * so on standard error, once for each CALLER. What others hold, on whose stack it runs in place of
 * an await, is theirs. */
void cohort__held_mutexes_tell(const struct cohort__task_context *context, const void *caller);

/* The same. What the thread holds is in HELD now, since it leaves the task's stack. */
void cohort__held_mutexes_leave(struct cohort__held_mutexes *held,
                                const struct cohort__task_context *context, const void *caller);

/* The task goes on with what it HELD. The thread may be another one. */
void cohort__held_mutexes_return(const struct cohort__held_mutexes *held);
#else
static inline void cohort__held_mutexes_tell(const struct cohort__task_context *context,
                                             const void *caller)
{
    (void)context, (void)caller;
}

static inline void cohort__held_mutexes_leave(struct cohort__held_mutexes *held,
                                              const struct cohort__task_context *context,
                                              const void *caller)
{
    (void)held, (void)context, (void)caller;
}

static inline void cohort__held_mutexes_return(const struct cohort__held_mutexes *held)
{
    (void)held;
}
#endif

#endif
