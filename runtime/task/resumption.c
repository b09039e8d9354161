/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/task/overflow.h"
#include "runtime/task/range.h"
#include "runtime/task/worker.h"

enum { LOOP_STACK_BYTES = 256 * 1024 };

/* A stack stays on its worker, unless all of the tasks on it may move. Then it can be resumed by
 * any worker, and perhaps before the one that suspends it has left it. So whoever that worker
 * switches to says that the stack was left, and makes the resumption available if what the task
 * waits for has come meanwhile. tests/model/movable.pml is about this.
 *
 * A worker that resumes a stack of another one gives that one a stack of its pool. Otherwise, where
 * tasks go mostly one way, one pool would grow, and the other worker would have to create stacks.
 *
 * A stack stays, too, while it is a thread's own one, while a task on it waits without leaving it,
 * since there is no memory for another stack, for a yield, and for an await of a task that has not
 * started. */

static void return_stack(struct cohort__worker *worker, struct cohort__worker *home)
{
    if (!worker->pool.first)
        return; /* the next time */
    struct cohort__fiber *fiber = cohort__fiber_pool_take(&worker->pool);
    cohort__batch_queue_push(&home->returned, &fiber->returned);
}

void cohort__worker_take_returned(struct cohort__worker *worker)
{
    if (cohort__batch_queue_is_empty(&worker->returned))
        return; /* mostly */
    struct cohort__batch_queue_node *node = cohort__batch_queue_take(&worker->returned);
    while (node) {
        struct cohort__fiber *fiber = COHORT_CONTAINER_OF(node, struct cohort__fiber, returned);
        node = node->next;
        cohort__fiber_pool_put(&worker->pool, fiber);
    }
}

/* The run function of a resumption. The stack that it leaves holds only a loop, unless it is the
 * resumed one itself, which has waited without leaving. */
static void resume(struct cohort__work *work)
{
    struct cohort__resumption *resumption =
        COHORT_CONTAINER_OF(work, struct cohort__resumption, work);
    struct cohort__worker *worker = cohort__worker_self;
    resumption->has_run = true;
    if (resumption->fiber == worker->fiber)
        return;
    if (resumption->worker != worker && !resumption->fiber->exponent)
        return_stack(worker, resumption->worker);
    cohort__worker_leave(worker, resumption->fiber);
}

void cohort__resumption_init(struct cohort__resumption *resumption, struct cohort__worker *worker)
{
    resumption->work.run = resume;
    resumption->worker = worker;
    resumption->fiber = worker->fiber;
    atomic_init(&resumption->state, COHORT__RESUMPTION_PINNED);
    resumption->has_run = false;
}

void cohort__resumption_unpin(struct cohort__resumption *resumption)
{
    const struct cohort__fiber *fiber = resumption->fiber;
    if (resumption->worker->context->may_move && fiber->num_in_place == 0 &&
        !cohort__fiber_is_threads_own(fiber))
        atomic_init(&resumption->state, COHORT__RESUMPTION_LEAVING);
}

static bool is_pinned(const struct cohort__resumption *resumption)
{
    return atomic_load_explicit(&resumption->state, memory_order_relaxed) ==
           COHORT__RESUMPTION_PINNED;
}

void cohort__resumption_notify(struct cohort__resumption *resumption)
{
    /* Once it is pinned it stays so: its worker relies on that. */
    unsigned char state = atomic_load_explicit(&resumption->state, memory_order_relaxed);
    while (state != COHORT__RESUMPTION_PINNED &&
           !atomic_compare_exchange_weak(&resumption->state, &state, COHORT__RESUMPTION_NOTIFIED))
        ;
    if (state == COHORT__RESUMPTION_PINNED)
        cohort__worker_send(resumption->worker, &resumption->work);
    else if (state == COHORT__RESUMPTION_LEFT)
        cohort__scheduler_submit(&resumption->work, false);
}

void cohort__resumption_publish(struct cohort__worker *worker)
{
    struct cohort__resumption *left = worker->left;
    unsigned char leaving = COHORT__RESUMPTION_LEAVING;
    worker->left = NULL;
    if (!atomic_compare_exchange_strong(&left->state, &leaving, COHORT__RESUMPTION_LEFT))
        cohort__worker_push(worker, &left->work);
}

