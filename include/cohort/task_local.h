/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TASK_LOCAL_H
#define COHORT_TASK_LOCAL_H

#include "cohort/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Storage that belongs to a task, as a thread-local variable belongs to a thread. A key is one
 * variable: under it each task has a value of its own, which is NULL until the task sets it. The
 * value stays with the task across its awaits, wherever it goes on.
 *
 * - A task inherits nothing: not from the one that starts it, nor from one that runs it in place of
 *   an await. The same is true for what cohort_then and cohort_dataflow start. The body of
 *   cohort_parallel_for is called by several tasks, so it should not use a key.
 * - A function that a task runs by cohort_blocking sees the values of that task, and may set them.
 * - Outside of tasks the values are the thread's own: in a thread of the user's, and in a function
 *   that the runtime calls outside of tasks, such as a reduction of the user's.
 * - A child process that a task forks does not see the task's values. They are not destroyed
 *   there.
 *
 * There may be any number of keys. Finding a value takes time in proportion to the number of keys
 * that the task has set. A task that sets none pays nothing. */
typedef struct cohort_task_local cohort_task_local;

/* Creates a key. The caller owns it until unref. Where DESTROY is not NULL, it is called with each
 * value that a task has left under the key and that is not NULL:
 * - when the function of the task has returned or, outside of tasks, when the thread ends, except
 *   for the main thread's end of the program;
 * - by the thread that has called the task's function last, before the task's future is complete.
 *   So what the value points to may belong to who awaits the task;
 * - within the task, so it may suspend, but it can't change the task's status or message;
 * - for one key after the other, the one set last first. A value that is being destroyed is NULL
 *   already, those that come later still have theirs. No other can be set.
 * COHORT_ERR_BAD_PARAMETER, COHORT_ERR_NO_MEMORY. Any thread, also before the start of the runtime;
 * never suspends. */
COHORT_API cohort_status cohort_task_local_create(void (*destroy)(void *value),
                                                  cohort_task_local **ret_key) COHORT_MUST_USE;

/* Gives the key back. Values that tasks still have under it are destroyed as described. After that
 * nobody may set or get it. NULL is fine. Any thread; never suspends. */
COHORT_API void cohort_task_local_unref(cohort_task_local *key);

/* Makes VALUE that of the calling task. The value before is the caller's again: it is not
 * destroyed. COHORT_ERR_BAD_PARAMETER (KEY is NULL), COHORT_ERR_STATE (VALUE is not NULL, and the
 * values of the task are being destroyed), COHORT_ERR_NO_MEMORY: then nothing has changed. To set
 * NULL, or again a key that is set, never fails for want of memory. Any thread; never suspends. */
COHORT_API cohort_status cohort_task_local_set(cohort_task_local *key, void *value) COHORT_MUST_USE;

/* The value of the calling task, or NULL; also NULL if KEY is. Any thread; never suspends. */
COHORT_API void *cohort_task_local_get(const cohort_task_local *key);

#ifdef __cplusplus
}
#endif

#endif
