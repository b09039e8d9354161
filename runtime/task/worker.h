/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_WORKER_H
#define COHORT_RUNTIME_TASK_WORKER_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/batch_queue.h"
#include "runtime/base/bounds.h"
#include "runtime/base/random.h"
#include "runtime/task/deque.h"
#include "runtime/task/fiber.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/spin.h"
#include "runtime/task/task.h"

/* The internals of the task layer. A worker is a thread. On each of its stacks there is a loop that
 * finds work and calls it. When a task has to wait, its stack stays as it is, with the frame of a
 * loop at the base. The worker switches to another stack, whose loop goes on. When the task may go
 * on, its resumption is found by that loop or another one. That loop puts its own stack, which
 * holds only the loop, into the pool, and switches to the task's stack. So all stacks are alike,
 * and the loop must not keep any state in its frame across a call. Four kinds are special: the
 * thread's own one, on which no task runs that may move; those of tasks that have asked for a size
 * (worker.c); the one on which the event loop is turned; and the reserve, where the worker goes on
 * while there is no memory for another one (both resumption.c). */

/* One look for work in so many begins with what is looked at last; while the lanes are used, each
 * is special. A power of two. */
enum { COHORT__FAIR_PICKS = 64, COHORT__USUAL_PICKS = COHORT__FAIR_PICKS - 1 };

enum { COHORT__NUM_PRIORITIES = 3 }; /* of enum cohort_task_priority */

/* Whether a worker is asleep, and how; see idle.c. */
enum cohort__sleep_state {
    COHORT__AWAKE,
    COHORT__AWAKE_TO_SEARCH, /* woken, and counted in num_searching already */
    COHORT__SLEEPING,        /* waits on the futex */
    COHORT__PARKED,          /* waits in hooks.park, with the token */
};

/* For tasks that ask for a stack of their own size, see worker.c. All zero: empty. */
enum {
    COHORT__MIN_STACK_EXPONENT = 15,
    COHORT__MAX_STACK_EXPONENT = 30,
    COHORT__NUM_STACK_EXPONENTS = COHORT__MAX_STACK_EXPONENT - COHORT__MIN_STACK_EXPONENT + 1,
};
struct cohort__sized {
    struct cohort__fiber_pool pools[COHORT__NUM_STACK_EXPONENTS];
    size_t num;                /* stacks in all pools */
    struct cohort__task *task; /* the next one, for the stack to which the worker switches */
};

/* A first-in, first-out list of works. One thread. */
struct cohort__fifo {
    struct cohort__batch_queue_node *first;
    struct cohort__batch_queue_node *last;
};

/* A first-in, first-out list of tasks for any worker; see queues.c. */
struct cohort__lane {
    struct cohort__fifo works; /* under lanes_lock */
    _Atomic unsigned num;      /* of them */
};

