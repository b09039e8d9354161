/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/container.h"
#include "runtime/task/overflow.h"
#include "runtime/task/range.h"
#include "runtime/task/worker.h"

/* The run function of a resumption. The stack that it leaves holds only a loop, unless it is the
 * resumed one itself, which has waited without leaving. */
static void resume(struct cohort__work *work)
{
    struct cohort__resumption *resumption =
        COHORT_CONTAINER_OF(work, struct cohort__resumption, work);
    struct cohort__worker *worker = resumption->worker;
    resumption->has_run = true;
    if (resumption->fiber == worker->fiber)
        return;
    cohort__fiber_pool_put(&worker->pool, worker->fiber);
    cohort__worker_switch(worker, resumption->fiber);
}

void cohort__resumption_init(struct cohort__resumption *resumption, struct cohort__worker *worker)
{
    resumption->work.run = resume;
    resumption->worker = worker;
    resumption->fiber = worker->fiber;
    resumption->has_run = false;
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
static struct cohort__fiber *take_next_fiber(struct cohort__worker *worker)
{
    struct cohort__work *work = cohort__worker_peek(worker);
    if (!work || work->run != resume || cohort__worker_poll_is_due(worker))
        return NULL;
    worker->tick++;
    return fiber_of(cohort__worker_next_ready(worker));
}

/* The same as the loop does, once, for a worker without another stack: this one is full of frames
 * that wait. A task that is started here and has to wait itself keeps them waiting longer. So it is
 * started only if nothing else is ready. Half of the stack is kept for the newest tasks, which are
 * the most likely ones that those on the stack wait for. */
__attribute__((noinline)) static void run_in_place(struct cohort__worker *worker)
{
    cohort__worker_poll_if_due(worker);
    cohort__worker_take_inbox(worker);
    const char *here = __builtin_frame_address(0);
    const struct cohort__fiber *fiber = worker->fiber;
    bool has_room = here >= (fiber == &worker->own_fiber ? fiber->half : fiber->floor);
    struct cohort__work *work = cohort__worker_next_ready(worker);
    if (!work && here >= fiber->half)
        work = cohort__worker_next(worker);
    else if (!work && has_room)
        work = cohort__deque_pop(&worker->deque);
    if (!work) {
        cohort__worker_take_yielded(worker);
        work = cohort__worker_next_ready(worker);
    }
    if (!work) {
        cohort__worker_idle(worker);
        if (!has_room)
            cohort__worker_search_end(worker); /* what it has found is for another worker */
        return;
    }
    cohort__worker_search_end(worker);
    if (work->run != resume) {
        work->run(work);
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

/* A stack may hold several frames that wait, see run_in_place. So it may be continued for the sake
 * of one that is farther down. */
void cohort__worker_suspend(struct cohort__worker *worker, struct cohort__resumption *resumption)
{
    struct cohort__task_context *context = worker->context;
    struct cohort__error *slot = cohort__error_slot_set(NULL);
    uint32_t burst = worker->burst;
    cohort__overflow_check(worker);
    if (worker->fiber->runners)
        cohort__range_hand_on(worker->fiber->runners);
    worker->context = NULL;
    hold(worker, 1);
    while (!resumption->has_run) {
        struct cohort__fiber *fiber = take_next_fiber(worker);
        if (!fiber)
            fiber = cohort__fiber_pool_take(&worker->pool);
        if (!fiber)
            fiber = cohort__worker_create_stack(worker);
        if (!fiber)
            run_in_place(worker);
        else if (fiber != worker->fiber)
            cohort__worker_switch(worker, fiber);
    }
    if (burst == worker->burst)
        hold(worker, -1);
    worker->context = context;
    cohort__error_slot_set(slot);
}

/* An old task that is postponed has begun a tree of tasks, which needs a stack until its end. If
 * old tasks went on to begin, all of them would have begun before the first one ends. So they
 * pause, for longer the more are postponed. */
void cohort__worker_postpone(struct cohort__worker *worker, struct cohort__resumption *resumption)
{
    worker->num_postponed++;
    cohort__worker_pause_old(worker);
    cohort__worker_suspend(worker, resumption);
    worker->num_postponed--;
}

void cohort__worker_yield(struct cohort__worker *worker)
{
    struct cohort__resumption resumption;
    cohort__resumption_init(&resumption, worker);
    cohort__fifo_push(&worker->yielded, &resumption.work.node);
    cohort__worker_suspend(worker, &resumption);
}
