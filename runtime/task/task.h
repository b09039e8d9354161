/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_TASK_H
#define COHORT_RUNTIME_TASK_TASK_H

#include "cohort/scope.h"
#include "cohort/task.h"
#include "cohort/task_local.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"

/* A function of any type, not to be called. */
typedef void cohort__any_function(void);

/* A future with the function that completes it, in one object. A task is queued as a work, and the
 * queue holds a reference to it. But the first worker that claims the task runs it. So a task that
 * awaits it can run it without searching for it in the queue. The entry in the queue is then stale,
 * and the worker that finds it there drops it.
 *
 * A task that asks for a stack of its own size needs two to the power of stack_exponent bytes, a
 * field of its future. It is 0 for all others.
 *
 * A task that gives way, another field, is one of several that do the same in different localities.
 * An await runs it in its place only if nobody else could go on here, and the loop needs no turn.
 * Otherwise this locality would do again and again what the others wait for to be given. */
struct cohort__task {
    struct cohort_future future; /* first */
    struct cohort__work work;
    cohort_task_function *function;
    void *arg;
};

/* A task with more to it, marked by is_extended. If it is in a scope, it counts there. If FUNCTION
 * is the library's, SHOWN is the user's, for which it is there: that is what a trace, the ledger
 * and messages call the task. */
struct cohort__extended_task {
    struct cohort__task task; /* first */
    /* Called with ARG instead of FUNCTION if the task never runs, for the reason WHY; or NULL. */
    void (*cancel)(void *arg, const struct cohort__error *why);
    cohort__any_function *shown;
    cohort_scope *scope; /* or NULL */
    bool fails_scope;    /* its error is the scope's */
    bool runs_cancelled; /* also if its scope is cancelled before it begins */
};

/* The data of a running task. It is in the stack frame that has called the task. */
struct cohort__task_context {
    struct cohort__error error;
    cohort__any_function *shown; /* the user's function, see above */
    struct cohort__task *task;
    uintptr_t identity; /* in the ledger, see wait.h */
    struct cohort__fiber *fiber;
    struct cohort__task_context
        *outer; /* of the task that runs this one by a plain call, or NULL */
    struct cohort__error *outer_slot;
    cohort_scope *scope;                /* that it is in, or NULL */
    struct cohort__task_locals *locals; /* its values, see task_local.h, or NULL */
    bool may_move;                      /* and so may all tasks below it on the same stack */
    bool is_special; /* it is in a scope, or has values: its end has more to do */
};

/* The user's function of TASK. Its memory may be that of a task whose last reference was given
 * back. */
cohort__any_function *cohort__task_shown(const struct cohort__task *task);

/* The name of SHOWN, as text that ends with 0. */
void cohort__task_name(cohort__any_function *shown, char *text, size_t bytes);

/* Starts with two references. The task counts as claimed until it is queued. SCOPE may be NULL.
 * From now on the task counts there, until it has ended or cohort__scope_leave was called for it.
 */
void cohort__extended_task_init(struct cohort__extended_task *task, cohort_task_function *function,
                                void *arg, cohort__any_function *shown, cohort_scope *scope);

/* For cohort_scope_async: starts FUNCTION(ARG) in SCOPE, whose status is that of the task. */
cohort_status cohort__task_start_in(cohort_scope *scope, cohort_task_function *function, void *arg,
                                    cohort__any_function *shown);

/* As cohort_async, for a task in SCOPE, or in none if that is NULL, whose argument is a copy of
 * BYTES at CARRIED, aligned to 16. The copy is freed with the task, also if it never runs. FLAGS
 * are below. */
enum {
    COHORT__TASK_FAILS_SCOPE = 1,    /* its error is the scope's */
    COHORT__TASK_GIVES_WAY = 2,      /* see future.h */
    COHORT__TASK_RUNS_CANCELLED = 4, /* also if its scope is cancelled before it begins */
};
cohort_future *cohort__task_start_carrying(cohort_scope *scope, uint32_t flags,
                                           cohort_task_function *function,
                                           cohort__any_function *shown, const void *carried,
                                           size_t bytes);

/* As cohort_async, for a task that is in no scope, whoever calls this. */
cohort_future *cohort__task_start_outside(cohort_task_function *function, void *arg,
                                          cohort__any_function *shown);

/* The same, for when a worker finds nothing else to do, and nobody awaits it. If it is not started,
 * the error is set. */
cohort_status cohort__task_start_last(cohort_task_function *function, void *arg,
                                      cohort__any_function *shown);

/* As cohort_then, for a task that is in no scope, whoever calls this. */
cohort_future *cohort__then_outside(cohort_future *future, cohort_then_function *function,
                                    void *arg, cohort__any_function *shown);

/* The run function of a task's work. Runs the task if nobody has claimed it, and gives the queue's
 * reference back. */
void cohort__task_run(struct cohort__work *work);

/* The same for a task that is for one worker: the one that calls this. */
void cohort__task_run_bound(struct cohort__work *work);

/* Whether WORK is a task, and a worker may go on with it that has not begun it. */
bool cohort__task_may_move(const struct cohort__work *work);

/* Calls TASK, which was claimed, and gives the queue's reference back. At the base of a stack, or
 * above others on the reserve. */
void cohort__task_call(struct cohort__task *task);

/* TASK, which was claimed, can't begin, for the reason that this thread has failed with. Gives the
 * queue's reference back. */
void cohort__task_refuse(struct cohort__task *task);

/* Whether WORK is a task that was claimed already, so that it only has to be dropped. */
bool cohort__task_is_stale(const struct cohort__work *work);

/* Gives back the queue's reference to the stale WORK. */
void cohort__task_drop(struct cohort__work *work);

/* To be called when the runtime has ended. Completes the task with an error, unless it was claimed,
 * and gives the queue's reference back. */
void cohort__task_cancel(struct cohort__work *work);

/* Queues TASK, which is counted and was not queued yet, since what it waits for is complete. May be
 * called where a waiter's notify is. If the runtime has ended, cancels it. */
void cohort__task_follow(struct cohort__task *task);

/* Whether FUTURE is a task that nobody has claimed. */
bool cohort__task_is_open(const cohort_future *future);

/* Runs FUTURE at once, by a plain call, if it is a task that nobody has claimed and the stack has
 * room. Returns whether it did. Only in a task. */
bool cohort__task_try_inline(cohort_future *future);

/* --- task_local.c --- */

/* The values of a task are in its context, in a table that the first set makes. A task without one
 * has nothing to do for it, neither at its start nor at its end. */

/* The function of the task of CONTEXT has returned. Destroys its values. May suspend. */
void cohort__task_locals_end(struct cohort__task_context *context);

#endif
