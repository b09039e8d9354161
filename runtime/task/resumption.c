/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/log.h"
#include "runtime/base/trace.h"
#include "runtime/task/crash.h"
#include "runtime/task/held_mutexes.h"
#include "runtime/task/range.h"
#include "runtime/task/wait.h"
#include "runtime/task/worker.h"

enum { LOOP_STACK_BYTES = 256 * 1024 };

/* A stack stays on its worker, unless all of the tasks on it may move. Then it can be resumed by
 * any worker, and perhaps before the one that suspends it has left it. So whoever that worker
 * switches to says that the stack was left, and makes the resumption available if what the task
 * waits for has come meanwhile. tests/model/movable.pml is about this.
 *
 * A worker that resumes a stack of another one gives that one a stack of its pool. Otherwise, where
 * tasks go mostly one way, one pool would grow, and the other worker would have to create stacks.
 * It looks at what was returned to itself before it goes without: otherwise workers that take from
 * each other by turns would each keep one more, again and again.
 *
 * A stack stays, too, if it is a thread's own one or the reserve, for a yield, and for an await of
 * a task that has not started. */

static void return_stack(struct cohort__worker *worker, struct cohort__worker *home)
{
    if (!worker->pool.first)
        cohort__worker_take_returned(worker);
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

/* WORK is a resumption that was taken from a queue. Returns the stack to continue. */
static struct cohort__fiber *fiber_of(struct cohort__work *work)
{
    struct cohort__resumption *resumption =
        COHORT_CONTAINER_OF(work, struct cohort__resumption, work);
    resumption->has_run = true;
    return resumption->fiber;
}

/* The run function of a resumption. The stack that it leaves holds only a loop, unless it is the
 * reserve, which may be the resumed one itself. */
static void resume(struct cohort__work *work)
{
    struct cohort__worker *worker = cohort__worker_self;
    const struct cohort__resumption *resumption =
        COHORT_CONTAINER_OF(work, struct cohort__resumption, work);
    struct cohort__fiber *fiber = fiber_of(work);
    if (fiber == worker->fiber)
        return;
    if (resumption->worker != worker && !fiber->exponent)
        return_stack(worker, resumption->worker);
    cohort__worker_leave(worker, fiber);
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
    if (resumption->worker->context->may_move && fiber != resumption->worker->reserve &&
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
    cohort__trace(COHORT__TRACE_WAKE, 0, (uintptr_t)resumption, 0, 0);
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

/* The fiber that the loop would resume next, removed from the ready list. A direct switch to it
 * saves the switch to a stack with a loop. NULL: other work is next, or the loop has to poll or to
 * look elsewhere. */
static struct cohort__fiber *take_next_fiber(struct cohort__worker *worker, uint64_t now)
{
    struct cohort__work *work =
        now < worker->poll_at ? cohort__worker_next_if(worker, resume) : NULL;
    return work ? fiber_of(work) : NULL;
}

/* The event loop takes more of a stack than most tasks, and a task that suspends keeps what was
 * ever touched of its stack. And where the reserve is full of frames that wait, less may be left.
 * So the loop is turned on a stack of its own. Nothing is started on it, and nothing waits. */
static void turn_loop(void *arg)
{
    struct cohort__worker *worker = arg;
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    for (;;) {
        worker->loop_result = worker->loop_call(hooks->context);
        cohort__worker_switch(worker, worker->loop_from);
    }
}

bool cohort__worker_call_loop(struct cohort__worker *worker, bool (*call)(void *context))
{
    worker->loop_call = call;
    worker->loop_from = worker->fiber;
    cohort__worker_switch(worker, worker->loop_fiber);
    return worker->loop_result;
}

/* The reserve --------------------------------------------------------------------------------- */

/* Each worker has one more stack, the reserve, from the start. If a task suspends, and there is no
 * memory for another stack, the worker goes on there, and others begin there, each above those that
 * wait there already. Such a task *covers* those below it: they go on when it has ended, and not
 * before. No other stack ever has more than one task, but those that are plain calls. So what is
 * started now can't keep from going on what has begun while there was memory, as the program's main
 * task.
 *
 * Why tasks never wait for each other in a circle if each awaits only tasks that begin after it
 * (its own, and theirs, and so on), timers, messages and threads outside: who is covered needs one
 * that has begun later, and so does who awaits. So the one that has begun last of those that have
 * not ended is covered by nobody, and awaits nobody who has begun. And what it awaits can begin:
 * above half of the reserve anything can; below it what was spawned since the newest task there has
 * begun. The rest is room for that. Below its floor nothing begins, as with plain calls.
 *
 * For other programs, as where sites wait for each other, this can't be known. The newest tasks
 * begin first, which is right if they wait for older ones. If it is wrong, two tasks may wait for
 * each other for ever; so the log tells about a worker that has to wait while covered tasks could
 * go on, or others could begin. */

/* WORK was taken, and is called on the reserve. */
static void call_in_place(struct cohort__worker *worker, struct cohort__work *work)
{
    int64_t mark = worker->mark;
    worker->mark = atomic_load_explicit(&worker->deque.bottom, memory_order_relaxed);
    work->run(work);
    if (mark < worker->mark)
        worker->mark = mark;
}

void cohort__worker_say_what_waits(const struct cohort__worker *worker, size_t num_open)
{
    static atomic_bool is_said;
    size_t num_covered = 0;
    if (atomic_load_explicit(&is_said, memory_order_relaxed))
        return;
    for (struct cohort__resumption *waits = worker->waiting; waits; waits = waits->below)
        num_covered += waits->has_run;
    if (num_covered + num_open > 0 && !atomic_exchange(&is_said, true))
        cohort__log(COHORT__LOG_WARN,
                    "scheduler: worker %u had no memory for another stack, and waits: %zu tasks "
                    "that could go on are covered by others on its reserve, and for %zu that have "
                    "not begun there is no room; if what waits there waits for one of these, it "
                    "never ends (this is said once)",
                    worker->index, num_covered, num_open);
}

static enum cohort__room room_on(const struct cohort__fiber *reserve, const char *here)
{
    if (here >= reserve->low + reserve->bytes / 2)
        return COHORT__ROOM_FOR_ANY;
    return here >= reserve->floor ? COHORT__ROOM_FOR_NEW : COHORT__ROOM_FOR_NONE;
}

/* The same as the loop does, once, on the reserve. */
__attribute__((noinline)) static void run_in_place(struct cohort__worker *worker)
{
    enum cohort__room room = room_on(worker->reserve, __builtin_frame_address(0));
    cohort__worker_poll_if_due(worker);
    struct cohort__work *work = cohort__worker_next_in_place(worker, room);
    if (work) {
        cohort__worker_search_end(worker);
        if (work->run == resume)
            resume(work);
        else
            call_in_place(worker, work);
    } else if (!worker->is_making_way) {
        cohort__worker_say_what_waits(
            worker, room == COHORT__ROOM_FOR_ANY ? 0 : cohort__deque_length(&worker->deque));
        cohort__worker_idle(worker);
        cohort__worker_search_end(worker); /* what it has found may be for another worker */
    }
}

/* Goes on on a stack without a task, or else on the reserve. Returns when there is a switch back,
 * or, on the reserve, after one turn. */
static inline struct cohort__worker *go_elsewhere(struct cohort__worker *worker)
{
    struct cohort__fiber *fiber = cohort__worker_take_stack(worker);
    if (fiber || worker->fiber != worker->reserve)
        return cohort__worker_switch(worker, fiber ? fiber : worker->reserve);
    run_in_place(worker);
    return worker;
}

/* What is at the base of the reserve. It can't go elsewhere only while a task holds each of the
 * other stacks. So it is never here that a worker leaves. */
static void loop_in_reserve(void *arg)
{
    const struct cohort__fiber *fiber = cohort__worker_arrive();
    (void)arg;
    for (;;)
        go_elsewhere(fiber->worker);
}

cohort_status cohort__worker_create_stacks(struct cohort__worker *worker)
{
    cohort_status status =
        cohort__fiber_create(&worker->loop_fiber, LOOP_STACK_BYTES, turn_loop, worker);
    if (status != COHORT_OK)
        return status;
    status = cohort__fiber_create(&worker->reserve, cohort__scheduler.options.stack_bytes,
                                  loop_in_reserve, NULL);
    if (status != COHORT_OK)
        cohort__fiber_destroy(worker->loop_fiber);
    return status;
}

void cohort__worker_destroy_stacks(struct cohort__worker *worker)
{
    cohort__fiber_destroy(worker->reserve);
    cohort__fiber_destroy(worker->loop_fiber);
}

/* Suspending ---------------------------------------------------------------------------------- */

/* Counts a task that has suspended here, or that goes on. */
static void hold(struct cohort__worker *worker, int count)
{
    uint32_t num = atomic_load_explicit(&worker->num_held, memory_order_relaxed);
    atomic_store_explicit(&worker->num_held, num + (uint32_t)count, memory_order_relaxed);
}

/* The thread may be another one now. */
COHORT__IN_THREAD_OF_NOW static void go_on(struct cohort__worker *worker,
                                           struct cohort__task_context *context,
                                           struct cohort__error *slot)
{
    cohort__worker_enter(worker, context);
    cohort__error_slot_set(slot);
}

/* On the reserve each frame that waits has a line of its own, as long as there is memory for it. */
static __attribute__((noinline)) struct cohort__wait_line *
cover(struct cohort__worker *worker, struct cohort__resumption *resumption)
{
    struct cohort__wait_line *line = cohort__ledger_take(COHORT__LEDGER_WAITS);
    resumption->below = worker->waiting;
    worker->waiting = resumption;
    if (!line)
        return worker->fiber->line;
    atomic_store_explicit(&line->fiber, (uintptr_t)worker->fiber, memory_order_relaxed);
    return line;
}

static __attribute__((noinline)) void uncover(struct cohort__worker *worker,
                                              struct cohort__resumption *resumption,
                                              struct cohort__wait_line *line)
{
    worker->waiting = resumption->below;
    if (line != worker->fiber->line)
        cohort__wait_line_give_back(line);
}

/* The reserve may hold several frames that wait. So it may be continued for the sake of one that is
 * farther down, or for what is ready. */
void cohort__worker_suspend(struct cohort__worker *worker, struct cohort__resumption *resumption,
                            uintptr_t what, const void *caller)
{
    struct cohort__task_context *context = worker->context;
    uint64_t now = cohort__clock_cycles();
    struct cohort__wait_line *line = worker->fiber->line;
    struct cohort__held_mutexes held;
    if (__builtin_expect(worker->fiber == worker->reserve, 0))
        line = cover(worker, resumption);
    cohort__wait_line_begin(line, context, what, caller, now);
    cohort__trace(COHORT__TRACE_SUSPEND, 0, (uintptr_t)resumption, what, (uintptr_t)caller);
    cohort__held_mutexes_leave(&held, context, caller);
    struct cohort__error *slot = cohort__error_slot_set(NULL);
    uint32_t burst = worker->burst;
    bool is_held = is_pinned(resumption); /* see queues.c */
    cohort__overflow_check(worker);
    if (worker->fiber->runners)
        cohort__range_hand_on(worker->fiber->runners, line);
    cohort__worker_exit(worker);
    if (is_held) {
        hold(worker, 1);
    } else {
        worker->left = resumption;
        worker->lends = true;
    }
    for (;;) {
        struct cohort__fiber *fiber = take_next_fiber(worker, now);
        if (!fiber)
            worker = go_elsewhere(worker);
        else if (fiber != worker->fiber)
            worker = cohort__worker_switch(worker, fiber);
        if (resumption->has_run)
            break;
        now = cohort__clock_cycles();
    }
    if (is_held && burst == worker->burst)
        hold(worker, -1);
    cohort__wait_line_end(line);
    if (__builtin_expect(worker->fiber == worker->reserve, 0))
        uncover(worker, resumption, line);
    go_on(worker, context, slot);
    cohort__trace(COHORT__TRACE_RESUME, 0, (uintptr_t)resumption, 0, 0);
    cohort__held_mutexes_return(&held);
}

/* An old task that is postponed has begun a tree of tasks, which needs a stack until its end. If
 * old tasks went on to begin, all of them would have begun before the first one ends. So they
 * pause, for longer the more are postponed. */
void cohort__worker_postpone(struct cohort__worker *worker, struct cohort__resumption *resumption,
                             uintptr_t what, const void *caller)
{
    worker->num_postponed++;
    cohort__worker_pause_old(worker);
    cohort__worker_suspend(worker, resumption, what, caller);
    worker->num_postponed--;
}

void cohort__worker_yield(struct cohort__worker *worker, const void *caller)
{
    struct cohort__resumption resumption;
    cohort__resumption_init(&resumption, worker);
    cohort__fifo_push(&worker->yielded, &resumption.work.node);
    cohort__worker_suspend(worker, &resumption, COHORT__WAIT_YIELD, caller);
}
