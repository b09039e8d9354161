/* SPDX-License-Identifier: Apache-2.0 */
/* The progress thread. A task that computes for as long as something has not happened would never
 * end without it, or if a step of it waited for a worker. */
#include <sched.h>
#include <stdatomic.h>

#include "cohort/future.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/worker.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { MOST_WORKERS = 4 };

static struct cohort__scheduler_options with_thread(unsigned num_workers)
{
    struct cohort__scheduler_options options = options_of(num_workers);
    options.progress_thread = true;
    return options;
}

static void run_with(unsigned num_workers, cohort_task_function *function, void *arg)
{
    struct cohort__scheduler_options options = with_thread(num_workers);
    CHECK_OK(run_tasks_with(&options, function, arg));
}

static void compute_until(atomic_int *value, int wanted)
{
    while (atomic_load(value) != wanted)
        sched_yield();
}

/* A loop with messages --------------------------------------------------------------------- */

/* Each message is answered by whoever turns the loop, which may be parked. */
struct post {
    const struct cohort__scheduler_hooks *plain;
    atomic_int num_sent;
    atomic_int num_answered;
    atomic_int num_of_workers; /* how often a worker has turned the loop */
    atomic_int num_parks;
};

static bool answer(struct post *post)
{
    int sent = atomic_load(&post->num_sent);
    if (cohort_worker_index() >= 0)
        atomic_fetch_add(&post->num_of_workers, 1);
    return atomic_exchange(&post->num_answered, sent) != sent;
}

static bool post_poll(void *context)
{
    struct post *post = context;
    bool any = post->plain->poll(post->plain->context);
    return answer(post) || any;
}

static bool post_park(void *context)
{
    struct post *post = context;
    atomic_fetch_add(&post->num_parks, 1);
    bool any = answer(post) || post->plain->park(post->plain->context);
    return answer(post) || any;
}

static void post_wake(void *context)
{
    struct post *post = context;
    post->plain->wake(post->plain->context);
}

static void post_timer(void *context, struct cohort__timer *timer, uint64_t deadline)
{
    struct post *post = context;
    post->plain->timer(post->plain->context, timer, deadline);
}

static void send(struct post *post)
{
    atomic_fetch_add(&post->num_sent, 1);
    post_wake(post);
}

static void run_with_post(const struct cohort__scheduler_options *options, struct post *post,
                          cohort_task_function *function)
{
    *post = (struct post){.plain = cohort__plain_loop_hooks()};
    struct cohort__scheduler_hooks hooks = {.context = post,
                                            .poll = post_poll,
                                            .park = post_park,
                                            .wake = post_wake,
                                            .timer = post_timer};
    CHECK_OK(cohort__scheduler_start(options, &hooks));
    struct run_tasks_program program = {function, post};
    cohort_future *done = cohort_async(run_tasks_then_stop, &program);
    CHECK_OK(cohort__scheduler_run());
    CHECK_OK(cohort_await(done));
    CHECK_INT(atomic_load(&post->num_of_workers), 0);
    cohort__plain_loop_fini();
}

static atomic_int num_there;

/* On each worker there is one of these. */
static cohort_status compute_until_answered(void *arg)
{
    struct post *post = arg;
    atomic_fetch_add(&num_there, 1);
    compute_until(&num_there, (int)cohort__scheduler_num_workers());
    for (int i = 0; i < 100; i++) {
        send(post);
        int sent = atomic_load(&post->num_sent);
        while (atomic_load(&post->num_answered) < sent)
            sched_yield();
    }
    return COHORT_OK;
}

static cohort_status compute_on_all(void *arg)
{
    cohort_future *futures[MOST_WORKERS];
    unsigned num = cohort__scheduler_num_workers();
    atomic_store(&num_there, 0);
    for (unsigned i = 0; i < num; i++)
        futures[i] = cohort_async(compute_until_answered, arg);
    return cohort_await(cohort_when_all(futures, num));
}

TEST(messages_while_all_workers_compute)
{
    for (unsigned num_workers = 1; num_workers <= MOST_WORKERS; num_workers++) {
        struct cohort__scheduler_options options = with_thread(num_workers);
        for (unsigned spins = 0; spins < 2; spins++) {
            struct post post;
            options.spin_ns = spins ? COHORT__SPIN_NS : 0;
            run_with_post(&options, &post, compute_on_all);
            CHECK_INT(atomic_load(&post.num_answered), 100 * num_workers);
        }
    }
}

/* With one task that computes, it parks between two messages. */
static cohort_status send_to_parked(void *arg)
{
    struct post *post = arg;
    int parks = 0; /* before the last message, which ends a park */
    for (int i = 1; i <= 20; i++) {
        while (atomic_load(&post->num_parks) == parks)
            sched_yield();
        parks = atomic_load(&post->num_parks);
        send(post);
        compute_until(&post->num_answered, i);
    }
    return COHORT_OK;
}

