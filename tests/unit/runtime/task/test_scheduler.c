/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/scheduler.h"

#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cohort/future.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/sanitizer.h"
#include "runtime/base/slab.h"
#include "tests/support/await_within.h"
#include "tests/unit/runtime/task/run_tasks.h"

TEST(options_are_checked)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.num_workers = 0;
    CHECK_INT(cohort__scheduler_start(&options, NULL), COHORT_ERR_BAD_PARAMETER);
    options.num_workers = 1;
    options.stack_bytes = 100;
    CHECK_INT(cohort__scheduler_start(&options, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort__scheduler_run(), COHORT_ERR_STATE);
    CHECK_INT((long long)cohort__scheduler_live_tasks(), 0);
}

static int num_threads(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/task");
    CHECK(directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static cohort_status count_threads(void *arg)
{
    *(int *)arg = num_threads();
    CHECK_INT(cohort_worker_index(), 0);
    CHECK_INT(cohort__scheduler_num_workers(), 1);
    CHECK_INT((long long)cohort__scheduler_live_tasks(), 1);
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    CHECK_INT(cohort__scheduler_start(&options, NULL), COHORT_ERR_STATE);
    return COHORT_OK;
}

TEST(one_worker_is_one_thread)
{
    int before = num_threads();
    int during = 0;
    CHECK_OK(run_tasks(1, count_threads, &during));
    CHECK_INT(during, before);
}

TEST(stop_before_run)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++) {
        options.num_workers = num_workers;
        CHECK_OK(cohort__scheduler_start(&options, NULL));
        cohort__scheduler_stop();
        CHECK_OK(cohort__scheduler_run());
    }
}

static cohort_status yield_a_while(void *arg)
{
    for (int i = 0; i < 100; i++)
        cohort_yield();
    atomic_fetch_add((atomic_int *)arg, 1);
    return COHORT_OK;
}

static cohort_status leave_tasks_behind(void *arg)
{
    for (int i = 0; i < 50; i++)
        cohort_future_unref(cohort_async(yield_a_while, arg));
    return COHORT_OK;
}

/* Tasks end on all workers, the last two perhaps at the same time. */
static cohort_status await_alone(void *arg)
{
    atomic_int *num_done = arg;
    int num = 0;
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < round % 5; i++, num++)
            cohort_future_unref(cohort_async(yield_a_while, arg));
        CHECK_OK(cohort_await(cohort__scheduler_when_alone()));
        CHECK_INT(atomic_load(num_done), num);
        CHECK_INT((long long)cohort__scheduler_live_tasks(), 1);
    }
    return COHORT_OK;
}

TEST(alone)
{
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++) {
        atomic_int num_done = 0;
        CHECK_OK(run_tasks(num_workers, await_alone, &num_done));
    }
}

TEST(stop_waits_for_the_tasks)
{
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++) {
        atomic_int num_done = 0;
        CHECK_OK(run_tasks(num_workers, leave_tasks_behind, &num_done));
        CHECK_INT(atomic_load(&num_done), 50);
    }
}

/* --- works --- */

struct work {
    struct cohort__work work;
    atomic_int *num_left;
    int times;
};

static void run_work(struct cohort__work *work)
{
    struct work *own = COHORT_CONTAINER_OF(work, struct work, work);
    CHECK(!cohort__scheduler_in_task());
    if (--own->times > 0)
        cohort__work_post(work);
    else if (atomic_fetch_sub(own->num_left, 1) == 1)
        cohort__scheduler_stop();
}

TEST(works_run_and_may_be_posted_again)
{
    static struct work works[100];
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++) {
        atomic_int num_left = 100;
        options.num_workers = num_workers;
        CHECK_OK(cohort__scheduler_start(&options, NULL));
        for (int i = 0; i < 100; i++) {
            works[i] = (struct work){{.run = run_work}, &num_left, 100};
            cohort__work_post(&works[i].work);
        }
        CHECK_OK(cohort__scheduler_run());
        CHECK_INT(atomic_load(&num_left), 0);
    }
}

/* --- hooks --- */

struct spy {
    const struct cohort__scheduler_hooks *plain;
    atomic_int num_inside; /* in poll and park together */
    atomic_int num_polls;
    atomic_int num_parks;
    atomic_int num_in_task;
};

static void enter(struct spy *spy)
{
    CHECK_INT(atomic_fetch_add(&spy->num_inside, 1), 0);
    if (cohort__scheduler_in_task())
        atomic_fetch_add(&spy->num_in_task, 1);
}

static bool spy_poll(void *context)
{
    struct spy *spy = context;
    enter(spy);
    bool happened = spy->plain->poll(spy->plain->context);
    atomic_fetch_add(&spy->num_polls, 1);
    atomic_fetch_sub(&spy->num_inside, 1);
    return happened;
}

