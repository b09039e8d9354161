/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/container.h"
#include "runtime/task/worker.h"

/* Where tasks wait that have a priority, or a worker of their own. All others are in the deques,
 * which know neither, and which are looked at as if there were no lanes until the first task comes
 * to one.
 *
 * The locality has a lane for high priority and one for low. Any worker takes from them, the oldest
 * first. Each worker has three more, for tasks that are only for it; they come by its inbox. Where
 * it has one of its own and a common one, they take turns; for normal priority the common one is
 * all of the usual places.
 *
 * Of a worker's looks for work most begin with high priority, but one of OTHERS_TICKS does not, and
 * one of LOW_TICKS begins with low priority. So nobody waits for ever for those who are more
 * important. Otherwise low priority comes when there is nothing else, not even to steal. */

enum { OTHERS_TICKS = 8, LOW_TICKS = 128 };

static void give(struct cohort__worker *worker, struct cohort__task *task)
{
    task->work.run = cohort__task_run_bound;
    atomic_store_explicit(&task->future.claim, COHORT__TASK_BOUND, memory_order_relaxed);
    if (worker == cohort__worker_self) {
        cohort__lane_keep(worker, &task->work);
        return;
    }
    cohort__batch_queue_push(&worker->inbox, &task->work.node);
    cohort__idle_wake(worker);
}

static void share(struct cohort__lane *lane, struct cohort__task *task)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    pthread_mutex_lock(&s->lanes_lock);
    cohort__fifo_push(&lane->works, &task->work.node);
    atomic_fetch_add(&lane->num, 1);
    pthread_mutex_unlock(&s->lanes_lock);
    cohort__idle_wake_one();
}

void cohort__lane_keep(struct cohort__worker *worker, struct cohort__work *work)
{
    const struct cohort__task *task = COHORT_CONTAINER_OF(work, struct cohort__task, work);
    cohort__fifo_push(&worker->lanes[task->future.priority], &work->node);
    cohort__lanes_note(worker);
}

void cohort__worker_put_back(struct cohort__worker *worker, struct cohort__work *work)
{
    const struct cohort__task *task = COHORT_CONTAINER_OF(work, struct cohort__task, work);
    struct cohort__fifo *lane = &worker->lanes[task->future.priority];
    if (task->future.priority == COHORT_TASK_NORMAL) {
        cohort__worker_push(worker, work);
        return;
    }
    work->node.next = lane->first;
    lane->last = lane->first ? lane->last : &work->node;
    lane->first = &work->node;
    worker->lane_turns &= ~(1U << task->future.priority); /* so the next turn is its own lane's */
}

static bool may_go_to(unsigned num_of_worker)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    if (num_of_worker == 0)
        return true;
    return num_of_worker <= s->num_workers &&
           !atomic_load(&s->workers[num_of_worker - 1]->has_left);
}

/* TASK is counted. */
static void queue(struct cohort__task *task, unsigned num_of_worker)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    if (!atomic_load_explicit(&s->uses_lanes, memory_order_relaxed))
        atomic_store(&s->uses_lanes, true);
    if (cohort__worker_self)
        cohort__lanes_note(cohort__worker_self);
    if (num_of_worker > 0)
        give(s->workers[num_of_worker - 1], task);
    else
        share(&s->lanes[task->future.priority], task);
}

/* Counts first, so that no worker leaves for which the task is (worker.c). */
static bool queue_from_outside(struct cohort__task *task, unsigned num_of_worker)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    atomic_fetch_add(&s->num_foreign_spawned, 1);
    if (may_go_to(num_of_worker)) {
        queue(task, num_of_worker);
        return true;
    }
    atomic_fetch_sub(&s->num_foreign_spawned, 1);
    cohort__idle_wake_all(); /* it may have kept others from leaving */
    return false;
}

bool cohort__lanes_submit(struct cohort__task *task, unsigned num_of_worker)
{
    struct cohort__worker *self = cohort__worker_self;
    if (!self) {
        bool is_queued =
            cohort__foreign_enter_to_start() && queue_from_outside(task, num_of_worker);
        cohort__foreign_leave();
        return is_queued;
    }
    if (!may_go_to(num_of_worker))
        return false;
    cohort__count(&self->num_spawned);
    queue(task, num_of_worker);
    return true;
}

bool cohort__lanes_have_shared(void)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    return atomic_load(&s->lanes[COHORT_TASK_HIGH].num) > 0 ||
           atomic_load(&s->lanes[COHORT_TASK_LOW].num) > 0;
}

bool cohort__lanes_have_any(const struct cohort__worker *worker)
{
    return worker->lanes[COHORT_TASK_NORMAL].first || worker->lanes[COHORT_TASK_HIGH].first ||
           worker->lanes[COHORT_TASK_LOW].first || cohort__lanes_have_shared();
}

static struct cohort__work *take_own(struct cohort__worker *worker,
                                     enum cohort_task_priority priority)
{
    struct cohort__batch_queue_node *node = cohort__fifo_pop(&worker->lanes[priority]);
    return node ? cohort__work_of(node) : NULL;
}

static struct cohort__work *take_first(struct cohort__lane *lane)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    if (atomic_load(&lane->num) == 0)
        return NULL;
    pthread_mutex_lock(&s->lanes_lock);
    struct cohort__batch_queue_node *node = cohort__fifo_pop(&lane->works);
    if (node)
        atomic_fetch_sub(&lane->num, 1);
    pthread_mutex_unlock(&s->lanes_lock);
    return node ? cohort__work_of(node) : NULL;
}

/* Tasks that were awaited have run in the place of the await. */
static struct cohort__work *take_shared(enum cohort_task_priority priority)
{
    struct cohort__work *work;
    while ((work = take_first(&cohort__scheduler.lanes[priority])) && cohort__task_is_stale(work))
        cohort__task_drop(work);
    return work;
}

static bool is_turn_of_own(struct cohort__worker *worker, enum cohort_task_priority priority)
{
    worker->lane_turns ^= 1U << priority;
    return worker->lane_turns & 1U << priority;
}

/* HIGH or LOW. */
static struct cohort__work *take(struct cohort__worker *worker, enum cohort_task_priority priority)
{
    struct cohort__work *work;
    if (is_turn_of_own(worker, priority))
        return (work = take_own(worker, priority)) ? work : take_shared(priority);
    return (work = take_shared(priority)) ? work : take_own(worker, priority);
}

struct cohort__work *cohort__lanes_next(struct cohort__worker *worker)
{
    struct cohort__work *work = NULL;
    if (worker->tick % LOW_TICKS == 0)
        work = take(worker, COHORT_TASK_LOW);
    else if (worker->tick % OTHERS_TICKS != 0)
        work = take(worker, COHORT_TASK_HIGH);
    if (!work && is_turn_of_own(worker, COHORT_TASK_NORMAL))
        work = take_own(worker, COHORT_TASK_NORMAL);
    return work;
}

struct cohort__work *cohort__lanes_rest(struct cohort__worker *worker)
{
    struct cohort__work *work = take(worker, COHORT_TASK_HIGH);
    return work ? work : take_own(worker, COHORT_TASK_NORMAL);
}

struct cohort__work *cohort__lanes_last(struct cohort__worker *worker)
{
    return take(worker, COHORT_TASK_LOW);
}
