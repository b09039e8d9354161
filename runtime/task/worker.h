/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_WORKER_H
#define COHORT_RUNTIME_TASK_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/batch_queue.h"
#include "runtime/base/random.h"
#include "runtime/task/deque.h"
#include "runtime/task/fiber.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/spin.h"
#include "runtime/task/task.h"

/* The inside of the task layer. A worker is a thread; on each of its stacks there is a loop that
 * finds work and calls it. A task that has to wait leaves its stack as it is, with the loop's frame
 * at the base; the worker takes another stack, whose loop goes on. When the task may go on, the
 * loop that finds out puts its own stack, on which there is nothing but the loop, into the pool,
 * and switches. So stacks are all alike, the thread's own one included, and nothing about the loop
 * may be kept in its frame across a call. */

struct cohort__pinning;

/* Where a worker is in falling asleep, see idle.c. */
enum cohort__sleep_state {
    COHORT__AWAKE,
    COHORT__AWAKE_TO_SEARCH, /* woken, and counted in num_searching already */
    COHORT__SLEEPING,        /* on the futex */
    COHORT__PARKED,          /* in hooks.park, with the token */
};

/* Works in order; one thread. */
struct cohort__fifo {
    struct cohort__batch_queue_node *first;
    struct cohort__batch_queue_node *last;
};

struct cohort__worker {
    /* Its own thread's only. */
    struct cohort__fiber *fiber;          /* on which it runs */
    struct cohort__task_context *context; /* of the task that runs; NULL outside */
    struct cohort__fifo ready;            /* fibers to go on with, and other work */
    struct cohort__fifo yielded;          /* the same, but after everything else */
    struct cohort__fiber *pool;           /* stacks with nothing but a loop on them */
    unsigned index;
    unsigned tick;
    bool is_searching; /* and counted in num_searching */
    struct cohort__random random;
    struct cohort__spin spin;
    struct cohort__fiber own_fiber; /* the thread's own stack */
    pthread_t thread;

    /* Written by its own thread, read by others. */
    _Atomic uint64_t num_spawned __attribute__((aligned(64)));
    _Atomic uint64_t num_finished;
    struct cohort__deque deque __attribute__((aligned(64)));

    /* Written by others. */
    struct cohort__batch_queue inbox __attribute__((aligned(64)));
    _Atomic uint32_t sleep_state; /* enum cohort__sleep_state; the futex */
};

struct cohort__scheduler {
    struct cohort__scheduler_options options;
    struct cohort__scheduler_hooks hooks;
    struct cohort__worker **workers;
    unsigned num_workers;
    struct cohort__pinning *pinning;

    atomic_bool is_up;
    bool is_forked; /* this is a child, with none of the other threads, of the process that started
                     */
    atomic_bool is_stopping;
    _Atomic uint32_t may_go;      /* futex: the threads wait for run */
    _Atomic uint64_t num_foreign; /* threads outside that are using the scheduler right now */
    _Atomic uint64_t num_foreign_spawned;
    _Atomic unsigned num_stop_checks;

    struct cohort__batch_queue injected
        __attribute__((aligned(64)));                    /* work from outside, for anybody */
    _Atomic unsigned token __attribute__((aligned(64))); /* holder's index + 1, or 0 */
    _Atomic uint64_t last_poll;                          /* in ticks */
    _Atomic int num_searching __attribute__((aligned(64)));
    _Atomic int num_sleeping; /* may be -1 for a moment */
};

extern struct cohort__scheduler cohort__scheduler;

/* The calling thread's; NULL outside. initial-exec: see error.c. */
extern _Thread_local struct cohort__worker *cohort__worker_self
    __attribute__((tls_model("initial-exec")));

/* --- worker.c --- */

/* Runs until the scheduler has stopped; returns on the thread's own stack. */
void cohort__worker_run(struct cohort__worker *worker);

/* Makes WORK, which is counted or not, available here, and to thieves. Own thread only. */
void cohort__worker_push(struct cohort__worker *worker, struct cohort__work *work);

/* Hands WORK to WORKER and nobody else; any thread. */
void cohort__worker_send(struct cohort__worker *worker, struct cohort__work *work);

/* A stack to go on with, so that suspend can't fail; COHORT_ERR_NO_MEMORY. */
cohort_status cohort__worker_reserve_stack(struct cohort__worker *worker);

/* What is to be sent or queued so that a suspended stack goes on. In the frame that suspends. */
struct cohort__resumption {
    struct cohort__work work;
    struct cohort__worker *worker;
    struct cohort__fiber *fiber;
};

/* For the stack that runs now. */
void cohort__resumption_init(struct cohort__resumption *resumption, struct cohort__worker *worker);

/* Leaves this stack until its resumption runs. After reserve_stack. */
void cohort__worker_suspend(struct cohort__worker *worker);

/* Suspends, to go on after all other work of this worker. After reserve_stack. */
void cohort__worker_yield(struct cohort__worker *worker, struct cohort__resumption *resumption);

/* Whether there is something for WORKER to do, here or to be stolen. */
bool cohort__worker_has_work(struct cohort__worker *worker);

/* Calls hooks.poll if it is due and the token is free. Outside of tasks. */
void cohort__worker_poll_if_due(struct cohort__worker *worker);
bool cohort__worker_poll_is_due(void);

/* Whether stop was called and all tasks have ended. */
bool cohort__worker_may_leave(void);

/* --- idle.c --- */

/* Nothing to do was found: searches, polls, sleeps; returns when there may be something. */
void cohort__worker_idle(struct cohort__worker *worker);

/* A worker that was idle found something: others may have to look on. */
void cohort__worker_search_end(struct cohort__worker *worker);

/* Work was made available for anybody (by a sequentially consistent operation): wakes a worker,
 * unless one is looking for work. */
void cohort__idle_wake_one(void);

/* Wakes WORKER if it sleeps. Likewise. */
void cohort__idle_wake(struct cohort__worker *worker);
void cohort__idle_wake_all(void);

bool cohort__token_try(struct cohort__worker *worker);
void cohort__token_release(void);

/* --- scheduler.c --- */

/* Brackets every use of the scheduler by a thread that is no worker: the scheduler does not go away
 * in between. False: it is not up (leave has to be called all the same). */
bool cohort__foreign_enter(void);
void cohort__foreign_leave(void);

/* Ends a child that a task has forked, and that has returned from it with STATUS: all else that it
 * could do here (other tasks, messages, the end of the job) is its parent's. */
_Noreturn void cohort__scheduler_end_child(cohort_status status);

/* Queues WORK; COUNT: and counts it as a task. False: the scheduler is not up. Any thread. */
bool cohort__scheduler_submit(struct cohort__work *work, bool count);

/* Counts a task that will be submitted later. Likewise. */
bool cohort__scheduler_count_task(void);

static inline void cohort__fifo_push(struct cohort__fifo *fifo,
                                     struct cohort__batch_queue_node *node)
{
    node->next = NULL;
    if (fifo->first)
        fifo->last->next = node;
    else
        fifo->first = node;
    fifo->last = node;
}

static inline struct cohort__batch_queue_node *cohort__fifo_pop(struct cohort__fifo *fifo)
{
    struct cohort__batch_queue_node *node = fifo->first;
    if (node)
        fifo->first = node->next;
    return node;
}

static inline struct cohort__work *cohort__work_of(struct cohort__batch_queue_node *node)
{
    return (struct cohort__work *)node; /* its first member */
}

/* Adds one to COUNTER, which only the calling thread writes. */
static inline void cohort__count(_Atomic uint64_t *counter)
{
    uint64_t count = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, count + 1, memory_order_release);
}

#endif
