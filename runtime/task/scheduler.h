/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_SCHEDULER_H
#define COHORT_RUNTIME_TASK_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/task.h"
#include "runtime/base/batch_queue.h"

/* There is one scheduler in each process. It calls the layers above only through the hooks. One
 * worker at a time holds the token of the event loop, and only that worker polls and parks. If
 * there is a progress thread, it holds the token from cohort__scheduler_run on. */

/* A request to be told when a deadline has passed. The caller sets expired. The other fields belong
 * to the loop; next and cancel_next, for instance, are for its queues of requests. All that it
 * needs is in here, so that no timer is early for want of memory. */
struct cohort__timer {
    void (*expired)(struct cohort__timer *timer);
    uint64_t deadline; /* a time of cohort__clock_now() */
    struct cohort__timer *next;
    struct cohort__timer *previous;
    struct cohort__timer *child;
    struct cohort__timer *cancel_next;
    void *loop_private;
};

struct cohort__scheduler_hooks {
    void *context;

    /* Makes progress without blocking. Returns true if something happened. It is called by the
     * holder of the token, outside of tasks, on a stack of at least 256 KiB on which no task runs.
     * It may only enqueue work, not run it. The holder may be a thread that is no worker. */
    bool (*poll)(void *context);

    /* Looks only for what other processes write into memory that they share with this one, which
     * takes much less than a poll. It is called as poll is. False: there is no such memory. NULL:
     * likewise. */
    bool (*look)(void *context);

    /* Whether something is likely to happen within a moment, so that the holder looks on for longer
     * than options.spin_ns. It is called by the holder after a poll in which nothing happened.
     * NULL: never. */
    bool (*expects)(void *context);

    /* Blocks until something happens or wake is called. It is called as poll is. False means that
     * nothing happened after which more could follow soon. Then it is called again if there is
     * still no work. */
    bool (*park)(void *context);

    /* Ends the current park, or if there is none, the next one. Any thread. May be called when no
     * worker parks. Never called after cohort__scheduler_run has returned. */
    void (*wake)(void *context);

    /* Calls TIMER->expired(TIMER) at the deadline or later, exactly once. This call comes from poll
     * or park, or for all timers that are left, from the end of the loop. The timer may no longer
     * exist when expired returns, except if a cancel of it runs at the same time. Any thread. */
    void (*timer)(void *context, struct cohort__timer *timer, uint64_t deadline_ns);

    /* Cancels a timer that is not needed any more: its expired is called soon, if that has not
     * begun yet. To be called after hooks.timer, at most once for each timer. The timer may have
     * expired already, but it has to exist until both this function and expired have returned. This
     * hook may be NULL: then the timer expires at its deadline. Any thread. */
    void (*timer_cancel)(void *context, struct cohort__timer *timer);
};

struct cohort__scheduler_options {
    unsigned num_workers;
    bool fewer_will_do;   /* if the system has no more threads, go on with those that there are */
    size_t stack_bytes;   /* the stack of a fiber; at least 32 KiB */
    uint64_t spin_ns;     /* how long an idle worker polls, if that pays (see spin.h); */
    unsigned yield_polls; /* then how many times it polls after a sched_yield; then it blocks */
    bool pin;             /* bind worker i to the i-th core that this process may use */
    bool tasks_move;      /* unless a task says otherwise */
    bool progress_thread; /* one more thread turns the event loop, see progress.c */
    unsigned blocking_threads; /* at most so many run functions of cohort_blocking at a time */
};

/* How long a worker spins before it blocks: some times the latency of a message between hosts. */
enum { COHORT__SPIN_NS = 100000 };

/* 1 worker, 256 KiB, COHORT__SPIN_NS, 20 polls more, not pinned, COHORT__BLOCKING_THREADS. 256 KiB
 * are room for the C library and for a plan's builder, and memory only as far as they are touched.
 * More than 20 polls with a yield changed nothing (docs/measurements.md, "Sessions"). */
void cohort__scheduler_options_init(struct cohort__scheduler_options *options);

/* Does all that can fail. HOOKS is copied. If it is NULL, a built-in loop without I/O is used. From
 * now on tasks can be started. COHORT_ERR_STATE if a scheduler is up already. */
cohort_status cohort__scheduler_start(const struct cohort__scheduler_options *options,
                                      const struct cohort__scheduler_hooks *hooks);

/* Makes the calling thread worker 0 and lets the others begin. Returns, always on the caller's own
 * stack, when cohort__scheduler_stop was called (perhaps before this call) and every started task
 * has ended. Then all is as it was before the start. COHORT_ERR_STATE before the start or in a
 * task. COHORT_ERR_SYSTEM or COHORT_ERR_NO_MEMORY if the calling thread can't become a worker; then
 * everything has ended, too. */
cohort_status cohort__scheduler_run(void);

/* Any thread, any task. Tasks that have not ended are run to their end first. */
void cohort__scheduler_stop(void);

/* From now on only the scheduler's own threads start tasks. Otherwise those of others could keep it
 * from its end for ever. They may go on with all else, since tasks may wait for them. Any thread.
 */
void cohort__scheduler_close(void);

/* Whether that is so for the calling thread. */
bool cohort__scheduler_is_closed(void);

