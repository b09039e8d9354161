/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/worker.h"

#include <stddef.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/task/overflow.h"

enum {
    FAIR_TICKS = 64, /* one look in so many begins with what is looked at last */
    /* A busy worker polls so often, between two tasks. It balances how long a message waits for
     * its locality against polls that find nothing. Not measured. */
    POLL_NANOSECONDS = 20000,
    /* A worker keeps so many stacks. Those that it has not used for a second go back to the system,
     * some after each poll. To give one back takes about 1 us, and to take it again two, so that a
     * program that needs many every now and then loses little. */
    KEPT_STACKS = 64,
    STACKS_A_POLL = 4,
    UNUSED_NANOSECONDS = 1000000000,
};

_Thread_local struct cohort__worker *cohort__worker_self __attribute__((tls_model("initial-exec")));

/* Makes room in a full deque. Drops stale tasks. If more than half of the items are left, doubles
 * the deque. Items that still don't fit go to the ready list, where a push can't fail. */
static void push_full(struct cohort__worker *worker, struct cohort__work *work)
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

static struct cohort__work *steal(struct cohort__worker *worker)
{
    unsigned num_workers = cohort__scheduler.num_workers;
    bool again = num_workers > 1;
    while (again) {
        again = false;
        unsigned first = (unsigned)cohort__random_below(&worker->random, num_workers);
        for (unsigned i = 0; i < num_workers; i++) {
            unsigned index = first + i < num_workers ? first + i : first + i - num_workers;
            struct cohort__worker *victim = cohort__scheduler.workers[index];
            struct cohort__work *work = NULL;
            if (victim != worker)
                work = cohort__deque_steal(&victim->deque, &again);
            if (work)
                return work;
        }
    }
    return NULL;
}

static struct cohort__work *next_ready(struct cohort__worker *worker)
{
    struct cohort__batch_queue_node *node = cohort__fifo_pop(&worker->ready);
    return node ? cohort__work_of(node) : NULL;
}

/* Gives their turn to the places where next_work looks last. Takes the oldest item of the deque.
 * Work that others have sent and tasks that have yielded move to the ready list. */
static struct cohort__work *next_fair(struct cohort__worker *worker)
{
    take_inbox(worker);
    take_yielded(worker);
    take_injected(worker);
    return cohort__deque_steal(&worker->deque, NULL);
}

static struct cohort__work *next_work(struct cohort__worker *worker)
{
    struct cohort__work *work = NULL;
    if (++worker->tick % FAIR_TICKS == 0 && (work = next_fair(worker)))
        return work;
    if ((work = next_ready(worker)) || (work = cohort__deque_pop(&worker->deque)))
        return work;
    take_inbox(worker);
    if ((work = next_ready(worker)))
        return work;
    take_injected(worker);
    if ((work = cohort__deque_pop(&worker->deque)) || (work = steal(worker)))
        return work;
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

bool cohort__worker_poll_is_due(void)
{
    uint64_t last = atomic_load_explicit(&cohort__scheduler.last_poll, memory_order_relaxed);
    return cohort__clock_ticks() - last >= cohort__clock_ticks_of(POLL_NANOSECONDS);
}

/* Calls hooks.poll if it is due and the token is free. Only outside of tasks. */
static void poll_if_due(struct cohort__worker *worker)
{
    if (!cohort__worker_poll_is_due())
        return;
    cohort__worker_trim(worker, STACKS_A_POLL);
    if (!cohort__token_try(worker))
        return;
    cohort__scheduler.hooks.poll(cohort__scheduler.hooks.context);
    atomic_store_explicit(&cohort__scheduler.last_poll, cohort__clock_ticks(),
                          memory_order_relaxed);
    cohort__token_release();
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
        struct cohort__work *work = next_work(worker);
        if (work) {
            cohort__worker_search_end(worker);
            work->run(work);
            poll_if_due(worker);
        } else if (cohort__worker_may_leave()) {
            cohort__worker_search_end(worker);
            if (worker->fiber == &worker->own_fiber)
                return;
            go_home(worker);
        } else {
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

cohort_status cohort__worker_reserve_stack(struct cohort__worker *worker)
{
    if (worker->pool)
        return COHORT_OK;
    struct cohort__fiber *fiber = NULL;
    cohort_status status =
        cohort__fiber_create(&fiber, cohort__scheduler.options.stack_bytes, loop_on_fiber, worker);
    if (status == COHORT_OK)
        put_into_pool(worker, fiber);
    return status;
}

/* The run function of a resumption, called by the loop of a stack. */
static void resume(struct cohort__work *work)
{
    struct cohort__resumption *resumption =
        COHORT_CONTAINER_OF(work, struct cohort__resumption, work);
    struct cohort__worker *worker = resumption->worker;
    put_into_pool(worker, worker->fiber);
    switch_to(worker, resumption->fiber);
}

void cohort__resumption_init(struct cohort__resumption *resumption, struct cohort__worker *worker)
{
    resumption->work.run = resume;
    resumption->worker = worker;
    resumption->fiber = worker->fiber;
}

/* The fiber that the loop would resume next, removed from the ready list. A direct switch to it
 * saves the switch to a stack with a loop. NULL: other work is next, or the loop has to poll or to
 * look elsewhere. */
static struct cohort__fiber *take_next_fiber(struct cohort__worker *worker)
{
    if (!worker->ready.first || (worker->tick + 1) % FAIR_TICKS == 0)
        return NULL;
    struct cohort__work *work = cohort__work_of(worker->ready.first);
    if (work->run != resume || cohort__worker_poll_is_due())
        return NULL;
    worker->tick++;
    cohort__fifo_pop(&worker->ready);
    return COHORT_CONTAINER_OF(work, struct cohort__resumption, work)->fiber;
}

void cohort__worker_suspend(struct cohort__worker *worker)
{
    struct cohort__task_context *context = worker->context;
    struct cohort__error *slot = cohort__error_slot_set(NULL);
    struct cohort__fiber *fiber = take_next_fiber(worker);
    if (!fiber)
        fiber = take_from_pool(worker);
    cohort__overflow_check(worker);
    worker->context = NULL;
    switch_to(worker, fiber);
    worker->context = context;
    cohort__error_slot_set(slot);
}

void cohort__worker_yield(struct cohort__worker *worker, struct cohort__resumption *resumption)
{
    cohort__fifo_push(&worker->yielded, &resumption->work.node);
    cohort__worker_suspend(worker);
}
