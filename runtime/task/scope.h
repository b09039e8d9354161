/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_SCOPE_H
#define COHORT_RUNTIME_TASK_SCOPE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cohort/scope.h"
#include "runtime/base/error.h"
#include "runtime/task/future.h"

/* What tasks and waits need of the scopes (cohort/scope.h). A task in a scope counts as one that it
 * waits for, from before it can run until after its future is complete. So a task that runs can use
 * its scope without a reference. Any thread may call all of this. */

/* The scope of the running task, or of the one for which this thread runs a function of
 * cohort_blocking; or NULL. */
cohort_scope *cohort__scope_current(void);

/* One more task in SCOPE, which exists; and its end, after which SCOPE may be gone. NULL is fine.
 */
void cohort__scope_enter(cohort_scope *scope);
void cohort__scope_leave(cohort_scope *scope);

bool cohort__scope_is_cancelled(const cohort_scope *scope);

/* A task that cohort_scope_async has started has ended with STATUS, an error, and the message of
 * ERROR, as for cohort__future_complete. */
void cohort__scope_fail(cohort_scope *scope, cohort_status status,
                        const struct cohort__error *error);

/* Sets *ERROR, which is valid or empty, to what is said of something that SCOPE, which is
 * cancelled, has kept from running or ended early. WHAT names it, or is NULL. */
void cohort__scope_explain(const cohort_scope *scope, const char *what,
                           struct cohort__error *error);

/* Ends the program if SCOPE, which CALLER has given to the public FUNCTION, is gone. */
void cohort__scope_check(const cohort_scope *scope, const char *function, const void *caller);

/* Whether something may be started in SCOPE by the caller of the public function NAME, with a
 * message if not. SCOPE is not NULL. */
cohort_status cohort__scope_check_open(const cohort_scope *scope, const char *name);

/* A scope with none around it, for a task that another locality has started. _ended: a reference to
 * a future that is complete when all tasks in it have ended, after _close: from then on nobody but
 * these starts anything in it. Then _finish, in a task that is in no scope, frees it and returns
 * what cohort_scope_await would. */
cohort_status cohort__scope_create_alone(cohort_scope **ret_scope);
cohort_future *cohort__scope_ended(cohort_scope *scope);
void cohort__scope_close(cohort_scope *scope);
cohort_status cohort__scope_finish(cohort_scope *scope);

/* All tasks have ended. Says, on standard error, which scopes have failed without having been
 * awaited, and why. */
void cohort__scopes_tell_lost(void);

/* SCOPE may be cancelled, asked whether it is, and watched, as long as there is a reference. NULL
 * is fine. */
cohort_scope *cohort__scope_ref(cohort_scope *scope);
void cohort__scope_unref(cohort_scope *scope);

/* Something that is to end early when a scope is cancelled. The caller sets cancel and release.
 * cancel is called at most once, by the thread that cancels the scope, which may be any; it may run
 * at the same time as unwatch, and even after it has returned. release is called once, when nobody
 * uses the watch any more. Neither may run user code. */
struct cohort__scope_watch {
    void (*cancel)(struct cohort__scope_watch *watch);
    void (*release)(struct cohort__scope_watch *watch);
    struct cohort__waiter waiter;
    cohort_future *cancelled; /* a reference */
    _Atomic uint32_t users;
};

/* Watches SCOPE, which is the running task's own or one around it, or of which the caller has a
 * reference. cancel may be called before this returns. */
void cohort__scope_watch(cohort_scope *scope, struct cohort__scope_watch *watch);

/* To be called once after watch: cancel is of no use any more. */
void cohort__scope_unwatch(struct cohort__scope_watch *watch);

#endif
