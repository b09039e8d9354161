/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_CALLBACKS_H
#define COHORT_CALLBACKS_H

#include <stddef.h>

#include "cohort/future.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Futures for an event loop of somebody else's: poll, libuv, glib, Python's asyncio. A queue of
 * callbacks has a descriptor, which the loop watches, and a function, which the loop's thread calls
 * when it is readable. Callbacks run there and nowhere else. docs/EMBEDDING.md has examples.
 *
 * Each callback that was added runs once, whatever happens: with the result of its future; with
 * COHORT_ERR_CANCELLED if the runtime ends (cohort_stop, or cohort_main returns) while its future
 * is pending; or with that when its queue is destroyed before. None runs within the call that adds
 * it. Those of one queue run in the order in which their futures have become complete.
 *
 * A queue belongs to the first thread that runs it. It may be created before the start of the
 * runtime, and is there until it is destroyed, also across the end and the next start. A process
 * may have several, for the loops of several threads. */
typedef struct cohort_callbacks cohort_callbacks;

/* STATUS is that of the future. If it is COHORT_OK, VALUE is its value, of which the library knows
 * nothing; else VALUE is NULL, and cohort_error_message() has the message. The callback may call
 * all that threads outside of tasks may: add callbacks, start tasks, call collectives. If it waits
 * (cohort_await, cohort_stop), it keeps its loop waiting, and with it all other callbacks of the
 * queue. It must return; it must not run or destroy its own queue. */
typedef void cohort_callback_function(cohort_status status, void *value, void *arg);

/* Creates a queue of callbacks, which is empty. COHORT_ERR_NO_MEMORY: no memory, or no descriptor.
 * COHORT_ERR_BAD_PARAMETER: RET_CALLBACKS is NULL. Any thread, also before the start of the
 * runtime; never suspends. */
COHORT_API cohort_status cohort_callbacks_create(cohort_callbacks **ret_callbacks) COHORT_MUST_USE;

/* The descriptor: readable as long as there are callbacks to run, so the loop may watch it level by
 * level or by edges. It belongs to the queue: to be watched, and never read, written or closed; to
 * be taken out of the loop before the queue is destroyed. Any thread; never suspends. NULL: -1. */
COHORT_API int cohort_callbacks_fd(const cohort_callbacks *callbacks);

/* Has FUNCTION(status, value, ARG) called once FUTURE is complete, if it is complete already with
 * the next run. Takes the caller's reference to FUTURE, on failure too; then FUNCTION is never
 * called. ARG is only passed on.
 *
 * COHORT_ERR_BAD_PARAMETER: one of the first three is NULL; COHORT_ERR_STATE: before the start or
 * after the end of the runtime, or the queue is being destroyed; COHORT_ERR_NO_MEMORY. Any thread,
 * also in tasks and callbacks; never suspends. */
COHORT_API cohort_status cohort_callbacks_add(cohort_callbacks *callbacks, cohort_future *future,
                                              cohort_callback_function *function,
                                              void *arg) COHORT_MUST_USE;

/* Calls the callbacks that are ready now, at most MOST of them (0: all), and never one that becomes
 * ready meanwhile: the descriptor stays readable for these, so a loop that does other things
 * between two runs always comes to them. Writes to *RET_NUM how many it has called; RET_NUM may be
 * NULL. Doesn't wait for anything itself.
 *
 * COHORT_ERR_STATE, and nothing is called: within a callback of the same queue, while another
 * thread runs it, or by another thread than the one that has run it first; by a thread of the
 * runtime (in a task, or on the locality's loop); in a child that was forked while the runtime was
 * up. COHORT_ERR_BAD_PARAMETER: CALLBACKS is NULL. */
COHORT_API cohort_status cohort_callbacks_run(cohort_callbacks *callbacks, size_t most,
                                              size_t *ret_num);

/* Calls all callbacks that are left, those whose futures are pending with COHORT_ERR_CANCELLED,
 * closes the descriptor and frees the queue. To be called by the thread that runs it, or by any one
 * outside of tasks if none has; when no other thread adds to it any more. What the callbacks add
 * now is refused. NULL is fine. The errors are those of cohort_callbacks_run; the queue is kept
 * then. */
COHORT_API cohort_status cohort_callbacks_destroy(cohort_callbacks *callbacks);

#ifdef __cplusplus
}
#endif

#endif