TEST(it_parks_and_is_woken)
{
    struct cohort__scheduler_options options = with_thread(1);
    struct post post;
    run_with_post(&options, &post, send_to_parked);
    CHECK(atomic_load(&post.num_parks) >= 20);
}

/* Timers ----------------------------------------------------------------------------------- */

static atomic_int num_expired;

static void expired(struct cohort__timer *timer)
{
    CHECK_INT(cohort_worker_index(), -1);
    atomic_fetch_add(&num_expired, 1);
}

TEST_TASK(timers_expire, run_with(1, task, NULL))
{
    struct cohort__timer timer = {.expired = expired};
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    atomic_store(&num_expired, 0);
    hooks->timer(hooks->context, &timer, 1);
    compute_until(&num_expired, 1);
}

/* Tasks that wait -------------------------------------------------------------------------- */

/* The loop fulfils promises, so that tasks of workers that search or sleep go on. */
static cohort_promise *_Atomic asked;

static bool fulfil_asked(void *context)
{
    cohort_promise *promise = atomic_exchange(&asked, NULL);
    if (promise)
        cohort_promise_fulfil(promise, NULL);
    return promise != NULL;
}

static bool park_or_fulfil(void *context)
{
    const struct cohort__scheduler_hooks *plain = cohort__plain_loop_hooks();
    return fulfil_asked(context) || plain->park(plain->context);
}

static void wake_plain(void *context)
{
    const struct cohort__scheduler_hooks *plain = cohort__plain_loop_hooks();
    plain->wake(plain->context);
}

static cohort_status await_the_loop(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        cohort_future *future;
        cohort_promise *promise = new_promise(&future);
        atomic_store(&asked, promise);
        wake_plain(NULL);
        CHECK_OK(cohort_await(future));
    }
    return COHORT_OK;
}

TEST(it_resumes_tasks)
{
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++)
        for (unsigned spins = 0; spins < 2; spins++) {
            struct cohort__scheduler_options options = with_thread(num_workers);
            struct cohort__scheduler_hooks hooks = {
                .poll = fulfil_asked, .park = park_or_fulfil, .wake = wake_plain};
            options.spin_ns = spins ? COHORT__SPIN_NS : 0;
            options.tasks_move = TASKS_MOVE;
            CHECK_OK(cohort__scheduler_start(&options, &hooks));
            struct run_tasks_program program = {await_the_loop, NULL};
            cohort_future *done = cohort_async(run_tasks_then_stop, &program);
            CHECK_OK(cohort__scheduler_run());
            CHECK_OK(cohort_await(done));
            cohort__plain_loop_fini();
        }
}

/* Chores and works ------------------------------------------------------------------------- */

struct job {
    struct cohort__work work;
    atomic_int *num_done;
    atomic_int ran_on; /* the worker's index + 1; 0: the progress thread */
    cohort_promise *promise;
};

static void run_job(struct cohort__work *work)
{
    struct job *job = COHORT_CONTAINER_OF(work, struct job, work);
    CHECK(!cohort__scheduler_in_task());
    atomic_store(&job->ran_on, cohort_worker_index() + 1);
    atomic_fetch_add(job->num_done, 1);
}

enum { NUM_JOBS = 20 };
static struct job jobs[MOST_WORKERS][NUM_JOBS];
static atomic_int num_through;
static atomic_int num_done[MOST_WORKERS];

static struct job *new_job(unsigned worker, int index)
{
    jobs[worker][index] = (struct job){.work.run = run_job, .num_done = &num_done[worker]};
    return &jobs[worker][index];
}

/* No other worker is free when the chores are posted, and none of them ends before they are done.
 */
static cohort_status compute_until_chores_are_done(void *arg)
{
    unsigned worker = (unsigned)cohort_worker_index();
    atomic_fetch_add(&num_there, 1);
    compute_until(&num_there, (int)cohort__scheduler_num_workers());
    for (int i = 0; i < NUM_JOBS; i++)
        cohort__chore_post(&new_job(worker, i)->work);
    compute_until(&num_done[worker], NUM_JOBS);
    for (int i = 0; i < NUM_JOBS; i++)
        CHECK_INT(atomic_load(&jobs[worker][i].ran_on), 0);
    atomic_fetch_add(&num_through, 1);
    compute_until(&num_through, (int)cohort__scheduler_num_workers());
    return COHORT_OK;
}

static cohort_status chores_on_all(void *arg)
{
    cohort_future *futures[MOST_WORKERS];
    unsigned num = cohort__scheduler_num_workers();
    atomic_store(&num_there, 0);
    atomic_store(&num_through, 0);
    for (unsigned i = 0; i < num; i++) {
        atomic_store(&num_done[i], 0);
        futures[i] = cohort_async(compute_until_chores_are_done, NULL);
    }
    return cohort_await(cohort_when_all(futures, num));
}