/* Whether the calling thread may start tasks now; if not, cohort__scheduler_refuse says why. */
bool cohort__scheduler_may_start(void);

/* The number of tasks (of cohort_async, cohort_then) that were created and have not ended. 0 means
 * that there was a moment during the call at which there were none. Any thread. */
uint64_t cohort__scheduler_live_tasks(void);

/* Completes when there is a moment at which the calling task is the only one that has not ended.
 * Only one such future at a time. */
cohort_future *cohort__scheduler_when_alone(void);

/* A number that changes whenever a task was started or has ended, or there was an event of the
 * ledger. Only while there is a scheduler. Any thread. */
uint64_t cohort__scheduler_moved(void);

/* How many tasks were created and have ended, since the start of the scheduler, or of the last one
 * that there was. Threads of the scheduler, and the one that has run it. */
void cohort__scheduler_num_tasks(uint64_t *ret_started, uint64_t *ret_ended);

unsigned cohort__scheduler_num_workers(void);

/* The calling thread's worker; NULL in a thread that is no worker. For initial-exec see error.c. */
extern _Thread_local struct cohort__worker *cohort__worker_self
    __attribute__((tls_model("initial-exec")));

/* A pair around every use of the scheduler by a thread that is no worker. The scheduler does not
 * end in between. False: it is not up; leave has to be called nevertheless. */
bool cohort__foreign_enter(void);
void cohort__foreign_leave(void);

/* A pair around code that uses objects which are destroyed after cohort__scheduler_run. If a thread
 * that is no worker holds the scheduler, cohort__scheduler_run doesn't return before the release.
 * False: the scheduler is not up; release has to be called nevertheless. Any thread. Hold only for
 * a short time, and don't wait in between. */
static inline bool cohort__scheduler_hold(void)
{
    return cohort__worker_self || cohort__foreign_enter();
}

static inline void cohort__scheduler_release(void)
{
    if (!cohort__worker_self)
        cohort__foreign_leave();
}

/* A pair around the time in which a part of the runtime may complete what threads outside wait for:
 * the scheduler, which does so itself from start to the end of run, and a loop until it is
 * destroyed. While there is one, such threads wait; see cohort__wait_check. The end: only the
 * thread that has called run. */
void cohort__scheduler_completer_begin(void);
void cohort__scheduler_completer_end(void);

/* Whether there is a completer, and it is not the calling thread that is to end it. Any thread. */
bool cohort__scheduler_completes(void);

/* Has TIMER->expired called at DEADLINE or later, see hooks.timer. False: the scheduler is not up,
 * and that is not called. Any thread. */
bool cohort__scheduler_timer(struct cohort__timer *timer, uint64_t deadline);

/* TIMER, for which that was true, is not needed any more, see hooks.timer_cancel. Does nothing
 * where the scheduler is not up any more. */
void cohort__scheduler_timer_cancel(struct cohort__timer *timer);

/* COHORT_ERR_STATE, with a message: FUNCTION was called while the scheduler is not up, or in a
 * thread to which it is closed. */
cohort_status cohort__scheduler_refuse(const char *function);

/* Whether a worker is idle. May be wrong for a moment. */
bool cohort__scheduler_has_idle(void);

/* Whether the calling worker has tasks to resume, besides the one that runs. */
bool cohort__scheduler_has_ready(void);

/* Whether there is work for the calling worker, its own or another one's. Nothing for other
 * threads, since what they make ready wakes a worker. */
bool cohort__scheduler_has_work(void);

/* The calling worker gives the event loop a turn before its next work. Nothing for other threads.
 */
void cohort__scheduler_poll_next(void);

/* Whether the caller runs in a task, so that it may wait by suspending. */
bool cohort__scheduler_in_task(void);

/* --- works and chores --- */

/* A function for a worker to run once, without future or allocation, and not counted as a task. The
 * owner embeds this struct and sets RUN. RUN may free the work or post it again. RUN is called at
 * the base of some worker's stack, outside of tasks, so it must not await anything. */
struct cohort__work {
    struct cohort__batch_queue_node node; /* for the queue */
    void (*run)(struct cohort__work *work);
};

/* Any thread; never suspends. WORK must not be posted already. The runtime has to be up, that is,
 * between cohort__scheduler_start and the return of cohort__scheduler_run. Works run in any
 * order. */
void cohort__work_post(struct cohort__work *work);

/* The same for a chore: a work that calls no code of the user's, and ends soon. It may run on the
 * progress thread, too, if there is one, so not even tasks that compute for long keep it
 * waiting. */
void cohort__chore_post(struct cohort__work *work);

/* So many bytes are copied, packed or reduced in the turn in which that is found to be necessary.
 * More is a chore, so that the turn stays short: the thread that receives from the network may be
 * the one that runs it. To copy a page takes less than to hand it to a worker. Not measured by
 * itself. */
enum { COHORT__ON_THE_SPOT_BYTES = 4096 };

/* --- plain_loop.c --- */

/* The hooks of an event loop without I/O, for a scheduler that was given no hooks. It has timers
 * and can wait for them. There is only one such loop. */
const struct cohort__scheduler_hooks *cohort__plain_loop_hooks(void);

/* To be called when the scheduler has ended. Calls expired for the timers that are left. */
void cohort__plain_loop_fini(void);

#endif
