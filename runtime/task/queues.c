/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <time.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/trace.h"
#include "runtime/task/worker.h"

/* Where work waits for a worker, and which it takes next. */

/* lanes ---------------------------------------------------------------------------------------- */

/* Where tasks wait that have a priority, or a worker of their own. All others are in the deques,
 * which know neither, and which are looked at as if there were no lanes until the first task comes
 * to one.
 *
 * The locality has a lane for high priority and one for low. Any worker takes from them, the oldest
 * first. Each worker has three more, for tasks that are only for it; they come by its inbox. Where
 * it has one of its own and a common one, they take turns; for normal priority the common one is
 * all of the usual places.
 *
 * Of a worker's looks for work most begin with high priority, but one of OTHERS_PICKS does not, and
 * one of LOW_PICKS begins with low priority. So nobody waits for ever for those who are more
 * important. Otherwise low priority comes when there is nothing else, not even to steal. */

enum { OTHERS_PICKS = 8, LOW_PICKS = 128 };

/* Puts WORK, a task that is only for WORKER, the calling one, into its lane. */
static void lane_keep(struct cohort__worker *worker, struct cohort__work *work)
{
    const struct cohort__task *task = COHORT_CONTAINER_OF(work, struct cohort__task, work);
    cohort__fifo_push(&worker->lanes[task->future.priority], &work->node);
    cohort__lanes_note(worker);
}

