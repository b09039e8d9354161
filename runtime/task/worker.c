/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/worker.h"

#include <stddef.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/log.h"
#include "runtime/task/overflow.h"
#include "runtime/task/range.h"

enum {
    MOST_STOLEN = 128, /* at once */
    FAIR_TICKS = 64,   /* one look in so many begins with what is looked at last */
    /* While there are tasks that have not been started for so long, every second task is the
     * oldest. Otherwise tasks of which nobody waits for the end would pile up below newer ones. */
    OLD_NANOSECONDS = 1000000,
    /* A busy worker polls so often, between two tasks. It balances how long a message waits for
     * its locality against polls that find nothing. Not measured. */
    POLL_NANOSECONDS = 20000,
    /* An await that would run another task by a plain call does not do so if the last poll is so
     * long ago, so that tasks that only await each other in this way don't keep messages and timers
     * waiting. */
    OVERDUE_NANOSECONDS = 100000,
    /* A worker keeps so many stacks. Those that it has not used for a second go back to the system,
     * some after each poll. To give one back takes about 2 us, and to take it again two, so that a
     * program that needs many every now and then loses little. */
    KEPT_STACKS = 64,
    STACKS_A_POLL = 2,
    UNUSED_NANOSECONDS = 1000000000,
};

_Thread_local struct cohort__worker *cohort__worker_self __attribute__((tls_model("initial-exec")));

/* What is rare is not inlined, so that what is frequent needs no frame for it. */

/* Makes room in a full deque. Drops stale tasks. If more than half of the items are left, doubles
 * the deque. Items that still don't fit go to the ready list, where a push can't fail. */
__attribute__((noinline)) static void push_full(struct cohort__worker *worker,
                                                struct cohort__work *work)
{
    size_t capacity = cohort__deque_length(&worker->deque);
    size_t count = 0;
    struct cohort__batch_queue_node *oldest = NULL;
    struct cohort__work *item;
    while ((item = cohort__deque_pop(&worker->deque))) {
        if (cohort__task_is_stale(item)) {
            cohort__task_drop(item);
            continue;
        }
        item->node.next = oldest;
        oldest = &item->node;
        count++;
    }
    if (2 * count > capacity)
        cohort__deque_grow(&worker->deque);
    while (oldest) {
        item = cohort__work_of(oldest);
        oldest = oldest->next;
        if (!cohort__deque_push(&worker->deque, item))
            cohort__fifo_push(&worker->ready, &item->node);
    }
    if (!cohort__deque_push(&worker->deque, work))
        cohort__fifo_push(&worker->ready, &work->node);
}

void cohort__worker_push(struct cohort__worker *worker, struct cohort__work *work)
{
    if (!cohort__deque_push(&worker->deque, work))
        push_full(worker, work);
    if (cohort__scheduler.num_workers > 1)
        cohort__idle_wake_one();
}

void cohort__worker_send(struct cohort__worker *worker, struct cohort__work *work)
{
    if (worker == cohort__worker_self) {
        cohort__fifo_push(&worker->ready, &work->node);
        return;
    }
    /* As soon as WORK is pushed, the task that it resumes may end, and then the whole program. But
     * the scheduler can't end before this thread is through, since the thread is a worker or has
     * called foreign_enter. */
    cohort__batch_queue_push(&worker->inbox, &work->node);
    cohort__idle_wake(worker);
}

static void take_inbox(struct cohort__worker *worker)
{
    struct cohort__batch_queue_node *node = cohort__batch_queue_take(&worker->inbox);
    while (node) {
        struct cohort__batch_queue_node *next = node->next;
        cohort__fifo_push(&worker->ready, node);
        node = next;
    }
}

static void take_yielded(struct cohort__worker *worker)
{
    struct cohort__batch_queue_node *node;
    while ((node = cohort__fifo_pop(&worker->yielded)))
        cohort__fifo_push(&worker->ready, node);
}

static void take_injected(struct cohort__worker *worker)
{
    struct cohort__batch_queue_node *node = cohort__batch_queue_take(&cohort__scheduler.injected);
    while (node) {
        struct cohort__batch_queue_node *next = node->next;
        cohort__worker_push(worker, cohort__work_of(node));
        node = next;
    }
}

/* Takes WORKER's share of what is in the deque of VICTIM. Returns one of it, and puts the others
 * into WORKER's own deque. */