struct cohort__worker {
    /* Used only by its own thread. */
    struct cohort__fiber *fiber; /* the stack on which it runs now */
    bool lends; /* a stack of its own may have moved, so that others may return some */
    struct cohort__resumption *left;      /* of the stack that a switch is leaving; NULL: pinned */
    struct cohort__task_context *context; /* of the running task; NULL outside of tasks */
    struct cohort__fifo ready;            /* fibers to be resumed, and other work */
    struct cohort__fifo yielded;          /* the same, to be run after everything else */
    struct cohort__fifo
        lanes[COHORT__NUM_PRIORITIES]; /* tasks that are only for it, see queues.c */
    unsigned usual_picks;              /* COHORT__USUAL_PICKS; 0: it knows that lanes are used */
    unsigned lane_turns; /* a bit for each priority: whether its own lane had the last turn */
    struct cohort__fiber_pool pool;
    struct cohort__sized sized;
    struct cohort__fiber *loop_fiber; /* see resumption.c */
    bool (*loop_call)(void *context); /* what is called on it: a hook */
    bool loop_result;                 /* of the call */
    struct cohort__fiber *loop_from;  /* where it goes on after that */
    const cohort_future *awaited;     /* of look_on, see idle.c */
    struct cohort__fiber *reserve;    /* see resumption.c */
    int64_t mark; /* what is in the deque from here on was spawned since the newest task */
                  /* on the reserve has begun; 0: none has */
    struct cohort__resumption *waiting; /* on the reserve; the topmost, see below */
    unsigned index;
    unsigned num_picks; /* so often it has looked for its next task */
    uint64_t poll_at;   /* when to poll next, in cycles of the clock */
    bool is_ending;     /* a task has returned, and its worker looks for work after that */
    struct cohort__work *follower; /* what it has made available, see queues.c */
    bool was_ready;                /* the last work was taken from the ready list */
    int64_t old_end;               /* the tasks of the deque before this place are old */
    int64_t seen_end;              /* the end of the deque when that was last looked at */
    uint64_t old_at;               /* when to look again, in cycles of the clock */
    uint64_t old_pause_end; /* when old tasks may begin again, if some are postponed, in cycles */
    uint32_t num_postponed; /* tasks here that wait for one that they would have run in place */
    bool has_begun_old;     /* the last work was taken since it is old */
    bool is_making_way;     /* found only work that it leaves to others */
    uint64_t way_limit;     /* until when it does so at most, in cycles; 0: it has not begun */
    uint64_t way_end;       /* until when, if nothing more is taken */
    size_t way_length;      /* of the deque that it leaves to others */
    uint64_t way_after;     /* when it may make way again, in cycles */
    uint32_t burst;         /* which one num_held is about */
    struct cohort__random random;
    struct cohort__spin spin;
    struct cohort__worker_line *line;    /* of the ledger */
    struct cohort__inputs_table *inputs; /* see inputs.h; NULL: there was no memory */
    struct cohort__fiber own_fiber;      /* the thread's own stack */
    pthread_t thread;
    uint64_t former_slice; /* of the thread, see cohort__core_set_slice */

    /* Written by its own thread, read by others. */
    _Atomic uint64_t num_spawned __attribute__((aligned(64)));
    _Atomic uint64_t num_finished;
    atomic_bool has_left;      /* nothing may be given to it alone */
    _Atomic uint32_t num_held; /* pinned tasks that have suspended here since it last slept */
    _Atomic int core;          /* where it ran when it last looked; -1: unknown; see core.c */
    atomic_bool is_searching;  /* and counted in num_searching if there are several workers */
    struct cohort__deque deque __attribute__((aligned(64)));

    /* Written by others. */
    struct cohort__batch_queue returned; /* stacks for the pool, see resumption.c */
    struct cohort__batch_queue inbox __attribute__((aligned(64)));
    _Atomic uint32_t sleep_state; /* an enum cohort__sleep_state; also the futex */
};

/* The holder of the token that is no worker. */
enum { COHORT__TOKEN_OF_PROGRESS = COHORT__MAX_WORKERS + 1 };

/* The thread that turns the event loop instead of the workers; see progress.c. */
struct cohort__progress {
    struct cohort__spin spin;         /* used only by the thread itself */
    struct cohort__worker_line *line; /* of the ledger; NULL: there is no such thread */
    pthread_t thread;
    atomic_bool is_ending;
    _Atomic int core;             /* as a worker's */
    _Atomic uint32_t sleep_state; /* COHORT__AWAKE or COHORT__PARKED */
};

struct cohort__scheduler {
    struct cohort__scheduler_options options;
    struct cohort__scheduler_hooks hooks;
    struct cohort__worker **workers;
    unsigned num_workers;
    unsigned num_threads; /* workers, and the progress thread if there is one */
    struct cohort__pinning *pinning;

    atomic_bool tasks_move; /* the option; read by threads that don't hold the scheduler */
    atomic_bool is_up;
    atomic_bool is_closed; /* to tasks from outside, see cohort__scheduler_close */
    atomic_bool is_stopping;
    _Atomic uint32_t may_go;         /* futex on which the threads wait for run */
    _Atomic uint64_t num_foreign;    /* threads that are no workers and use the scheduler now */
    _Atomic unsigned num_completers; /* see cohort__scheduler_completer_begin */
    _Atomic uint64_t num_foreign_spawned;
    _Atomic unsigned num_stop_checks;
    cohort_future *_Atomic alone; /* of cohort__scheduler_when_alone, while that waits */