static void give(struct cohort__worker *worker, struct cohort__task *task)
{
    task->work.run = cohort__task_run_bound;
    atomic_store_explicit(&task->future.claim, COHORT__TASK_BOUND, memory_order_relaxed);
    if (worker == cohort__worker_self) {
        lane_keep(worker, &task->work);
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

/* What WORKER takes from the lanes before anything else; when it finds nothing in its own places
 * otherwise; and when it finds nothing elsewhere, either. NULL: nothing. */
static struct cohort__work *lanes_next(struct cohort__worker *worker)
{
    struct cohort__work *work = NULL;
    if (worker->num_picks % LOW_PICKS == 0)
        work = take(worker, COHORT_TASK_LOW);
    else if (worker->num_picks % OTHERS_PICKS != 0)
        work = take(worker, COHORT_TASK_HIGH);
    if (!work && is_turn_of_own(worker, COHORT_TASK_NORMAL))
        work = take_own(worker, COHORT_TASK_NORMAL);
    return work;
}

static struct cohort__work *lanes_rest(struct cohort__worker *worker)
{
    struct cohort__work *work = take(worker, COHORT_TASK_HIGH);
    return work ? work : take_own(worker, COHORT_TASK_NORMAL);
}

static struct cohort__work *lanes_last(struct cohort__worker *worker)
{
    return take(worker, COHORT_TASK_LOW);
}

/* spread --------------------------------------------------------------------------------------- */

/* How tasks come to several workers. A task stays on the worker that has started it. So tasks have
 * to be spread before they start. That is no matter for tasks that run to their end at once: a
 * worker that has none steals some. But a burst of tasks that suspend soon, such as the sites of a
 * communicator, would be started by the worker that has created them, within the time that it takes
 * to wake another one.
 *
 * So each worker counts the tasks that have suspended there since it last slept, the burst. The
 * fair share of a worker is the number of all these tasks and of those that have not been started,
 * divided by the number of workers that are idle or have such tasks. A thief takes its share at
 * once. A worker that has started its share makes way: it leaves the rest to others, which may have
 * to wake up first, but not for long, and not often. So the time that is lost is bounded if nobody
 * comes, or if the tasks were so short that it would have been better to start them here. */
enum {
    WAIT_NANOSECONDS = 1000,   /* the kernel makes about 80 us of it */
    WAY_NANOSECONDS = 1000000, /* a worker makes way until nothing has been taken for so long, */
    WAY_MOST_NANOSECONDS = 2000000,   /* at most for so long, */
    WAY_PAUSE_NANOSECONDS = 20000000, /* and begins again only after so long */
};

static uint32_t num_held(const struct cohort__worker *worker)
{
    return atomic_load_explicit(&worker->num_held, memory_order_relaxed);
}

uint32_t cohort__spread_share(const struct cohort__worker *worker, struct cohort__worker *victim)
{
    const struct cohort__scheduler *s = &cohort__scheduler;
    uint64_t sum = cohort__deque_length(&victim->deque);
    uint64_t num = 0;
    for (unsigned i = 0; i < s->num_workers; i++) {
        const struct cohort__worker *other = s->workers[i];
        if (other != worker && other != victim && !cohort__idle_is(other))
            continue;
        sum += num_held(other);
        num++;
    }
    uint64_t share = (sum + num - 1) / num;
    return share > num_held(worker) ? (uint32_t)(share - num_held(worker)) : 0;
}

bool cohort__spread_makes_way(struct cohort__worker *worker, struct cohort__worker *victim)
{
    uint64_t now = cohort__clock_cycles();
    size_t length = cohort__deque_length(&victim->deque);
    if (worker->way_limit == 0) {
        if (now < worker->way_after)
            return false;
        worker->way_limit = now + cohort__clock_cycles_of(WAY_MOST_NANOSECONDS);
        worker->way_after = now + cohort__clock_cycles_of(WAY_PAUSE_NANOSECONDS);
        worker->way_length = 0;
        cohort__core_note(&worker->core);
        cohort__idle_wake_some((unsigned)length);
    }
    if (length != worker->way_length) {
        worker->way_length = length;
        worker->way_end = now + cohort__clock_cycles_of(WAY_NANOSECONDS);
    }
    worker->is_making_way = now < worker->way_end && now < worker->way_limit;
    if (!worker->is_making_way)
        cohort__spread_settle(worker);
    return worker->is_making_way;
}

/* Where the last level of cache is not shared, the kernel wakes a thread on the core on which it
 * slept, even if its waker runs there. Then it would wait until the waker's slice is over, 3 ms, or
 * until another core takes it over; a sched_yield does not help, since the kernel is fair. */
static void spread_wait(void)
{
    const struct timespec moment = {.tv_nsec = WAIT_NANOSECONDS};
    nanosleep(&moment, NULL);
}

void cohort__spread_settle(struct cohort__worker *worker)
{
    worker->way_limit = 0;
    worker->burst++;
    atomic_store_explicit(&worker->num_held, 0, memory_order_relaxed);
}

/* next ----------------------------------------------------------------------------------------- */

enum {
    MOST_STOLEN = 128, /* at once */
    /* While there are tasks that have not been started for so long, every second task is the
     * oldest. Otherwise tasks of which nobody waits for the end would pile up below newer ones. */
    OLD_NANOSECONDS = 1000000,
};

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
    cohort__worker_lower_mark(worker);
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

/* A chain of tasks, each of which is started by the end of the one before, would go from worker to
 * worker: a thief that looks for work is faster than the worker that comes back to its deque. */
void cohort__worker_follow(struct cohort__worker *worker, struct cohort__work *work)
{
    if (worker->is_ending && !worker->follower)
        worker->follower = work;
    else
        cohort__worker_push(worker, work);
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

/* Of tasks that are only for WORKER, and of what is to go on here. */
__attribute__((noinline)) static void sort_inbox(struct cohort__worker *worker)
{
    struct cohort__batch_queue_node *node = cohort__batch_queue_take(&worker->inbox);
    while (node) {
        struct cohort__work *work = cohort__work_of(node);
        node = node->next;
        if (work->run == cohort__task_run_bound)
            lane_keep(worker, work);
        else
            cohort__fifo_push(&worker->ready, &work->node);
    }
}

static inline void take_inbox(struct cohort__worker *worker)
{
    if (!cohort__batch_queue_is_empty(&worker->inbox))
        sort_inbox(worker);
}

static void take_yielded(struct cohort__worker *worker)
{
    struct cohort__batch_queue_node *node;
    while ((node = cohort__fifo_pop(&worker->yielded)))
        cohort__fifo_push(&worker->ready, node);
}

void cohort__worker_take_injected(struct cohort__worker *worker)
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
    if (!first)
        return NULL;
    uint32_t num = 1;
    for (; num < share && num < MOST_STOLEN; num++) {
        struct cohort__work *more = cohort__deque_steal(&victim->deque, NULL);
        if (!more)
            break;
        cohort__worker_push(worker, more);
    }
    cohort__trace_count(COHORT__COUNTER_TASKS_STOLEN, num);
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
    return worker->num_postponed > 0 && cohort__clock_cycles() < worker->old_pause_end;
}

static inline struct cohort__work *next_ready(struct cohort__worker *worker)
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
    cohort__worker_take_injected(worker);
    return is_old_pause(worker) ? NULL : oldest_own(worker);
}

/* Whether the next look takes the oldest task, which is old. Tasks that go on and old ones take
 * turns, so that each waits for one task at most. */
__attribute__((noinline)) static bool takes_turns(const struct cohort__worker *worker)
{
    return (worker->was_ready || !worker->ready.first) && !is_old_pause(worker);
}

static inline bool is_turn_of_oldest(const struct cohort__worker *worker)
{
    return atomic_load_explicit(&worker->deque.top, memory_order_relaxed) < worker->old_end &&
           takes_turns(worker);
}

void cohort__worker_look_for_old(struct cohort__worker *worker)
{
    uint64_t now = cohort__clock_cycles();
    if (now < worker->old_at)
        return;
    int64_t end = atomic_load_explicit(&worker->deque.bottom, memory_order_relaxed);
    worker->old_end = worker->seen_end < end ? worker->seen_end : end;
    worker->seen_end = end;
    worker->old_at = now + cohort__clock_cycles_of(OLD_NANOSECONDS);
}

/* Whether the look with the number TICK may have to begin elsewhere than usual. */
static inline bool is_special(const struct cohort__worker *worker, unsigned pick)
{
    return (pick & worker->usual_picks) == 0;
}

/* It may, so whether it has to. */
static bool begins_elsewhere(const struct cohort__worker *worker, unsigned pick)
{
    return pick % COHORT__FAIR_PICKS == 0 || cohort__lanes_have_any(worker);
}

/* What a special look begins with. */
__attribute__((noinline)) static struct cohort__work *next_special(struct cohort__worker *worker)
{
    struct cohort__work *work = worker->usual_picks == 0 ? lanes_next(worker) : NULL;
    if (work)
        return work;
    if (worker->num_picks % COHORT__FAIR_PICKS == 0)
        return next_fair(worker);
    return is_turn_of_oldest(worker) ? oldest_own(worker) : NULL;
}

static inline struct cohort__work *next_if_usual(struct cohort__worker *worker,
                                                 void (*run)(struct cohort__work *work))
{
    if (!worker->ready.first || cohort__work_of(worker->ready.first)->run != run ||
        is_turn_of_oldest(worker))
        return NULL;
    worker->num_picks++;
    return next_ready(worker);
}

__attribute__((noinline)) static struct cohort__work *
next_if_special(struct cohort__worker *worker, void (*run)(struct cohort__work *work))
{
    return begins_elsewhere(worker, worker->num_picks + 1) ? NULL : next_if_usual(worker, run);
}

struct cohort__work *cohort__worker_next_if(struct cohort__worker *worker,
                                            void (*run)(struct cohort__work *work))
{
    return is_special(worker, worker->num_picks + 1) ? next_if_special(worker, run)
                                                     : next_if_usual(worker, run);
}

/* If anything else has its turn, the follower is like the newest of the deque. */
__attribute__((noinline)) static struct cohort__work *take_follower(struct cohort__worker *worker)
{
    struct cohort__work *work = worker->follower;
    worker->follower = NULL;
    bool is_spreading =
        atomic_load_explicit(&worker->num_held, memory_order_relaxed) > 0 && cohort__idle_is_any();
    unsigned pick = worker->num_picks + 1;
    if (!is_spreading && !worker->ready.first &&
        !(is_special(worker, pick) && begins_elsewhere(worker, pick)) &&
        !is_turn_of_oldest(worker)) {
        worker->num_picks++;
        worker->was_ready = worker->is_making_way = false;
        return work;
    }
    cohort__worker_push(worker, work);
    return NULL;
}

struct cohort__work *cohort__worker_next(struct cohort__worker *worker)
{
    take_inbox(worker);
    worker->has_begun_old = false;
    struct cohort__work *work = worker->follower ? take_follower(worker) : NULL;
    if (work)
        return work;
    if (is_special(worker, ++worker->num_picks))
        work = next_special(worker);
    else if (is_turn_of_oldest(worker))
        work = oldest_own(worker);
    worker->was_ready = worker->is_making_way = false;
    if (work || (work = next_ready(worker)) || (work = next_own(worker)))
        return work;
    if (!cohort__batch_queue_is_empty(&cohort__scheduler.injected)) {
        cohort__worker_take_injected(worker);
        work = next_own(worker);
    }
    bool uses_lanes = worker->usual_picks == 0;
    if (work || (uses_lanes && (work = lanes_rest(worker))) || (work = cohort__chore_take()) ||
        (work = steal(worker)) || (uses_lanes && (work = lanes_last(worker))))
        return work;
    if (worker->is_making_way)
        spread_wait();
    take_yielded(worker);
    return next_ready(worker);
}

/* What is looked at last has its turn here, too, but for the oldest task: newer ones, which often
 * wait for older ones, would be started above it, and keep it from going on. */
static struct cohort__work *next_but_oldest(struct cohort__worker *worker)
{
    int64_t old_end = worker->old_end;
    worker->old_end = 0;
    if ((worker->num_picks + 1) % COHORT__FAIR_PICKS == 0) {
        worker->num_picks++;
        take_yielded(worker);
    }
    struct cohort__work *work = cohort__worker_next(worker);
    worker->old_end = old_end;
    return work;
}

struct cohort__work *cohort__worker_next_in_place(struct cohort__worker *worker,
                                                  enum cohort__room room)
{
    if (room == COHORT__ROOM_FOR_ANY)
        return next_but_oldest(worker);
    take_inbox(worker);
    worker->is_making_way = false;
    struct cohort__work *work = next_ready(worker);
    if (!work && room == COHORT__ROOM_FOR_NEW &&
        atomic_load_explicit(&worker->deque.bottom, memory_order_relaxed) > worker->mark)
        work = cohort__deque_pop(&worker->deque);
    if (!work && room == COHORT__ROOM_FOR_NEW && !(work = lanes_rest(worker)))
        work = lanes_last(worker);
    if (work || (work = cohort__chore_take()))
        return work;
    take_yielded(worker);
    return next_ready(worker);
}

bool cohort__worker_has_work(struct cohort__worker *worker)
{
    if (worker->ready.first || worker->yielded.first ||
        !cohort__batch_queue_is_empty(&worker->inbox) ||
        !cohort__batch_queue_is_empty(&cohort__scheduler.injected) || cohort__chores_are_any() ||
        cohort__lanes_have_any(worker))
        return true;
    for (unsigned i = 0; i < cohort__scheduler.num_workers; i++)
        if (!cohort__deque_is_empty(&cohort__scheduler.workers[i]->deque))
            return true;
    return false;
}

void cohort__worker_pause_old(struct cohort__worker *worker)
{
    if (worker->has_begun_old)
        worker->old_pause_end = cohort__clock_cycles() +
                                worker->num_postponed * cohort__clock_cycles_of(OLD_NANOSECONDS);
}
