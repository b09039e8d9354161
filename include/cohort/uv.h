/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_UV_H
#define COHORT_UV_H

/* The locality's event loop, shared with the program's own handles of libuv. This header is not
 * part of cohort.h, since it needs libuv's (uv.h), which in strict C needs _POSIX_C_SOURCE. For
 * files and TCP take cohort/file.h and cohort/tcp.h, which are made on top of this. */

#include <uv.h>

#include "cohort/future.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each locality has one loop of libuv. One thread at a time turns it: a worker between two tasks,
 * now this one, now that one, or the progress thread (COHORT_PROGRESS=thread, job.h). libuv allows
 * its calls only in the thread that turns the loop, except for uv_async_send and what else it says
 * of itself. So handles are made, changed and closed in functions that cohort_run_on_loop runs, and
 * in libuv's callbacks, which run in that thread, too.
 *
 * What runs there, functions and callbacks,
 * - must not wait: cohort_await and the like fail with COHORT_ERR_STATE. Nor must it wait for a
 *   thread that does so (pthread_join). It may call all that "any thread; never suspends", as
 *   cohort_promise_fulfil, cohort_async or cohort_queue_put with a limit of 0. What it makes ready
 *   in this way runs before the loop blocks again;
 * - must not turn or stop the loop (uv_run, uv_stop, uv_loop_close), nor touch handles that it has
 *   not made (uv_walk);
 * - keeps messages and timers of the locality waiting as long as it runs. It is to be short, and to
 *   leave to a task what is not;
 * - is in no task and in no scope;
 * - has in a worker a stack of 256 KiB, that on which workers turn the loop, whatever COHORT_STACK
 *   says.
 *
 * The end: an open handle does not keep the job from ending. Handles that are open when it has
 * ended are closed by cohort_main, which says how many there were of which kind (COHORT_LOG=warn).
 * Their memory has to be there until cohort_main has returned. So a program that has handles closes
 * them, and awaits that, before its last task ends. Requests of libuv that are under way then
 * (uv_queue_work, uv_fs_read and others) are waited for. Callbacks that come at the end run in the
 * thread that has called cohort_main; the functions of this library that need the runtime fail
 * there with COHORT_ERR_STATE. cohort_locality and cohort_num_localities say what they said. */
typedef cohort_status cohort_loop_function(uv_loop_t *loop, void *arg);

/* Runs FUNCTION(LOOP, ARG) in the thread that turns the loop, soon, and before or after whatever
 * else happens there; functions run in the order in which one thread has asked for them. ARG is
 * only passed on. The future completes with what FUNCTION has returned, and its message, if it has
 * set one (cohort_fail).
 *
 * FUNCTION is run once, also if the future is dropped, the scope of the calling task is cancelled
 * or the job ends: then at the end, by the thread that has called cohort_main. It is not run if the
 * future holds COHORT_ERR_BAD_PARAMETER (FUNCTION is NULL), COHORT_ERR_STATE (before the start or
 * after the end of the runtime) or COHORT_ERR_NO_MEMORY, which it does at once.
 *
 * Any thread, also that of the loop; never suspends. */
COHORT_API cohort_future *cohort_run_on_loop(cohort_loop_function *function,
                                             void *arg) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