    struct cohort__batch_queue injected
        __attribute__((aligned(64)));                    /* work from outside, for any worker */
    _Atomic unsigned token __attribute__((aligned(64))); /* the holder's index + 1, or 0: free */
    _Atomic int num_searching __attribute__((aligned(64)));
    _Atomic int num_sleeping; /* may be -1 for a moment */

    /* See queues.c. */
    atomic_bool uses_lanes; /* since a first task has come to one */
    pthread_mutex_t lanes_lock;
    struct cohort__lane lanes[COHORT__NUM_PRIORITIES]; /* that of normal priority is never used */

    /* Only if there is a progress thread. */
    _Atomic unsigned num_chores; /* in the list */
    pthread_mutex_t chores_lock;
    struct cohort__fifo chores;
    struct cohort__progress progress;
};

extern struct cohort__scheduler cohort__scheduler;

/* From now on WORKER, the calling one, runs the task of CONTEXT. Who reads the ledger learns the
 * name of one that never pauses from this. */
static inline void cohort__worker_enter(struct cohort__worker *worker,
                                        struct cohort__task_context *context)
{
    worker->context = context;
    atomic_store_explicit(&worker->line->function, (uintptr_t)context->shown, memory_order_relaxed);
}

/* The same: no task any more. */
static inline void cohort__worker_exit(struct cohort__worker *worker)
{
    worker->context = NULL;
    atomic_store_explicit(&worker->line->function, 0, memory_order_relaxed);
}

/* --- worker.c --- */

/* Runs WORKER until the scheduler has stopped. Returns on the thread's own stack. */
void cohort__worker_run(struct cohort__worker *worker);

/* A stack of the pool, or a new one, which holds a loop of WORKER. NULL: there is no memory for
 * one; the log says so once. */
struct cohort__fiber *cohort__worker_take_stack(struct cohort__worker *worker);

/* Leaves the stack on which WORKER runs, and goes on with FIBER. Returns when there is a switch
 * back. If the stack may move, returns another worker then, perhaps: the one that runs on it now. A
 * frame must not use WORKER any more. It may keep its fiber, whose field worker is the same. */
struct cohort__worker *cohort__worker_switch(struct cohort__worker *worker,
                                             struct cohort__fiber *fiber);

/* To be called first on a stack that begins. Returns it. */
const struct cohort__fiber *cohort__worker_arrive(void);

/* Sees to what has to be done from time to time while there is work. Calls hooks.poll if the token
 * is free. Only outside of tasks. */
void cohort__worker_poll_if_due(struct cohort__worker *worker);

/* Whether WORKER has not polled for so long that it should before the next task, or before anything
 * else. */
bool cohort__worker_poll_is_due(const struct cohort__worker *worker);
bool cohort__worker_poll_is_overdue(const struct cohort__worker *worker);

/* To be called when WORKER has polled, or has found that another one does. */
void cohort__worker_polled(struct cohort__worker *worker);

/* Whether stop was called and all tasks have ended. */
bool cohort__worker_may_leave(void);

/* Tells who waits for that, if there is only one task that has not ended. Returns whether it did.
 * To be called before a worker sleeps. */
bool cohort__scheduler_tell_alone(void);

/* Calls TASK, which was claimed, on a stack of the size that it asks for. If there is no memory for
 * one, completes it with COHORT_ERR_NO_MEMORY. Only outside of tasks. */
void cohort__worker_run_sized(struct cohort__worker *worker, struct cohort__task *task);

/* FIBER has a size of its own, and is free. */
void cohort__sized_put(struct cohort__worker *worker, struct cohort__fiber *fiber);

/* As for a pool, see fiber.h. */
void cohort__sized_trim(struct cohort__sized *sized, size_t most);
bool cohort__sized_must_trim(const struct cohort__sized *sized);

/* Whether there are free stacks, all of which will have to be given back. */
static inline bool cohort__sized_has_any(const struct cohort__sized *sized)
{
    return sized->num > 0;
}

/* --- queues.c --- */

/* Makes WORK available to this worker and to thieves. Doesn't count it as a task. Only from
 * WORKER's own thread. */