static bool spy_park(void *context)
{
    struct spy *spy = context;
    enter(spy);
    atomic_fetch_add(&spy->num_parks, 1);
    bool any = spy->plain->park(spy->plain->context);
    atomic_fetch_sub(&spy->num_inside, 1);
    return any;
}

static void spy_wake(void *context)
{
    struct spy *spy = context;
    spy->plain->wake(spy->plain->context);
}

static void spy_timer(void *context, struct cohort__timer *timer, uint64_t deadline)
{
    struct spy *spy = context;
    spy->plain->timer(spy->plain->context, timer, deadline);
}

static cohort_status busy_then_idle(void *arg)
{
    struct spy *spy = arg;
    cohort_future *future;
    /* Busy: short tasks run one after another until the loop was polled between them, or until
     * another worker has parked in it, which then turns it alone. */
    int before = atomic_load(&spy->num_polls);
    YIELD_WHILE(atomic_load(&spy->num_polls) < before + 3 && atomic_load(&spy->num_parks) == 0);
    /* Idle: there is only a timer, until a worker has parked. On a busy machine the workers may not
     * get so far each time. */
    cohort_promise *promise = new_promise(&future);
    do
        CHECK_INT(await_within(future, 20000000), COHORT_ERR_TIMEOUT);
    while (atomic_load(&spy->num_parks) == 0);
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(future));
    cohort__scheduler_stop();
    return COHORT_OK;
}

TEST(hooks_have_one_caller_outside_of_tasks)
{
    for (unsigned num_workers = 1; num_workers <= 4; num_workers++) {
        struct spy spy = {.plain = cohort__plain_loop_hooks()};
        struct cohort__scheduler_hooks hooks = {
            .context = &spy,
            .poll = spy_poll,
            .park = spy_park,
            .wake = spy_wake,
            .timer = spy_timer, /* without timer_cancel */
        };
        struct cohort__scheduler_options options;
        cohort__scheduler_options_init(&options);
        options.num_workers = num_workers;
        CHECK_OK(cohort__scheduler_start(&options, &hooks));
        cohort_future *done = cohort_async(busy_then_idle, &spy);
        CHECK_OK(cohort__scheduler_run());
        CHECK_OK(cohort_await(done));
        CHECK_INT(atomic_load(&spy.num_in_task), 0);
        cohort__plain_loop_fini();
    }
}

/* Parks that bring no work. */
struct quiet {
    cohort_promise *promise;
    int num_polls;
    int num_parks;
    int polls_before; /* before the first park */
};

static bool quiet_poll(void *context)
{
    struct quiet *quiet = context;
    quiet->num_polls++;
    return false;
}

static bool quiet_park(void *context)
{
    struct quiet *quiet = context;
    if (quiet->num_parks++ == 0)
        quiet->polls_before = quiet->num_polls;
    CHECK_INT(quiet->num_polls, quiet->polls_before);
    if (quiet->num_parks == 5)
        cohort_promise_fulfil(quiet->promise, NULL); /* this does bring work */
    CHECK(quiet->num_parks <= 5);
    return false;
}

static void quiet_wake(void *context)
{
}

static cohort_status await_and_stop(void *future)
{
    cohort_status status = cohort_await(future);
    cohort__scheduler_stop();
    return status;
}

TEST(quiet_parks_are_repeated_at_once)
{
    struct quiet quiet = {0};
    struct cohort__scheduler_hooks hooks = {
        .context = &quiet, .poll = quiet_poll, .park = quiet_park, .wake = quiet_wake};
    cohort_future *future;
    quiet.promise = new_promise(&future);
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    CHECK_OK(cohort__scheduler_start(&options, &hooks));
    cohort_future *done = cohort_async(await_and_stop, future);
    CHECK_OK(cohort__scheduler_run());
    CHECK_OK(cohort_await(done));
    CHECK_INT(quiet.num_parks, 5);
}

/* --- the steady state --- */

static cohort_status nothing(void *arg)
{
    return COHORT_OK;
}

static cohort_status fulfil(void *promise)
{
    cohort_promise_fulfil(promise, NULL);
    return COHORT_OK;
}

static void everyday(void)
{
    cohort_future *futures[50];
    for (int i = 0; i < 50; i++)
        futures[i] = cohort_async(nothing, NULL);
    for (int i = 0; i < 50; i++)
        CHECK_OK(cohort_await(futures[i]));
    for (int i = 0; i < 50; i++)
        futures[i] = cohort_async(nothing, NULL);
    CHECK_OK(cohort_await(cohort_when_all(futures, 50)));
    cohort_promise *promise = new_promise(&futures[0]);
    cohort_future_unref(cohort_async(fulfil, promise));
    CHECK_OK(cohort_await(futures[0]));
}

