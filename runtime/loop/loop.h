/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_LOOP_H
#define COHORT_RUNTIME_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/batch_queue.h"
#include "runtime/task/scheduler.h"

/* A source of events besides libuv: a transport. All functions are called by the loop's holder. */
struct cohort__poller {
    void *context;
    /* Handles what has arrived, without blocking. Returns true if there was anything. */
    bool (*progress)(void *context);
    /* The part of that which handles what others have written into shared memory, without a
     * message. NULL: there is none. */
    bool (*look)(void *context);
    /* From now on, `fd` becomes readable when something arrives. Returns false if something may
     * have arrived already: then the loop must not block, but call progress again. */
    bool (*arm)(void *context);
    void (*disarm)(void *context);
    /* Whether something that is under way is likely to end within a moment, so that who waits had
     * better look on for longer than usual. NULL: never. */
    bool (*expects)(void *context);
    int fd; /* readable when armed and something has arrived; -1: none, so the loop never blocks */
};

/* The locality's event loop. It runs libuv, the pollers (transports), and requests of other
 * threads.
 *
 * One thread at a time turns the loop. This is the holder: the worker that holds the scheduler's
 * token, or before the scheduler has started and after it has ended, the thread that created the
 * loop. "Holder only" below means that thread. Callbacks run in the holder, inside poll, park or
 * run. They must not turn the loop, wait, or run user code. */
struct cohort__loop;

cohort_status cohort__loop_create(struct cohort__loop **ret_loop);

/* Before this call, pollers have to be removed, and streams, children and the like have to be
 * closed. What is left then is the program's (guest.c): it is closed, and the log says so. Timers
 * that are left expire now. Requests that have not run are dropped. NULL is fine. */
void cohort__loop_destroy(struct cohort__loop *loop);

/* POLLER has to stay valid until it is removed. Holder only. */
cohort_status cohort__loop_add_poller(struct cohort__loop *loop,
                                      const struct cohort__poller *poller);
void cohort__loop_remove_poller(struct cohort__loop *loop, const struct cohort__poller *poller);

/* Something for the holder to do. `run` is called once. From then on, the request belongs to the
 * caller again, and `run` may free it or queue it again. */
struct cohort__loop_request {
    struct cohort__batch_queue_node node; /* for the loop */
    void (*run)(struct cohort__loop *loop, struct cohort__loop_request *request);
};

/* Queues REQUEST, and wakes the holder if it is parked. Requests run in the order in which they
 * were queued. Any thread, including the holder. Never waits. */
void cohort__loop_request(struct cohort__loop *loop, struct cohort__loop_request *request);

/* Runs the requests that are queued now and takes in new timers, but does nothing else. Returns
 * true if there were requests. Holder only. */
bool cohort__loop_run_requests(struct cohort__loop *loop);

/* Turns the loop without blocking. Runs requests and the pollers, and timers that are due, and
 * about every 25 microseconds libuv. Returns true if anything was done. Holder only. */
bool cohort__loop_poll(struct cohort__loop *loop);

/* Blocks until something arrives (for a poller, for libuv, a request, a timer, or
 * cohort__loop_wake), and handles it. Returns false if there was nothing, or only ticks. May return
 * early. Holder only. */
bool cohort__loop_park(struct cohort__loop *loop);

/* Makes the current park return soon, or if there is none, the next one. Any thread, and also
 * signal handlers. */
void cohort__loop_wake(struct cohort__loop *loop);

/* For programs that consist only of a loop, and for use before the scheduler starts. Turns libuv
 * until cohort__loop_stop is called, or until nothing is left that could happen. Doesn't call the
 * pollers. If stop was called before run, run returns at once. Holder only. */
void cohort__loop_run(struct cohort__loop *loop);
void cohort__loop_stop(struct cohort__loop *loop);

/* Calls FUNCTION(CONTEXT) in the holder about every NANOSECONDS (rounded up to milliseconds, at
 * least one), until the loop is destroyed. Such a call is a tick. While the loop is only parked and
 * nothing else happens, ticks come up to eight times less often. They don't keep cohort__loop_run
 * from ending. Holder only. */
cohort_status cohort__loop_every(struct cohort__loop *loop, uint64_t nanoseconds,
                                 void (*function)(void *context), void *context);

/* How many callbacks of libuv have done something so far, and how many of these were ticks. Holder
 * only, or when there is none. */
void cohort__loop_num_events(const struct cohort__loop *loop, uint64_t *ret_events,
                             uint64_t *ret_ticks);

/* Makes LOOP the one that cohort_sleep and cohort_run_on_loop use in this process. NULL removes it
 * again: then new sleeps fail with COHORT_ERR_STATE. Call it after the scheduler was started. Call
 * it with NULL after the scheduler has run and before the loop is destroyed: functions that are
 * still to run on the loop run then, and sleeps that are pending end with COHORT_ERR_CANCELLED, as
 * late as when it is destroyed. Until then threads outside may wait for what it completes: so the
 * thread that has called cohort__scheduler_run destroys it. */
void cohort__loop_attach(struct cohort__loop *loop);

/* For transports, in any thread. Whether the calling worker has tasks to resume before it is likely
 * to turn the loop again; and asks it to turn the loop before its next task. */
bool cohort__loop_has_ready_tasks(void);
void cohort__loop_turn_next(void);

/* The hooks with which the scheduler lets its workers turn LOOP. For the timers, see
 * below. */
struct cohort__scheduler_hooks;
void cohort__loop_scheduler_hooks(struct cohort__loop *loop,
                                  struct cohort__scheduler_hooks *ret_hooks);

/* --- timers --- */

/* These are the scheduler's hooks timer and timer_cancel; see there, and struct cohort__timer in
 * task/scheduler.h. Any thread. `expired` runs in the loop's holder. */
void cohort__loop_timer(struct cohort__loop *loop, struct cohort__timer *timer, uint64_t deadline);
void cohort__loop_timer_cancel(struct cohort__loop *loop, struct cohort__timer *timer);

#endif