void cohort__worker_push(struct cohort__worker *worker, struct cohort__work *work);

/* The same, but if a task is ending, thieves may come only when WORKER has looked for its next
 * work: mostly that is WORK. */
void cohort__worker_follow(struct cohort__worker *worker, struct cohort__work *work);

/* Gives WORK to WORKER, and no other worker can take it. Any thread. */
void cohort__worker_send(struct cohort__worker *worker, struct cohort__work *work);

/* What WORKER is to run next. NULL: there is nothing for it, or it leaves what there is to
 * others. */
struct cohort__work *cohort__worker_next(struct cohort__worker *worker);

/* The same, on the reserve. What has not begun is taken from the newest on, where there is ROOM. */
enum cohort__room {
    COHORT__ROOM_FOR_NONE,
    COHORT__ROOM_FOR_NEW, /* only for what is in the deque from the mark on */
    COHORT__ROOM_FOR_ANY,
};
struct cohort__work *cohort__worker_next_in_place(struct cohort__worker *worker,
                                                  enum cohort__room room);

/* Takes what is next, if it is the first of the ready list and has RUN. NULL: it is not. */
struct cohort__work *cohort__worker_next_if(struct cohort__worker *worker,
                                            void (*run)(struct cohort__work *work));

/* Moves what comes from outside to the deque. */
void cohort__worker_take_injected(struct cohort__worker *worker);

/* Whether there is work for WORKER, in its own queues or to be stolen. */
bool cohort__worker_has_work(struct cohort__worker *worker);

/* What is in the deque now will be old when the time has passed, unless it has been taken. */
void cohort__worker_look_for_old(struct cohort__worker *worker);

/* To be called when a task is postponed (resumption.c) and counted in num_postponed. If it was
 * begun since it was old, old tasks pause. */
void cohort__worker_pause_old(struct cohort__worker *worker);

/* Counts and queues TASK, which has a priority or is for worker NUM_OF_WORKER - 1, if that is not
 * 0. False: the scheduler is not up, or has no such worker, or it is stopping and that worker has
 * left. Any thread. */
bool cohort__lanes_submit(struct cohort__task *task, unsigned num_of_worker);

/* WORK is a task that WORKER, the calling one, has just taken, and that may run anywhere. It will
 * most likely take it next. */
void cohort__worker_put_back(struct cohort__worker *worker, struct cohort__work *work);

/* From the first task on that comes to a lane, WORKER, the calling one, looks at the lanes each
 * time. Which it knows at the latest when it polls, or is idle. */
static inline void cohort__lanes_note(struct cohort__worker *worker)
{
    if (atomic_load_explicit(&cohort__scheduler.uses_lanes, memory_order_relaxed))
        worker->usual_picks = 0;
}

/* Whether there are tasks in the lanes of the locality, and also in those of WORKER. */
bool cohort__lanes_have_shared(void);
bool cohort__lanes_have_any(const struct cohort__worker *worker);

/* How many of the tasks in the deque of VICTIM, which have not started, are for WORKER, if all idle
 * workers get their share. VICTIM may be WORKER itself. */
uint32_t cohort__spread_share(const struct cohort__worker *worker, struct cohort__worker *victim);

/* Whether WORKER, whose share has come to an end, leaves the tasks of VICTIM to the workers that
 * are about to come. */
bool cohort__spread_makes_way(struct cohort__worker *worker, struct cohort__worker *victim);

/* To be called when WORKER is about to sleep: what it holds has been spread. */
void cohort__spread_settle(struct cohort__worker *worker);

/* --- resumption.c --- */

/* How a suspension of a stack that may move stands. Its worker is not the only one that may resume
 * it, so nobody must do that before it has left the stack. */
enum cohort__resumption_state {
    COHORT__RESUMPTION_PINNED, /* for good: only its worker resumes it, by its inbox */
    COHORT__RESUMPTION_LEAVING,
    COHORT__RESUMPTION_LEFT,
    COHORT__RESUMPTION_NOTIFIED, /* what the task waits for is there */
};

/* The work that resumes a suspended stack when it is notified or queued. It is in the frame that
 * suspends. */