static struct cohort__work *steal_share(struct cohort__worker *worker,
                                        struct cohort__worker *victim, bool *ret_again)
{
    if (victim == worker || cohort__deque_is_empty(&victim->deque))
        return NULL;
    uint32_t share = cohort__spread_share(worker, victim);
    if (share == 0 && cohort__spread_makes_way(worker, victim))
        return NULL;
    struct cohort__work *first = cohort__deque_steal(&victim->deque, ret_again);
    for (uint32_t i = 1; first && i < share && i < MOST_STOLEN; i++) {
        struct cohort__work *more = cohort__deque_steal(&victim->deque, NULL);
        if (!more)
            break;
        cohort__worker_push(worker, more);
    }
    return first;
}

static struct cohort__work *steal(struct cohort__worker *worker)
{
    unsigned num_workers = cohort__scheduler.num_workers;
    bool again = num_workers > 1;
    while (again) {
        again = false;
        unsigned first = (unsigned)cohort__random_below(&worker->random, num_workers);
        for (unsigned i = 0; i < num_workers; i++) {
            unsigned index = first + i < num_workers ? first + i : first + i - num_workers;
            struct cohort__work *work =
                steal_share(worker, cohort__scheduler.workers[index], &again);
            if (work)
                return work;
        }
    }
    return NULL;
}

/* Whether WORKER may start the tasks of its own deque; otherwise others are about to come for it.
 */
static bool may_start(struct cohort__worker *worker)
{
    if (cohort__scheduler.num_workers == 1 ||
        atomic_load_explicit(&worker->num_held, memory_order_relaxed) == 0 ||
        !cohort__idle_is_any() || cohort__deque_is_empty(&worker->deque))
        return true;
    return cohort__spread_share(worker, worker) > 0 || !cohort__spread_makes_way(worker, worker);
}

/* Only tasks are left to others: any other work suspends nothing, and ends soon. */
static struct cohort__work *next_own(struct cohort__worker *worker)
{
    bool may_start_any = may_start(worker);
    struct cohort__work *work = cohort__deque_pop(&worker->deque);
    if (!work || may_start_any || work->run != cohort__task_run)
        return work;
    cohort__worker_push(worker, work);
    return NULL;
}

static struct cohort__work *oldest_own(struct cohort__worker *worker)
{
    if (!may_start(worker))
        return NULL;
    struct cohort__work *work = cohort__deque_steal(&worker->deque, NULL);
    worker->has_begun_old = work != NULL;
    return work;
}

/* Whether old tasks have to wait for those that are postponed, see cohort__worker_postpone. */
static bool is_old_pause(const struct cohort__worker *worker)
{
    return worker->num_postponed > 0 && cohort__clock_ticks() < worker->old_pause_end;
}

static struct cohort__work *next_ready(struct cohort__worker *worker)
{
    struct cohort__batch_queue_node *node = cohort__fifo_pop(&worker->ready);
    if (!node)
        return NULL;
    worker->was_ready = true;
    worker->has_begun_old = false;
    return cohort__work_of(node);
}

/* Gives their turn to the places where next_work looks last. Takes the oldest item of the deque.
 * Tasks that have yielded move to the ready list. */
static struct cohort__work *next_fair(struct cohort__worker *worker)
{
    take_yielded(worker);
    take_injected(worker);
    return is_old_pause(worker) ? NULL : oldest_own(worker);
}

/* Whether the next look takes the oldest task. Tasks that go on and old ones take turns, so that
 * each waits for one task at most. */
static bool is_turn_of_oldest(const struct cohort__worker *worker)
{
    return atomic_load_explicit(&worker->deque.top, memory_order_relaxed) < worker->old_end &&
           (worker->was_ready || !worker->ready.first) && !is_old_pause(worker);
}

/* What is in the deque now is old when the time has passed, unless it has been taken. */
static void look_for_old(struct cohort__worker *worker)
{
    uint64_t now = cohort__clock_ticks();
    if (now < worker->old_at)
        return;
    int64_t end = atomic_load_explicit(&worker->deque.bottom, memory_order_relaxed);
    worker->old_end = worker->seen_end < end ? worker->seen_end : end;
    worker->seen_end = end;
    worker->old_at = now + cohort__clock_ticks_of(OLD_NANOSECONDS);
}