/* The stack is not left after all. False: what the task waits for has come meanwhile. */
static bool pin(struct cohort__resumption *resumption)
{
    unsigned char leaving = COHORT__RESUMPTION_LEAVING;
    return is_pinned(resumption) ||
           atomic_compare_exchange_strong(&resumption->state, &leaving, COHORT__RESUMPTION_PINNED);
}

/* WORK is a resumption that was taken from a queue. Returns the stack to continue. */
static struct cohort__fiber *fiber_of(struct cohort__work *work)
{
    struct cohort__resumption *resumption =
        COHORT_CONTAINER_OF(work, struct cohort__resumption, work);
    resumption->has_run = true;
    return resumption->fiber;
}

/* The fiber that the loop would resume next, removed from the ready list. A direct switch to it
 * saves the switch to a stack with a loop. NULL: other work is next, or the loop has to poll or to
 * look elsewhere. */
static struct cohort__fiber *take_next_fiber(struct cohort__worker *worker, uint64_t now)
{
    struct cohort__work *work = cohort__worker_peek(worker);
    if (!work || work->run != resume || now >= worker->poll_at)
        return NULL;
    worker->tick++;
    return fiber_of(cohort__worker_next_ready(worker));
}

/* The event loop takes more of a stack than most tasks, and a task that suspends keeps what was
 * ever touched of its stack. And where the stack is full of frames that wait, less may be left. So
 * the loop is turned on a stack of its own. Nothing is started on it, and nothing waits. */
static void turn_loop(void *arg)
{
    struct cohort__worker *worker = arg;
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    for (;;) {
        worker->loop_result = worker->loop_call(hooks->context);
        cohort__worker_switch(worker, worker->loop_from);
    }
}

cohort_status cohort__worker_create_loop_fiber(struct cohort__worker *worker)
{
    return cohort__fiber_create(&worker->loop_fiber, LOOP_STACK_BYTES, turn_loop, worker);
}

static bool call_on_loop_fiber(struct cohort__worker *worker, bool (*call)(void *context))
{
    worker->loop_call = call;
    worker->loop_from = worker->fiber;
    cohort__worker_switch(worker, worker->loop_fiber);
    return worker->loop_result;
}

bool cohort__worker_call_poll(struct cohort__worker *worker)
{
    return call_on_loop_fiber(worker, cohort__scheduler.hooks.poll);
}

bool cohort__worker_call_park(struct cohort__worker *worker)
{
    return call_on_loop_fiber(worker, cohort__scheduler.hooks.park);
}

/* Tasks that are in the deque now have not been spawned by the newest one on this stack. */
static void note_bottom(const struct cohort__worker *worker, int64_t most)
{
    int64_t bottom = atomic_load_explicit(&worker->deque.bottom, memory_order_relaxed);
    worker->fiber->bottom = bottom < most ? bottom : most;
}

/* WORK was taken while others wait on this stack. */
static void call_in_place(struct cohort__worker *worker, struct cohort__work *work)
{
    struct cohort__fiber *fiber = worker->fiber;
    int64_t bottom = fiber->bottom;
    note_bottom(worker, INT64_MAX);
    fiber->num_in_place++;
    work->run(work);
    fiber->num_in_place--;
    note_bottom(worker, bottom);
    worker->num_ended_in_place++;
}

/* What may be started at HERE, if anything. What is left of the stack below its half is kept for
 * tasks that the newest one on it has spawned, and waits for. */
static struct cohort__work *next_in_place(struct cohort__worker *worker, const char *here)
{
    const struct cohort__fiber *fiber = worker->fiber;
    if (here >= fiber->half)
        return cohort__worker_next_in_place(worker);
    int64_t bottom = atomic_load_explicit(&worker->deque.bottom, memory_order_relaxed);
    return here >= fiber->end && bottom > fiber->bottom ? cohort__deque_pop(&worker->deque) : NULL;
}

/* The same as the loop does, once, for a worker without another stack: this one is full of frames
 * that wait. A task that is started here and has to wait itself keeps them waiting longer. So it is
 * started only if nothing else is ready, and the newest first, which are the most likely ones that
 * those on the stack wait for. */