struct cohort__resumption {
    struct cohort__work work;
    struct cohort__worker *worker; /* that has suspended it */
    struct cohort__fiber *fiber;
    atomic_uchar state; /* an enum cohort__resumption_state */
    bool has_run;
    struct cohort__resumption *below; /* on the reserve: the next one down */
};

/* Prepares RESUMPTION for the stack that runs now. It is pinned. */
void cohort__resumption_init(struct cohort__resumption *resumption, struct cohort__worker *worker);

/* Lets any worker resume the stack, if all of the tasks on it may move. To be called before anybody
 * else knows RESUMPTION. */
void cohort__resumption_unpin(struct cohort__resumption *resumption);

/* To be called once when the stack is to be resumed. RESUMPTION may be gone when this returns. Any
 * thread; one that is no worker has called foreign_enter. */
void cohort__resumption_notify(struct cohort__resumption *resumption);

/* Leaves this stack until RESUMPTION, of this stack, has run. On the reserve, if there is no memory
 * for another stack, runs on this one what is ready meanwhile. WHAT and CALLER are noted
 * (wait.h). Only in a task. The worker of the stack may be another one afterwards, and another
 * thread: the caller must not use a thread-local variable before and after this (fiber.h). */
void cohort__worker_suspend(struct cohort__worker *worker, struct cohort__resumption *resumption,
                            uintptr_t what, const void *caller);

/* The same, if what the task waits for is a task that has not started. RESUMPTION is pinned. */
void cohort__worker_postpone(struct cohort__worker *worker, struct cohort__resumption *resumption,
                             uintptr_t what, const void *caller);

/* Suspends, to be resumed after all other work of this worker. Such a task does not move. CALLER:
 * as above. */
void cohort__worker_yield(struct cohort__worker *worker, const void *caller);

/* For a new WORKER: its reserve, and the stack for the event loop. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__worker_create_stacks(struct cohort__worker *worker);
void cohort__worker_destroy_stacks(struct cohort__worker *worker);

/* To be called when WORKER has found nothing to do, and there is no room for NUM_OPEN tasks: if
 * tasks on its reserve are kept from going on, the log says so once. */
void cohort__worker_say_what_waits(const struct cohort__worker *worker, size_t num_open);

/* Calls CALL with the context of the hooks, on the stack that WORKER has for that. The caller has
 * the token. */
bool cohort__worker_call_loop(struct cohort__worker *worker, bool (*call)(void *context));

/* Moves the stacks that other workers have given back to the pool. */
void cohort__worker_take_returned(struct cohort__worker *worker);

/* To be called by whoever WORKER has just switched to, for the stack that it has left. */
void cohort__resumption_publish(struct cohort__worker *worker);

/* --- core.c --- */

/* Notes in CORE, the calling thread's, on which core it runs now. */
void cohort__core_note(_Atomic int *core);

/* To be called when the thread of CORE, a worker or the progress thread, has slept. If it runs on
 * the core of another one that is awake, and there is a core without one, moves there; then returns
 * true. Notes its core. */
bool cohort__core_leave_shared(_Atomic int *core);

/* Asks the kernel for slices of NANOSECONDS for the calling thread: so long it computes at a time
 * where others want the core, too. What it creates inherits that. Returns what they were, 0: that
 * is not known. */
uint64_t cohort__core_set_slice(uint64_t nanoseconds);

/* Lets other threads of the same session and control group run on the calling thread's core, and
 * once in COHORT__CORE_YIELDS times all others. NUM_YIELDS is the calling thread's. */
enum { COHORT__CORE_YIELDS = 16384 };
void cohort__core_nap(void);
static inline void cohort__core_yield(unsigned *num_yields)
{
    if (++*num_yields % COHORT__CORE_YIELDS == 0)
        cohort__core_nap();
    else
        sched_yield();
}

/* The cores that this process may use. */
struct cohort__pinning;

/* COHORT_ERR_SYSTEM: hwloc knows nothing about this machine. */
cohort_status cohort__pinning_create(struct cohort__pinning **ret_pinning);

/* NULL is fine. */
void cohort__pinning_destroy(struct cohort__pinning *pinning);

