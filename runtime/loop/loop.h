/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_LOOP_H
#define COHORT_RUNTIME_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/batch_queue.h"
#include "runtime/loop/poller.h"

/* The locality's event loop: libuv, the pollers (transports), and requests of other threads.
 *
 * One thread at a time turns it: the holder of the scheduler's token, or, before the scheduler has
 * started and after it has ended, the thread that created it. "Holder only" below means that
 * thread. Callbacks run in the holder, inside poll, park or run; they must not turn the loop, wait,
 * or run user code. */
struct cohort__loop;

cohort_status cohort__loop_create(struct cohort__loop **ret_loop);

/* Pollers are to be removed, and streams, children and the like to be closed before. Timers that
 * are left expire now; requests that have not been run are dropped. NULL is fine. */
void cohort__loop_destroy(struct cohort__loop *loop);

/* POLLER has to stay until it is removed. Holder only. */
cohort_status cohort__loop_add_poller(struct cohort__loop *loop,
                                      const struct cohort__poller *poller);
void cohort__loop_remove_poller(struct cohort__loop *loop, const struct cohort__poller *poller);

/* Something for the holder to do: `run` is called once, after which the request is the caller's
 * again (run may free it, or hand it in anew). */
struct cohort__loop_request {
    struct cohort__batch_queue_node node; /* the loop's */
    void (*run)(struct cohort__loop *loop, struct cohort__loop_request *request);
};

/* Queues REQUEST, and wakes the holder if it is parked. Requests run in the order in which they
 * came. Any thread, the holder included; never waits. */
void cohort__loop_request(struct cohort__loop *loop, struct cohort__loop_request *request);

/* Runs what is queued now, and nothing else. True if anything was. Holder only. */
bool cohort__loop_run_requests(struct cohort__loop *loop);

/* Turns the loop without blocking: the pollers, requests, and libuv once in 64 calls (more often
 * when there is reason to). True if anything was done. Holder only. */
bool cohort__loop_poll(struct cohort__loop *loop);

/* Blocks until something arrives: for a poller, in libuv, as a request, by a timer or by
 * cohort__loop_wake; and handles it. False: there was nothing but a tick. May return early. Holder
 * only. */
bool cohort__loop_park(struct cohort__loop *loop);

/* Makes a park that is under way, or else the next one, return soon. Any thread, signal handlers as
 * well. */
void cohort__loop_wake(struct cohort__loop *loop);

/* For programs that are nothing but a loop, and before the scheduler starts: turns libuv until
 * cohort__loop_stop, or until nothing is left that could happen. Pollers are not served. A stop
 * that came before holds. Holder only. */
void cohort__loop_run(struct cohort__loop *loop);
void cohort__loop_stop(struct cohort__loop *loop);

/* Calls FUNCTION(CONTEXT) in the holder about every NANOSECONDS (rounded up to milliseconds, at
 * least one) until the loop is destroyed; up to eight times more rarely while it is only parked and
 * nothing else happens. Does not keep cohort__loop_run from ending. Holder only. */
cohort_status cohort__loop_every(struct cohort__loop *loop, uint64_t nanoseconds,
                                 void (*function)(void *context), void *context);

/* Makes LOOP the one that cohort_sleep uses, process-wide; NULL takes it away again: sleeps that
 * begin then fail with COHORT_ERR_STATE. Call it after the scheduler has been started, and with
 * NULL after it has run, before the loop is destroyed: what still sleeps then ends with
 * COHORT_ERR_CANCELLED. */
void cohort__loop_attach(struct cohort__loop *loop);

/* What the scheduler calls to have LOOP turned by idle workers; timers are in loop/timer.h. */
struct cohort__scheduler_hooks;
void cohort__loop_scheduler_hooks(struct cohort__loop *loop,
                                  struct cohort__scheduler_hooks *ret_hooks);

#endif
