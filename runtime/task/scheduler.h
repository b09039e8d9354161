/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_SCHEDULER_H
#define COHORT_RUNTIME_TASK_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/task.h"
#include "runtime/task/work.h"

/* One for each process. It calls up through the hooks only; one worker at a time holds the token of
 * the loop, and only that one polls and parks. */

/* A request to be told when a deadline has passed. Who makes it fills EXPIRED; the rest is the
 * loop's, next and cancel_next for instance for its queues of requests. */
struct cohort__timer {
    void (*expired)(struct cohort__timer *timer);
    uint64_t deadline; /* of cohort__clock_now() */
    struct cohort__timer *next;
    struct cohort__timer *cancel_next;
    void *loop_private;
};

struct cohort__scheduler_hooks {
    void *context;

    /* Progress without blocking; true if something happened. The token's holder calls it, outside
     * of tasks, at the base of a stack of at least options.stack_bytes. It only enqueues. */
    bool (*poll)(void *context);

    /* Blocks until something happens or wake is called. Who calls it is the same. False: nothing
     * that more could follow, so it is called again if there is still no work. */
    bool (*park)(void *context);

    /* Ends the park under way, or, where it has not begun yet, the next one. Any thread; may be
     * called when nobody parks. Never called any more when cohort__scheduler_run has returned. */
    void (*wake)(void *context);

    /* Calls TIMER->expired(TIMER) at the deadline, or later, exactly once; where poll and park are
     * called, or at the end of the loop for all that are left. The timer may be gone when that
     * returns, but for a cancel that goes on at the same time. Any thread. */
    void (*timer)(void *context, struct cohort__timer *timer, uint64_t deadline_ns);

    /* The timer is not needed any more: calls its expired soon, if that has not begun yet. After
     * hooks.timer, at most once; perhaps when it has expired, but the timer lives until both this
     * and expired have returned. May be NULL: then it expires at its deadline. Any thread. */
    void (*timer_cancel)(void *context, struct cohort__timer *timer);
};

struct cohort__scheduler_options {
    unsigned num_workers;
    size_t stack_bytes;   /* of a fiber; at least 32 KiB */
    uint64_t spin_ns;     /* an idle worker polls so long, where that pays (spin.h); */
    unsigned yield_polls; /* then so often with a sched_yield before it; then it blocks */
    bool pin;             /* worker i to the i-th core that this process may use */
};

/* What looks well spent before a worker blocks: some times what a message takes between hosts. */
enum { COHORT__SPIN_NS = 100000 };

/* 1 worker, 256 KiB, COHORT__SPIN_NS, 20 polls more, not pinned. 256 KiB are room for the C library
 * and for a plan's builder, and memory only as far as they are touched. More than 20 polls with a
 * yield changed nothing (docs/performance.md, "Beside MPI": "Sessions"). */
void cohort__scheduler_options_init(struct cohort__scheduler_options *options);

/* Everything that can fail. HOOKS is copied; NULL: a loop without I/O is built in. From now on
 * tasks can be started. COHORT_ERR_STATE: one is up already. */
cohort_status cohort__scheduler_start(const struct cohort__scheduler_options *options,
                                      const struct cohort__scheduler_hooks *hooks);

/* Makes the calling thread worker 0 and starts the others; returns, always on the caller's own
 * stack, when cohort__scheduler_stop was called (also before) and every started task has ended.
 * Then all is as before the start. Failing to start a thread is an error, after everything has
 * ended. */
cohort_status cohort__scheduler_run(void);

/* Any thread, any task. Tasks that are not done are run to their end first. */
void cohort__scheduler_stop(void);

/* Tasks (cohort_async, cohort_then) that were made and have not ended. 0 says that there was a
 * moment during the call at which there were none. Any thread. */
uint64_t cohort__scheduler_live_tasks(void);

unsigned cohort__scheduler_num_workers(void);

/* Brackets what uses things that are taken apart after cohort__scheduler_run: by a thread that is
 * no worker, it does not return in between. False: the scheduler is not up (release has to be
 * called all the same). Any thread, short, without waiting in between. */
bool cohort__scheduler_hold(void);
void cohort__scheduler_release(void);

/* Whether this process is a child that a task has forked: nothing of the runtime is its own. What
 * it returns from its task is its exit status, 0 or 1. */
bool cohort__scheduler_is_forked(void);

/* Whether the caller runs in a task, that is, may wait by suspending. */
bool cohort__scheduler_in_task(void);

#endif