static void run_in_place(struct cohort__worker *worker)
{
    cohort__worker_poll_if_due(worker);
    cohort__worker_take_inbox(worker);
    const char *here = __builtin_frame_address(0);
    struct cohort__work *work = cohort__worker_next_ready(worker);
    if (!work)
        work = next_in_place(worker, here);
    if (!work) {
        cohort__worker_take_yielded(worker);
        work = cohort__worker_next_ready(worker);
    }
    if (!work) {
        cohort__worker_idle(worker);
        cohort__worker_search_end(worker); /* what it has found may be for another worker */
        return;
    }
    cohort__worker_search_end(worker);
    if (work->run != resume) {
        call_in_place(worker, work);
        return;
    }
    struct cohort__fiber *next = fiber_of(work);
    if (next != worker->fiber)
        cohort__worker_switch(worker, next);
}

/* Counts a task that has suspended here, or that goes on. */
static void hold(struct cohort__worker *worker, int count)
{
    uint32_t num = atomic_load_explicit(&worker->num_held, memory_order_relaxed);
    atomic_store_explicit(&worker->num_held, num + (uint32_t)count, memory_order_relaxed);
}

/* A stack to go on with. NULL: there is no memory for one. */
static struct cohort__fiber *next_fiber(struct cohort__worker *worker, uint64_t now)
{
    struct cohort__fiber *fiber = take_next_fiber(worker, now);
    return fiber ? fiber : cohort__worker_take_stack(worker);
}

__attribute__((noinline)) static void wait_in_place(struct cohort__worker *worker,
                                                    struct cohort__resumption *resumption)
{
    if (pin(resumption))
        run_in_place(worker);
    else
        resumption->has_run = true;
}

/* The thread may be another one now. */
COHORT__IN_THREAD_OF_NOW static void go_on(struct cohort__worker *worker,
                                           struct cohort__task_context *context,
                                           struct cohort__error *slot)
{
    worker->context = context;
    cohort__error_slot_set(slot);
}

/* A stack may hold several frames that wait, see run_in_place. So it may be continued for the sake
 * of one that is farther down. */
void cohort__worker_suspend(struct cohort__worker *worker, struct cohort__resumption *resumption,
                            const cohort_future *future, const void *caller)
{
    struct cohort__task_context *context = worker->context;
    uint64_t now = cohort__clock_ticks();
    cohort__recorder_add(&worker->recorder, now, future, caller);
    struct cohort__error *slot = cohort__error_slot_set(NULL);
    uint32_t burst = worker->burst;
    bool is_held = is_pinned(resumption); /* see spread.c */
    cohort__overflow_check(worker);
    if (worker->fiber->runners)
        cohort__range_hand_on(worker->fiber->runners);
    worker->context = NULL;
    if (is_held)
        hold(worker, 1);
    while (!resumption->has_run) {
        struct cohort__fiber *fiber = next_fiber(worker, now);
        if (!fiber) {
            wait_in_place(worker, resumption);
            now = cohort__clock_ticks();
        } else if (fiber != worker->fiber) {
            if (!is_held && !is_pinned(resumption)) {
                worker->left = resumption;
                worker->lends = true;
            }
            worker = cohort__worker_switch(worker, fiber);
        }
    }
    if (is_held && burst == worker->burst)
        hold(worker, -1);
    if (worker->fiber->num_in_place > 0)
        note_bottom(worker, worker->fiber->bottom);
    go_on(worker, context, slot);
}

/* An old task that is postponed has begun a tree of tasks, which needs a stack until its end. If
 * old tasks went on to begin, all of them would have begun before the first one ends. So they
 * pause, for longer the more are postponed. */
void cohort__worker_postpone(struct cohort__worker *worker, struct cohort__resumption *resumption,
                             const cohort_future *future, const void *caller)
{
    worker->num_postponed++;
    cohort__worker_pause_old(worker);
    cohort__worker_suspend(worker, resumption, future, caller);
    worker->num_postponed--;
}

void cohort__worker_yield(struct cohort__worker *worker, const void *caller)
{
    struct cohort__resumption resumption;
    cohort__resumption_init(&resumption, worker);
    cohort__fifo_push(&worker->yielded, &resumption.work.node);
    cohort__worker_suspend(worker, &resumption, NULL, caller);
}