static cohort_status steady(void *arg)
{
    struct cohort__slab_stats before, after;
    for (int i = 0; i < 1000; i++)
        everyday();
    size_t allocated = mallinfo2().uordblks;
    size_t arena = mallinfo2().arena;
    cohort__slab_stats_get(&before);
    for (uint64_t i = 0; i < test_rounds(20000, 2000); i++)
        everyday();
    cohort__slab_stats_get(&after);
    CHECK_INT(after.num_chunks, before.num_chunks);
    if (!COHORT__ASAN && !COHORT__TSAN) {
        CHECK_INT(mallinfo2().uordblks, allocated);
        CHECK_INT(mallinfo2().arena, arena);
    }
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_CALL(steady_state_maps_nothing, CHECK_OK(run_tasks(1, steady, NULL)))

/* --- stealing --- */

static atomic_int met;

static cohort_status meet(void *arg)
{
    atomic_fetch_add(&met, 1);
    while (atomic_load(&met) < 3)
        sched_yield(); /* keeps its worker busy until the others have come */
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status meeting(void *arg)
{
    cohort_future *futures[3];
    for (int round = 0; round < 50; round++) {
        atomic_store(&met, 0);
        for (int i = 0; i < 3; i++)
            futures[i] = cohort_async(meet, arg);
        CHECK_OK(cohort_await(cohort_when_all(futures, 3)));
    }
    return COHORT_OK;
}

TEST(tasks_are_stolen)
{
    CHECK_OK(run_tasks(3, meeting, NULL));
    /* Workers that go to sleep at the same time: each worker that is woken has to wake the next
     * one. */
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.num_workers = 3;
    options.spin_ns = 0;
    options.yield_polls = 0;
    CHECK_OK(run_tasks_with(&options, meeting, NULL));
}

TEST(pinned_workers)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.num_workers = 3;
    options.pin = true;
    cpu_set_t before;
    CHECK_INT(sched_getaffinity(0, sizeof(before), &before), 0);
    CHECK_OK(run_tasks_with(&options, meeting, NULL));
    CHECK_INT(sched_setaffinity(0, sizeof(before), &before), 0);
}

struct crowd {
    cohort_future *gate;
    int num_waiting;
};

static cohort_status join_crowd(void *arg)
{
    struct crowd *crowd = arg;
    crowd->num_waiting++;
    return cohort_await(cohort_future_ref(crowd->gate));
}

static long resident_pages(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long size, resident;
    CHECK(file && fscanf(file, "%ld %ld", &size, &resident) == 2);
    fclose(file);
    return resident;
}

static cohort_status crowd_and_wait(void *arg)
{
    enum { NUM = 5000, LONGEST = 3000 };
    struct crowd crowd = {0};
    cohort_promise *promise, *never;
    cohort_future *future;
    cohort_future **tasks = test_calloc(NUM, sizeof(*tasks));
    promise = new_promise(&crowd.gate);
    never = new_promise(&future);
    long before = resident_pages();
    for (int i = 0; i < NUM; i++)
        tasks[i] = cohort_async(join_crowd, &crowd);
    YIELD_WHILE(crowd.num_waiting < NUM);
    long peak = resident_pages() - before;
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(cohort_when_all(tasks, NUM)));
    for (int i = 0; i < LONGEST && resident_pages() - before > peak / 4; i++)
        CHECK_INT(await_within(cohort_future_ref(future), 20000000), COHORT_ERR_TIMEOUT);
    CHECK(resident_pages() - before <= peak / 4);
    cohort_promise_fulfil(never, NULL);
    cohort_future_unref(future);
    cohort_future_unref(crowd.gate);
    free(tasks);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* The memory of stacks that are not needed any more goes back to the system. */
TEST(unused_stacks_go_back)
{
    if (!COHORT__ASAN && !COHORT__TSAN) /* they keep memory of their own for each stack */
        CHECK_OK(run_tasks(1, crowd_and_wait, NULL));
}

static bool deep_poll(void *context)
{
    volatile char deep[16 * 4096];
    for (size_t i = 0; i < sizeof(deep); i += 4096)
        deep[i] = 1;
    return cohort__plain_loop_hooks()->poll(context);
}

static cohort_status join_crowd_before_a_poll(void *crowd)
{
    cohort__scheduler_poll_next();
    return join_crowd(crowd);
}

static cohort_status crowd_beside_polls(void *arg)
{
    enum { NUM = 1000, MOST_PAGES = 3 };
    struct crowd crowd = {0};
    cohort_future *tasks[NUM];
    cohort_promise *promise = new_promise(&crowd.gate);
    long before = resident_pages();
    for (int i = 0; i < NUM; i++)
        tasks[i] = cohort_async(join_crowd_before_a_poll, &crowd);
    YIELD_WHILE(crowd.num_waiting < NUM);
    CHECK(resident_pages() - before <= NUM * MOST_PAGES);
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(cohort_when_all(tasks, NUM)));
    cohort_future_unref(crowd.gate);
    cohort__scheduler_stop();
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* What the event loop takes of a stack does not stay with tasks that suspend. */
TEST(polls_leave_stacks_alone)
{
    struct cohort__scheduler_hooks hooks = *cohort__plain_loop_hooks();
    struct cohort__scheduler_options options;
    if (COHORT__ASAN || COHORT__TSAN) /* they keep memory of their own for each stack */
        return;
    hooks.poll = deep_poll;
    cohort__scheduler_options_init(&options);
    CHECK_OK(cohort__scheduler_start(&options, &hooks));
    cohort_future *done = cohort_async(crowd_beside_polls, NULL);
    CHECK_OK(cohort__scheduler_run());
    CHECK_OK(cohort_await(done));
    cohort__plain_loop_fini();
}

/* --- tasks for which nobody waits --- */

static cohort_status count_run(void *num_run)
{
    ++*(int *)num_run;
    return COHORT_OK;
}

static cohort_status do_nothing(void *arg)
{
    return COHORT_OK;
}

/* Each round leaves a task behind, and suspends until a newer one has run. */
TEST_TASK(old_tasks_are_run, run_on(1, 1, task, NULL))
{
    int num_left = 0, num_run = 0;
    uint64_t end = cohort__clock_after(50000000);
    while (cohort__clock_now() < end) {
        num_left++;
        cohort_future_unref(cohort_async(count_run, &num_run));
        cohort_future *newer = cohort_async(do_nothing, NULL);
        CHECK_OK(cohort_await(cohort_when_all(&newer, 1)));
    }
    CHECK(num_run > num_left / 2);
    YIELD_WHILE(num_run < num_left);
}

/* --- many trees of tasks --- */

struct grove {
    int num_begun;
    int num_ended;
    int most; /* at a time */
};

static cohort_status grow(void *arg)
{
    uint64_t end = cohort__clock_after(20000);
    while (cohort__clock_now() < end)
        ;
    int depth = (int)(intptr_t)arg;
    return depth == 0 ? COHORT_OK : cohort_await(cohort_async(grow, (void *)(intptr_t)(depth - 1)));
}

static cohort_status grow_a_tree(void *arg)
{
    enum { DEPTH = 40 };
    struct grove *grove = arg;
    int num = ++grove->num_begun - grove->num_ended;
    if (num > grove->most)
        grove->most = num;
    cohort_status status = grow((void *)(intptr_t)DEPTH);
    grove->num_ended++;
    return status;
}

/* Each tree waits longer than the event loop may, and then is suspended. */
static cohort_status grow_trees(void *arg)
{
    enum { NUM_TREES = 200 };
    struct grove *grove = arg;
    cohort_future *trees[NUM_TREES];
    for (int i = 0; i < NUM_TREES; i++)
        trees[i] = cohort_async(grow_a_tree, grove);
    return cohort_await(cohort_when_all(trees, NUM_TREES));
}

TEST(trees_end_before_others_begin)
{
    struct grove grove = {0};
    CHECK_OK(run_tasks(1, grow_trees, &grove));
    CHECK_INT(grove.num_ended, grove.num_begun);
    CHECK(grove.most < grove.num_begun / 2);
}

/* There is address space for the stacks of a few threads only. */
static void start_many(bool fewer_will_do)
{
    enum { MANY = 200, ROOM_BYTES = 400 * 1024 * 1024 };
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.num_workers = MANY;
    options.fewer_will_do = fewer_will_do;
    limit_address_space(ROOM_BYTES);
    cohort_status status = cohort__scheduler_start(&options, NULL);
    CHECK_INT(status, fewer_will_do ? COHORT_OK : COHORT_ERR_NO_MEMORY);
    if (status != COHORT_OK)
        return;
    CHECK(cohort__scheduler_num_workers() > 1 && cohort__scheduler_num_workers() < MANY);
    cohort__scheduler_stop();
    CHECK_OK(cohort__scheduler_run());
}

TEST(too_few_threads)
{
    for (int fewer_will_do = 0; !COHORT__ASAN && !COHORT__TSAN && fewer_will_do < 2;
         fewer_will_do++) {
        int status;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            start_many(fewer_will_do);
            _exit(0);
        }
        CHECK_INT(waitpid(child, &status, 0), child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}