static struct cohort__work *next_work(struct cohort__worker *worker)
{
    struct cohort__work *work = NULL;
    take_inbox(worker);
    worker->has_begun_old = false;
    if (++worker->tick % FAIR_TICKS == 0)
        work = next_fair(worker);
    else if (is_turn_of_oldest(worker))
        work = oldest_own(worker);
    worker->was_ready = worker->is_making_way = false;
    if (work || (work = next_ready(worker)) || (work = next_own(worker)))
        return work;
    take_injected(worker);
    if ((work = next_own(worker)) || (work = steal(worker)))
        return work;
    if (worker->is_making_way)
        cohort__spread_wait();
    take_yielded(worker);
    return next_ready(worker);
}

bool cohort__worker_has_work(struct cohort__worker *worker)
{
    if (worker->ready.first || worker->yielded.first ||
        !cohort__batch_queue_is_empty(&worker->inbox) ||
        !cohort__batch_queue_is_empty(&cohort__scheduler.injected))
        return true;
    for (unsigned i = 0; i < cohort__scheduler.num_workers; i++)
        if (!cohort__deque_is_empty(&cohort__scheduler.workers[i]->deque))
            return true;
    return false;
}

bool cohort__worker_may_leave(void)
{
    if (!atomic_load(&cohort__scheduler.is_stopping))
        return false;
    /* This orders the workers that get here. If two workers have ended the last two tasks, the
     * second one to get here sees the count of the first. */
    atomic_fetch_add(&cohort__scheduler.num_stop_checks, 1);
    return cohort__scheduler_live_tasks() == 0;
}

bool cohort__worker_poll_is_due(const struct cohort__worker *worker)
{
    return cohort__clock_ticks() >= worker->poll_at;
}

bool cohort__worker_poll_is_overdue(const struct cohort__worker *worker)
{
    return cohort__clock_ticks() >=
           worker->poll_at + cohort__clock_ticks_of(OVERDUE_NANOSECONDS - POLL_NANOSECONDS);
}

void cohort__worker_polled(struct cohort__worker *worker)
{
    worker->poll_at = cohort__clock_ticks() + cohort__clock_ticks_of(POLL_NANOSECONDS);
}

/* Sees to what has to be done from time to time while there is work. Calls hooks.poll if the token
 * is free. Only outside of tasks. */
static void poll_if_due(struct cohort__worker *worker)
{
    if (!cohort__worker_poll_is_due(worker))
        return;
    look_for_old(worker);
    take_injected(worker);
    cohort__worker_trim(worker, STACKS_A_POLL);
    if (cohort__token_try(worker)) {
        cohort__scheduler.hooks.poll(cohort__scheduler.hooks.context);
        cohort__token_release();
    }
    cohort__worker_polled(worker);
}

/* --- stacks --- */

static void put_into_pool(struct cohort__worker *worker, struct cohort__fiber *fiber)
{
    fiber->next = worker->pool;
    worker->pool = fiber;
    worker->use.num++;
}

/* The pool is not empty. */
static struct cohort__fiber *take_from_pool(struct cohort__worker *worker)
{
    struct cohort__fiber *fiber = worker->pool;
    worker->pool = fiber->next;
    if (--worker->use.num < worker->use.least)
        worker->use.least = worker->use.num;
    return fiber;
}

/* Finds out how many stacks were in the pool all the time since the last look. */
static void look_at_pool(struct cohort__worker *worker)
{
    struct cohort__pool_use *use = &worker->use;
    uint64_t now = cohort__clock_ticks();
    if (now < use->look_at)
        return;
    if (use->look_at > 0)
        use->num_surplus = use->least > KEPT_STACKS ? use->least - KEPT_STACKS : 0;
    use->least = use->num;
    use->look_at = now + cohort__clock_ticks_of(UNUSED_NANOSECONDS);
}

bool cohort__worker_has_surplus(const struct cohort__worker *worker)
{
    return worker->use.num > KEPT_STACKS + 1; /* the thread's own stack is one of them */
}

bool cohort__worker_must_trim(const struct cohort__worker *worker)
{
    return cohort__worker_has_surplus(worker) &&
           (worker->use.num_surplus > 0 || cohort__clock_ticks() >= worker->use.look_at);
}

void cohort__worker_trim(struct cohort__worker *worker, size_t most)
{
    struct cohort__pool_use *use = &worker->use;
    look_at_pool(worker);
    for (; most > 0 && use->num_surplus > 0 && cohort__worker_has_surplus(worker); most--) {
        struct cohort__fiber *fiber = take_from_pool(worker);
        if (fiber == &worker->own_fiber) {
            fiber = take_from_pool(worker);
            put_into_pool(worker, &worker->own_fiber);
        }
        cohort__fiber_destroy(fiber);
        use->num_surplus--;
    }
}

