/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_SCOPE_H
#define COHORT_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "cohort/task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A scope is a group of tasks that end together: its await waits for all of them, and the first one
 * that fails cancels the others. So nothing that was started in a scope is still running behind it,
 * and no error is lost.
 *
 * In the scope are the tasks of cohort_scope_async, and whatever these start in turn, by
 * cohort_async, cohort_then, cohort_parallel_for or in any other way, also in a function that they
 * call by cohort_blocking. Its await waits for all of them. The status of a task of
 * cohort_scope_async is the scope's: an error cancels it. The status of another task goes into that
 * task's future, for who awaits it.
 *
 * Remote tasks (cohort/remote.h) that are started in a scope belong to it like others, with all
 * that they start, in whatever locality.
 *
 * A scope that a task of another one creates is inside of that one, and is cancelled with it. If
 * nobody has awaited it when all tasks around it have ended, the outer scope cancels it, waits for
 * its tasks, frees it, and fails with COHORT_ERR_STATE. One that nobody has awaited when the
 * runtime ends, and that has failed other than by cohort_scope_cancel, is named by a line on
 * standard error, with its error.
 *
 * When a scope is cancelled,
 * - tasks in it that have not started never run; their futures hold COHORT_ERR_CANCELLED. Those of
 *   cohort_then and cohort_dataflow, too: the scope does not wait for their inputs. What they were
 *   to free has to belong to whoever awaits the scope;
 * - cohort_cancelled is true in the others, which should end soon;
 * - what they wait for in cohort_wait or in a function of cohort/sync.h ends as cancelled at once,
 *   and so does each later call that would have to wait;
 * - what they have started and is pending is asked to end: cohort_sleep, cohort_comm_idle, remote
 *   tasks, calls of cohort/tcp.h, and sets, gets and probes of channels that wait complete with
 *   COHORT_ERR_CANCELLED, and what sites do together ends at all of them, unless it is complete by
 *   then: collectives are taken back as by cohort_comm_cancel (cohort/comm.h), and so are
 *   cohort_comm_create, cohort_comm_agree and cohort_comm_shrink for which others have not come.
 *   cohort_await itself returns when its future is complete, and not before, since buffers belong
 *   to what is under way.
 * Not ended are a function of cohort_blocking that has begun, what a thread has begun of
 * cohort/file.h, and promises of the program. A task waits for these by cohort_wait if it is to end
 * with its scope. */
typedef struct cohort_scope cohort_scope;

typedef struct cohort_scope_options {
    /* If the scope has not ended so many nanoseconds after it was created, it is cancelled, and
     * fails with COHORT_ERR_TIMEOUT. 0: no limit. */
    uint64_t limit_nanoseconds;
} cohort_scope_options;

/* Creates a scope; cohort_scope_await gives it back. OPTIONS may be NULL, and is read before the
 * call returns. COHORT_ERR_BAD_PARAMETER, COHORT_ERR_NO_MEMORY; COHORT_ERR_STATE before the start
 * and after the end of the runtime. Any thread; never suspends. _sized: the exported function, for
 * OPTIONS_BYTES of OPTIONS; see cohort_comm_create_sized. */
COHORT_API cohort_status cohort_scope_create_sized(const cohort_scope_options *options,
                                                   size_t options_bytes,
                                                   cohort_scope **ret_scope) COHORT_MUST_USE;
COHORT_MUST_USE static inline cohort_status cohort_scope_create(const cohort_scope_options *options,
                                                                cohort_scope **ret_scope)
{
    return cohort_scope_create_sized(options, sizeof(*options), ret_scope);
}

/* Starts FUNCTION(ARG) as a task in SCOPE. ARG is only passed on. On failure FUNCTION is not
 * called: COHORT_ERR_BAD_PARAMETER if SCOPE or FUNCTION is NULL, COHORT_ERR_CANCELLED if SCOPE is
 * cancelled, COHORT_ERR_NO_MEMORY, COHORT_ERR_STATE after the end of the runtime. When the await of
 * SCOPE has begun, only tasks in it may call this: COHORT_ERR_STATE for others. Any thread; never
 * suspends. */
COHORT_API cohort_status cohort_scope_async(cohort_scope *scope, cohort_task_function *function,
                                            void *arg) COHORT_MUST_USE;

/* Cancels SCOPE; its await will return COHORT_ERR_CANCELLED, unless something else has made it fail
 * before. To be called before its await has returned. Any thread; never suspends. NULL is fine. */
COHORT_API void cohort_scope_cancel(cohort_scope *scope);

/* cohort_scope_cancel, but the scope fails with STATUS, not COHORT_OK, and a printf-like message.
 * For a task whose error has to be known before others notice its consequences: a site of a
 * communicator calls it before it gives its endpoint back, so that the scope's error is the cause,
 * and not the COHORT_ERR_GONE of another site. Also sets the caller's error, as cohort_fail does,
 * and returns STATUS. */
COHORT_API cohort_status cohort_scope_fail(cohort_scope *scope, cohort_status status,
                                           const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Waits until all tasks in SCOPE have ended, frees it, and returns COHORT_OK, or the first error in
 * time, with its message. It does not return earlier when the scope is cancelled. The scope is kept
 * in these cases only: COHORT_ERR_BAD_PARAMETER if SCOPE is NULL; COHORT_ERR_STATE if it is called
 * by a task in SCOPE, which would wait for itself, or a second time, or by a thread that may not
 * wait (see cohort_await) while there are tasks in it. A scope without tasks needs this call, too.
 * Suspends a task; blocks any other thread. */
COHORT_API cohort_status cohort_scope_await(cohort_scope *scope) COHORT_MUST_USE;

/* The innermost scope that the calling task is in, or NULL: for a task that starts more in it, by
 * cohort_scope_async or cohort_scope_async_at (cohort/remote.h), without knowing who has made it.
 * In a function of cohort_blocking: that of the task. To be used only by tasks in that scope, while
 * they run. Any thread; never suspends. */
COHORT_API cohort_scope *cohort_scope_current(void);

/* Whether a scope of the calling task is cancelled, so that the task should end, or the function of
 * cohort_blocking that it waits for. false outside of both, and in tasks that are in no scope. A
 * few nanoseconds. Any thread; never suspends. */
COHORT_API bool cohort_cancelled(void);

#ifdef __cplusplus
}
#endif

#endif
