/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/task/worker.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

/* The other worker waits in a function until the test is over, and so is awake. What it says of its
 * core is not true, so that this one finds what the test wants. */
static atomic_bool is_waiting, is_over;

static cohort_status wait(void *arg)
{
    atomic_store(&is_waiting, true);
    while (!atomic_load(&is_over))
        sched_yield();
    return COHORT_OK;
}

static cpu_set_t mask(void)
{
    cpu_set_t set;
    CHECK_INT(sched_getaffinity(0, sizeof(set), &set), 0);
    return set;
}

/* This worker runs on CORE alone, and the other one says that it does, too. Then leaves it if it
 * can, with the cores of ALLOWED. */
static bool leaves(int core, cpu_set_t allowed)
{
    struct cohort__worker *worker = cohort__worker_self;
    struct cohort__worker *other = cohort__scheduler.workers[1 - worker->index];
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((unsigned)core, &one);
    CHECK_INT(sched_setaffinity(0, sizeof(one), &one), 0);
    atomic_store(&other->core, core);
    /* Nobody moves a thread for a larger mask, or hardly ever: then there is nothing to leave. */
    CHECK_INT(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
    bool has_moved = cohort__core_leave_shared(&worker->core);
    CHECK(!has_moved || atomic_load(&worker->core) != core);
    cpu_set_t left = mask();
    CHECK(CPU_EQUAL(&left, &allowed));
    return has_moved;
}

static cohort_status test(void *arg)
{
    cohort_future *waits = cohort_async(wait, NULL);
    while (!atomic_load(&is_waiting))
        sched_yield();
    cpu_set_t all = mask(), one;
    int first = 0;
    while (!CPU_ISSET((unsigned)first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET((unsigned)first, &one);
    CHECK(!leaves(first, one));
    bool has_moved = false;
    for (int i = 0; CPU_COUNT(&all) > 1 && !has_moved && i < 100; i++)
        has_moved = leaves(first, all);
    CHECK(has_moved || CPU_COUNT(&all) == 1);
    struct cohort__worker *worker = cohort__worker_self;
    struct cohort__worker *other = cohort__scheduler.workers[1 - worker->index];
    CHECK_INT(sched_setaffinity(0, sizeof(one), &one), 0);
    atomic_store(&other->core, -1); /* it is elsewhere */
    CHECK(!cohort__core_leave_shared(&worker->core));
    CHECK_INT(atomic_load(&worker->core), first);
    CHECK_INT(sched_setaffinity(0, sizeof(all), &all), 0);
    atomic_store(&is_over, true);
    return cohort_await(waits);
}

TEST(leave_shared)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.num_workers = 2;
    run_tasks_with(&options, test, NULL);
}

static unsigned num_yields, num_naps;
static bool are_counted;

/* Each yield of worker 0 takes so long, as where others compute; how many there were. */
enum { LONG_NANOSECONDS = 2000000 };
static bool take_long;
static unsigned num_long;

int __real_sched_yield(void);
void __real_cohort__core_nap(void);

int __wrap_sched_yield(void)
{
    if (take_long && cohort__worker_self) {
        const uint64_t end = cohort__clock_cycles() + cohort__clock_cycles_of(LONG_NANOSECONDS);
        while (cohort__clock_cycles() < end)
            ;
        num_long++;
        return 0;
    }
    if (!are_counted)
        return __real_sched_yield();
    num_yields++;
    return 0;
}

void __wrap_cohort__core_nap(void)
{
    num_naps += are_counted;
    __real_cohort__core_nap();
}

/* A thread that yields for long sleeps from time to time. */
TEST(yield)
{
    unsigned num = 0;
    are_counted = true;
    for (unsigned i = 0; i < 10 * COHORT__CORE_YIELDS; i++)
        cohort__core_yield(&num);
    CHECK_INT(num_naps, 10);
    CHECK_INT(num_yields, 10 * (COHORT__CORE_YIELDS - 1));
    for (unsigned i = 0; i < 10 * COHORT__CORE_YIELDS; i++)
        cohort_yield();
    CHECK_INT(num_naps, 20);
    CHECK_INT(num_yields, 20 * (COHORT__CORE_YIELDS - 1));
    are_counted = false;
}

enum { NUM_HAND_OVERS = 200 };
static cohort_promise *_Atomic handed; /* by a task that awaits it, to the thread */

static void *fulfil_when_asleep(void *arg)
{
    for (int i = 0; i < NUM_HAND_OVERS; i++) {
        cohort_promise *promise;
        while (!(promise = atomic_exchange(&handed, NULL)) ||
               atomic_load(&cohort__scheduler.workers[0]->sleep_state) == COHORT__AWAKE)
            if (promise)
                atomic_store(&handed, promise);
        cohort_promise_fulfil(promise, NULL);
    }
    return arg;
}

static void hand_over(int count)
{
    for (int i = 0; i < count; i++) {
        cohort_future *future;
        cohort_promise *promise = new_promise(&future);
        atomic_store(&handed, promise);
        CHECK_OK(cohort_await(future));
    }
}

static cohort_status wait_for_thread(void *arg)
{
    struct cohort__spin_pause *pause = &cohort__worker_self->spin.no_yields;
    *pause = (struct cohort__spin_pause){0}; /* whatever was before this task */
    num_long = 0;
    pthread_t thread = new_thread(fulfil_when_asleep, NULL);
    hand_over(1);
    CHECK_INT(num_long, 1);
    pause->end = UINT64_MAX; /* it lasts as long as the test likes */
    hand_over(NUM_HAND_OVERS - 2);
    CHECK_INT(num_long, 1);
    pause->end = 0;
    hand_over(1);
    CHECK_INT(num_long, 2);
    return pthread_join(thread, NULL) ? COHORT_ERR_FAILED : COHORT_OK;
}

/* A worker without work sleeps at once where others want its core, however often it may yield, and
 * during the pause after that it does so without a yield before each sleep. */
TEST(long_yields)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.num_workers = 1;
    options.spin_ns = 0;
    options.yield_polls = UINT_MAX;
    take_long = true;
    CHECK_OK(run_tasks_with(&options, wait_for_thread, NULL));
    take_long = false;
}

/* Of THREAD, 0: the calling one. */
static uint64_t slice_of(uint64_t thread)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        uint32_t nice, priority;
        uint64_t runtime, deadline, period;
    } attributes;
    CHECK_INT(syscall(SYS_sched_getattr, thread, &attributes, sizeof(attributes), 0), 0);
    return attributes.runtime;
}

static cohort_status compare_slices(void *arg)
{
    const uint64_t usual = *(const uint64_t *)arg, mine = slice_of(0);
    const struct cohort__worker_line *line = cohort__scheduler.progress.line;
    while (atomic_load(&line->thread) == 0 || slice_of(atomic_load(&line->thread)) == usual)
        __real_sched_yield(); /* until it has begun */
    CHECK(slice_of(atomic_load(&line->thread)) < mine && mine < usual);
    return COHORT_OK;
}

/* A worker that wakes up goes before what computes, and the progress thread before workers. The
 * program's own thread is a worker only for so long. */
TEST(slices)
{
    struct cohort__scheduler_options options;
    uint64_t usual = slice_of(0);
    if (usual < 600000) {
        fprintf(stderr, "skipped: slices of threads need Linux 6.12, and usual ones\n");
        return;
    }
    cohort__scheduler_options_init(&options);
    options.progress_thread = true;
    CHECK_OK(run_tasks_with(&options, compare_slices, &usual));
    CHECK_INT((long long)slice_of(0), (long long)usual);
}
