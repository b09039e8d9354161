/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <time.h>

#include "runtime/base/clock.h"
#include "runtime/task/worker.h"

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
    uint64_t now = cohort__clock_ticks();
    size_t length = cohort__deque_length(&victim->deque);
    if (worker->way_limit == 0) {
        if (now < worker->way_after)
            return false;
        worker->way_limit = now + cohort__clock_ticks_of(WAY_MOST_NANOSECONDS);
        worker->way_after = now + cohort__clock_ticks_of(WAY_PAUSE_NANOSECONDS);
        worker->way_length = 0;
        cohort__core_note(&worker->core);
        cohort__idle_wake_some((unsigned)length);
    }
    if (length != worker->way_length) {
        worker->way_length = length;
        worker->way_end = now + cohort__clock_ticks_of(WAY_NANOSECONDS);
    }
    worker->is_making_way = now < worker->way_end && now < worker->way_limit;
    if (!worker->is_making_way)
        cohort__spread_settle(worker);
    return worker->is_making_way;
}

/* Where the last level of cache is not shared, the kernel wakes a thread on the core on which it
 * slept, even if its waker runs there. Then it would wait until the waker's slice is over, 3 ms, or
 * until another core takes it over; a sched_yield does not help, since the kernel is fair. */
void cohort__spread_wait(void)
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