TEST(chores_while_all_workers_compute)
{
    for (unsigned num_workers = 1; num_workers <= MOST_WORKERS; num_workers++)
        run_with(num_workers, chores_on_all, NULL);
}

/* The loop's holder is held up until an idle worker has run the chore. */
static atomic_int is_held_up;

static void hold_up(struct cohort__timer *timer)
{
    atomic_store(&is_held_up, 1);
    compute_until(&num_done[0], 1);
}

static cohort_status leave_a_chore(void *arg)
{
    struct cohort__timer timer = {.expired = hold_up};
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    atomic_store(&is_held_up, 0);
    atomic_store(&num_done[0], 0);
    hooks->timer(hooks->context, &timer, 1);
    compute_until(&is_held_up, 1);
    cohort__chore_post(&new_job(0, 0)->work);
    YIELD_WHILE(atomic_load(&num_done[0]) == 0);
    CHECK(atomic_load(&jobs[0][0].ran_on) > 0);
    return COHORT_OK;
}

TEST(workers_take_chores)
{
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++)
        run_with(num_workers, leave_a_chore, NULL);
}

/* A work may call the user's code, and so waits for a worker. */
TEST_TASK(works_run_on_workers, run_with(1, task, NULL))
{
    struct cohort__timer timer = {.expired = expired};
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    atomic_store(&num_expired, 0);
    atomic_store(&num_done[0], 0);
    cohort__work_post(&new_job(0, 0)->work);
    hooks->timer(hooks->context, &timer, 1);
    compute_until(&num_expired, 1);
    CHECK_INT(atomic_load(&num_done[0]), 0);
    YIELD_WHILE(atomic_load(&num_done[0]) == 0);
    CHECK_INT(atomic_load(&jobs[0][0].ran_on), 1);
}

/* From several threads at a time ----------------------------------------------------------- */

enum { NUM_ROUNDS = 200, NUM_TASKS = 8 };

static void run_last_job(struct cohort__work *work)
{
    cohort_promise_fulfil(COHORT_CONTAINER_OF(work, struct job, work)->promise, NULL);
}

static cohort_status post_and_await(void *arg)
{
    for (int i = 0; i < NUM_ROUNDS; i++) {
        struct job job = {.work.run = run_last_job};
        cohort_future *future;
        job.promise = new_promise(&future);
        cohort__chore_post(&job.work);
        CHECK_OK(cohort_await(future));
    }
    return COHORT_OK;
}

static void *post_from_outside(void *arg)
{
    CHECK_OK(post_and_await(arg));
    return NULL;
}

static cohort_status post_from_everywhere(void *arg)
{
    cohort_future *futures[NUM_TASKS];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        threads[i] = new_thread(post_from_outside, NULL);
    for (int i = 0; i < NUM_TASKS; i++)
        futures[i] = cohort_async(post_and_await, NULL);
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_TASKS)));
    for (int i = 0; i < 2; i++)
        end_thread(threads[i]);
    return COHORT_OK;
}

TEST(any_thread_posts_chores)
{
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++)
        for (unsigned spins = 0; spins < 2; spins++) {
            struct cohort__scheduler_options options = with_thread(num_workers);
            options.spin_ns = spins ? COHORT__SPIN_NS : 0;
            CHECK_OK(run_tasks_with(&options, post_from_everywhere, NULL));
        }
}

/* Start and end ---------------------------------------------------------------------------- */

static cohort_status leave_chores_behind(void *arg)
{
    atomic_store(&num_done[0], 0);
    for (int i = 0; i < NUM_JOBS; i++)
        cohort__chore_post(&new_job(0, i)->work);
    return arg ? COHORT_OK : COHORT_ERR_STATE;
}

TEST(chores_run_before_the_end)
{
    for (int i = 0; i < 50; i++) {
        run_with(1 + (unsigned)i % 3, leave_chores_behind, &i);
        CHECK_INT(atomic_load(&num_done[0]), NUM_JOBS);
    }
}

TEST(stop_before_run)
{
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++) {
        struct cohort__scheduler_options options = with_thread(num_workers);
        CHECK_OK(cohort__scheduler_start(&options, NULL));
        cohort__scheduler_stop();
        CHECK_OK(cohort__scheduler_run());
    }
}

/* A thread from outside ends the scheduler while all workers sleep. */
static cohort_status nothing(void *arg)
{
    return COHORT_OK;
}

static void stop(struct cohort__timer *timer)
{
    cohort__scheduler_stop();
}

TEST(stopped_by_the_loop)
{
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++) {
        struct cohort__scheduler_options options = with_thread(num_workers);
        struct cohort__timer timer = {.expired = stop};
        CHECK_OK(cohort__scheduler_start(&options, NULL));
        const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
        cohort_future_unref(cohort_async(nothing, NULL));
        hooks->timer(hooks->context, &timer, cohort__clock_after(1000000));
        CHECK_OK(cohort__scheduler_run());
    }
}