/* Binds the calling thread to core INDEX modulo the number of cores. Several threads may call it at
 * the same time. */
cohort_status cohort__pinning_apply(struct cohort__pinning *pinning, unsigned index);

unsigned cohort__pinning_num_cores(const struct cohort__pinning *pinning);

/* --- idle.c --- */

/* To be called when there is no work. Searches, polls and sleeps. Returns when there may be
 * work. */
void cohort__worker_idle(struct cohort__worker *worker);

/* To be called before the running task suspends for FUTURE. If there is no other work, and FUTURE
 * is of a collective, looks for a moment whether other processes end that. True: it is complete. */
bool cohort__worker_look_on(struct cohort__worker *worker, const cohort_future *future);

/* To be called when a worker that was idle has work or leaves. Wakes another worker if one is
 * needed. */
void cohort__worker_search_end(struct cohort__worker *worker);

/* To be called after work was made available for any worker, by a sequentially consistent
 * operation. Wakes a worker, unless one is searching for work. */
void cohort__idle_wake_one(void);

/* Wakes up to MOST sleepers, which will look for work. */
void cohort__idle_wake_some(unsigned most);

/* Whether there are idle workers. May be wrong for a moment. */
bool cohort__idle_is_any(void);

/* Whether WORKER sleeps, is about to wake up, or looks for work. Any thread. */
bool cohort__idle_is(const struct cohort__worker *worker);

/* Wakes WORKER if it sleeps. To be called after work was made available for it, likewise. */
void cohort__idle_wake(struct cohort__worker *worker);
void cohort__idle_wake_all(void);

/* To be called when SPIN, the calling thread's, says that it is not to look again at once. Returns
 * whether to do so now that others have had their turn on its core; otherwise it is to sleep. */
bool cohort__idle_yield(struct cohort__spin *spin);

bool cohort__token_try(struct cohort__worker *worker);
void cohort__token_release(void);

/* --- progress.c --- */

/* Starts the thread. It waits for may_go. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__progress_start(void);

/* To be called when the workers have ended, and may_go is set. */
void cohort__progress_end(void);

/* Whether the calling thread is this one, which must never wait for what tasks do. */
bool cohort__progress_is_self(void);

static inline bool cohort__progress_is_on(void)
{
    return cohort__scheduler.num_threads > cohort__scheduler.num_workers;
}

/* Whether there are chores. A sequentially consistent look. */
static inline bool cohort__chores_are_any(void)
{
    return atomic_load(&cohort__scheduler.num_chores) > 0;
}

/* Takes one. NULL: there is none. */
struct cohort__work *cohort__chore_take_any(void);
static inline struct cohort__work *cohort__chore_take(void)
{
    return cohort__chores_are_any() ? cohort__chore_take_any() : NULL;
}

/* --- scheduler.c --- */

/* As cohort__foreign_enter, to start a task. False: that is refused (cohort__scheduler_refuse),
 * likewise. */
bool cohort__foreign_enter_to_start(void);

/* Queues WORK. If COUNT is true, counts it as a task. False: the scheduler is not up, or takes no
 * task of this thread. Any thread. */
bool cohort__scheduler_submit(struct cohort__work *work, bool count);

/* Counts a task that will be submitted later. False, and any thread: likewise. */
bool cohort__scheduler_count_task(void);

/* The same as cohort__worker_switch. Others may take the stack that is left, unless it is the
 * reserve. Only outside of tasks. */
static inline void cohort__worker_leave(struct cohort__worker *worker, struct cohort__fiber *fiber)
{
    struct cohort__fiber *left = worker->fiber;
    if (left->exponent)
        cohort__sized_put(worker, left);
    else if (left != worker->reserve)
        cohort__fiber_pool_put(&worker->pool, left);
    cohort__worker_switch(worker, fiber);
}

/* To be called when the deque of WORKER may have become shorter at its bottom. */
static inline void cohort__worker_lower_mark(struct cohort__worker *worker)
{
    int64_t bottom = atomic_load_explicit(&worker->deque.bottom, memory_order_relaxed);
    if (bottom < worker->mark)
        worker->mark = bottom;
}

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