static void switch_to(struct cohort__worker *worker, struct cohort__fiber *fiber)
{
    struct cohort__fiber *from = worker->fiber;
    worker->fiber = fiber;
    cohort__fiber_switch(from, fiber);
}

/* For the stop. Only the loop on the thread's own stack returns, so switches to that stack. It is
 * in the pool, since no task is left. */
static void go_home(struct cohort__worker *worker)
{
    struct cohort__fiber **link = &worker->pool;
    while (*link != &worker->own_fiber)
        link = &(*link)->next;
    *link = worker->own_fiber.next;
    worker->use.num--;
    put_into_pool(worker, worker->fiber);
    switch_to(worker, &worker->own_fiber);
}

static void loop(struct cohort__worker *worker)
{
    for (;;) {
        poll_if_due(worker); /* also when a task has just suspended */
        struct cohort__work *work = next_work(worker);
        if (work) {
            cohort__worker_search_end(worker);
            work->run(work);
        } else if (cohort__worker_may_leave()) {
            cohort__worker_search_end(worker);
            if (worker->fiber == &worker->own_fiber)
                return;
            go_home(worker);
        } else if (!worker->is_making_way) {
            cohort__worker_idle(worker);
        }
    }
}

static void loop_on_fiber(void *worker)
{
    loop(worker);
}

void cohort__worker_run(struct cohort__worker *worker)
{
    void *handler_stack = cohort__overflow_thread_begin();
    worker->fiber = &worker->own_fiber;
    cohort__spin_init(&worker->spin, cohort__scheduler.options.spin_ns);
    loop(worker);
    cohort__idle_wake_all(); /* the other workers can leave as well */
    while (worker->pool) {
        struct cohort__fiber *fiber = worker->pool;
        worker->pool = fiber->next;
        cohort__fiber_destroy(fiber);
    }
    cohort__overflow_thread_end(handler_stack);
}

/* A new stack, which will hold a loop. NULL: there is no memory for one. */
__attribute__((noinline)) static struct cohort__fiber *create_stack(struct cohort__worker *worker)
{
    struct cohort__fiber *fiber = NULL;
    if (cohort__fiber_create(&fiber, cohort__scheduler.options.stack_bytes, loop_on_fiber,
                             worker) == COHORT_OK)
        return fiber;
    static atomic_bool is_said;
    if (!atomic_exchange(&is_said, true))
        cohort__log(COHORT__LOG_WARN,
                    "scheduler: worker %u: %s; tasks that have to wait run others on the stack "
                    "that they have (this is said once)",
                    worker->index, cohort_error_message());
    return NULL;
}

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
    put_into_pool(worker, worker->fiber);
    switch_to(worker, resumption->fiber);
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
    if (!worker->ready.first || (worker->tick + 1) % FAIR_TICKS == 0 || is_turn_of_oldest(worker))
        return NULL;
    struct cohort__work *work = cohort__work_of(worker->ready.first);
    if (work->run != resume || cohort__worker_poll_is_due(worker))
        return NULL;
    worker->tick++;
    return fiber_of(next_ready(worker));
}

/* The same as the loop does, once, for a worker without another stack: this one is full of frames
 * that wait. A task that is started here and has to wait itself keeps them waiting longer. So it is
 * started only if nothing else is ready. Half of the stack is kept for the newest tasks, which are
 * the most likely ones that those on the stack wait for. */
__attribute__((noinline)) static void run_in_place(struct cohort__worker *worker)
{
    poll_if_due(worker);
    take_inbox(worker);
    const char *here = __builtin_frame_address(0);
    const struct cohort__fiber *fiber = worker->fiber;
    bool has_room = here >= (fiber == &worker->own_fiber ? fiber->half : fiber->floor);
    struct cohort__work *work = next_ready(worker);
    if (!work && here >= fiber->half)
        work = next_work(worker);
    else if (!work && has_room)
        work = cohort__deque_pop(&worker->deque);
    if (!work) {
        take_yielded(worker);
        work = next_ready(worker);
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
        switch_to(worker, next);
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
            fiber = worker->pool ? take_from_pool(worker) : create_stack(worker);
        if (!fiber)
            run_in_place(worker);
        else if (fiber != worker->fiber)
            switch_to(worker, fiber);
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
    if (worker->has_begun_old)
        worker->old_pause_end =
            cohort__clock_ticks() + worker->num_postponed * cohort__clock_ticks_of(OLD_NANOSECONDS);
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
