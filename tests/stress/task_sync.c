/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes are cancelled while locks, signals and items are handed over to tasks that wait in them,
 * at barriers, and in calls of cohort_blocking, with one worker and with several, and with threads
 * outside among those who wait. Nothing is lost. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cohort/cohort.h"
#include "runtime/base/random.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum {
    NUM_ROUNDS = 200,
    FEW_ROUNDS = 6,
    NUM_TASKS = 10, /* in a scope */
    NUM_THREADS = 2,
    MOST_WORKERS = 3,
    MOST_YIELDS = 60,
    MOST_STEPS = 20,
    SEED = 815,
};

static bool is_ok_or_cancelled(cohort_status status)
{
    CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED);
    return status == COHORT_OK;
}

static struct cohort__random random_numbers; /* only the first task */

static void yield_for_a_while(void)
{
    for (uint64_t i = cohort__random_below(&random_numbers, MOST_YIELDS); i > 0; i--)
        cohort_yield();
}

/* Until COUNT has grown somewhat, so that others are in the midst of it, whatever their number. */
static void yield_until_more(const _Atomic uint64_t *count)
{
    uint64_t end = atomic_load(count) + cohort__random_below(&random_numbers, MOST_STEPS);
    YIELD_WHILE(atomic_load(count) < end);
}

static void play(cohort_task_function *function)
{
    for (unsigned num_workers = 1; num_workers <= MOST_WORKERS; num_workers++) {
        random_numbers = cohort__random_seeded(SEED + num_workers);
        CHECK_OK(run_tasks(num_workers, function, NULL));
    }
}

/* Starts FUNCTION in some tasks of a scope. */
static cohort_scope *begin(cohort_task_function *function)
{
    cohort_scope *scope = new_scope();
    for (int i = 0; i < NUM_TASKS; i++)
        CHECK_OK(cohort_scope_async(scope, function, NULL));
    return scope;
}

static void cancel(cohort_scope *scope)
{
    cohort_scope_cancel(scope);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
}

/* A task that does so by a thread outside. */
static cohort_status run_in_thread(void *arg)
{
    return cohort_blocking(*(cohort_task_function **)arg, NULL);
}

static cohort_future *start_in_thread(cohort_task_function **function)
{
    return cohort_async(run_in_thread, function);
}

/* Threads outside that do FUNCTION for as long as there are rounds. */
static atomic_bool is_over;

static void start_threads(pthread_t *threads, void *(*function)(void *))
{
    atomic_store(&is_over, false);
    for (int i = 0; i < NUM_THREADS; i++)
        threads[i] = new_thread(function, NULL);
}

static cohort_status join_threads(void *arg)
{
    const pthread_t *threads = arg;
    for (int i = 0; i < NUM_THREADS; i++)
        end_thread(threads[i]);
    return COHORT_OK;
}

/* --- mutex: no lock is lost, and there is one holder --- */

static struct {
    cohort_mutex *mutex;
    uint64_t num_changes; /* guarded by it */
    _Atomic uint64_t num_locks;
} locked;

static void change(void)
{
    uint64_t num = locked.num_changes;
    atomic_fetch_add(&locked.num_locks, 1);
    cohort_yield();
    locked.num_changes = num + 1;
    CHECK_OK(cohort_mutex_unlock(locked.mutex));
}

static cohort_status lock_often(void *arg)
{
    while (!cohort_cancelled())
        if (is_ok_or_cancelled(cohort_mutex_lock(locked.mutex, COHORT_NO_LIMIT)))
            change();
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static void *lock_in_thread(void *arg)
{
    while (!atomic_load(&is_over)) {
        CHECK_OK(cohort_mutex_lock(locked.mutex, COHORT_NO_LIMIT));
        change();
    }
    return arg;
}

TEST_TASK(mutex, play(task))
{
    pthread_t threads[NUM_THREADS];
    locked.num_changes = 0;
    atomic_store(&locked.num_locks, 0);
    CHECK_OK(cohort_mutex_create(&locked.mutex));
    start_threads(threads, lock_in_thread);
    for (uint64_t i = test_rounds(NUM_ROUNDS, FEW_ROUNDS); i > 0; i--) {
        cohort_scope *scope = begin(lock_often);
        yield_until_more(&locked.num_locks);
        cancel(scope);
    }
    atomic_store(&is_over, true);
    CHECK_OK(cohort_blocking(join_threads, threads));
    CHECK_OK(cohort_mutex_lock(locked.mutex, 0));
    CHECK_INT((long long)locked.num_changes, (long long)atomic_load(&locked.num_locks));
    CHECK_OK(cohort_mutex_unlock(locked.mutex));
    cohort_mutex_unref(locked.mutex);
}

/* --- condition: no signal is lost --- */

/* One permit, and those who wait for it. One of these is in no scope. It gets the permit in the
 * end, unless another one has got it, also if a thread outside gives it just when others are
 * cancelled. */
static struct {
    cohort_mutex *mutex;
    cohort_condition *condition;
    bool is_there, was_taken; /* guarded by mutex */
} permit;

static cohort_status give_permit(void *arg)
{
    CHECK_OK(cohort_mutex_lock(permit.mutex, COHORT_NO_LIMIT));
    CHECK(!permit.is_there);
    permit.is_there = true;
    cohort_condition_signal(permit.condition);
    CHECK_OK(cohort_mutex_unlock(permit.mutex));
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status take_permit(void *arg)
{
    cohort_status status = cohort_mutex_lock(permit.mutex, COHORT_NO_LIMIT);
    if (!is_ok_or_cancelled(status))
        return COHORT_OK;
    while (!status && !permit.is_there)
        status = cohort_condition_wait(permit.condition, permit.mutex, COHORT_NO_LIMIT);
    if (is_ok_or_cancelled(status)) {
        permit.is_there = false;
        permit.was_taken = true;
    }
    CHECK_OK(cohort_mutex_unlock(permit.mutex)); /* held, however the wait has ended */
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static void play_permit(void)
{
    cohort_task_function *give = give_permit;
    bool is_first = cohort__random_below(&random_numbers, 2) == 0;
    cohort_future *last = is_first ? cohort_async(take_permit, NULL) : NULL;
    cohort_scope *scope = begin(take_permit);
    if (!is_first)
        last = cohort_async(take_permit, NULL);
    yield_for_a_while();
    cohort_future *given = start_in_thread(&give);
    yield_for_a_while();
    cancel(scope);
    CHECK_OK(cohort_await(given));
    if (!cohort_future_ready(last)) {
        CHECK_OK(cohort_mutex_lock(permit.mutex, COHORT_NO_LIMIT));
        bool was_taken = permit.was_taken;
        CHECK_OK(cohort_mutex_unlock(permit.mutex));
        if (was_taken) /* by one of the scope, or by the last just now, who does no harm */
            CHECK_OK(give_permit(NULL));
    }
    CHECK_OK(cohort_await(last));
    permit.is_there = permit.was_taken = false;
}

TEST_TASK(condition, play(task))
{
    CHECK_OK(cohort_mutex_create(&permit.mutex));
    CHECK_OK(cohort_condition_create(&permit.condition));
    for (uint64_t i = test_rounds(5 * NUM_ROUNDS, 5 * FEW_ROUNDS); i > 0; i--)
        play_permit();
    cohort_condition_unref(permit.condition);
    cohort_mutex_unref(permit.mutex);
}

/* --- queue: no item is lost, and none is there twice --- */

/* The items go round: who gets one puts it back, and waits for that, since there are more items
 * than places. Who is not let put it in leaves it among the spare ones. */
enum { NUM_ITEMS = 5, NUM_PLACES = 2 };

static struct {
    cohort_queue *queue, *spare;
    char items[NUM_ITEMS];
    _Atomic uint64_t num_moves;
} round_trip;

static void put_back(void *item)
{
    cohort_status status = cohort_queue_put(round_trip.queue, item, COHORT_NO_LIMIT);
    CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED || status == COHORT_ERR_GONE);
    if (status)
        CHECK_OK(cohort_queue_put(round_trip.spare, item, 0));
    atomic_fetch_add(&round_trip.num_moves, 1);
}

static cohort_status move_items(void *arg)
{
    void *item;
    while (!cohort_cancelled()) {
        if (!is_ok_or_cancelled(cohort_queue_get(round_trip.queue, &item, COHORT_NO_LIMIT)))
            break;
        cohort_yield(); /* the scope may be cancelled now: the item goes to one who waits */
        put_back(item);
    }
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static void *move_items_in_thread(void *arg)
{
    void *item;
    while (!atomic_load(&is_over)) {
        cohort_status status = cohort_queue_get(round_trip.queue, &item, COHORT_NO_LIMIT);
        CHECK(status == COHORT_OK || status == COHORT_ERR_GONE);
        if (status == COHORT_OK)
            put_back(item);
    }
    return arg;
}

/* What the scope has left is on its way again, as far as there are places. */
static void put_spare(void)
{
    void *item;
    while (!cohort_queue_get(round_trip.spare, &item, 0))
        if (cohort_queue_put(round_trip.queue, item, 0)) {
            CHECK_OK(cohort_queue_put(round_trip.spare, item, 0));
            break;
        }
}

static void check_items(void)
{
    int counts[NUM_ITEMS] = {0};
    void *item;
    while (!cohort_queue_get(round_trip.queue, &item, 0) ||
           !cohort_queue_get(round_trip.spare, &item, 0))
        counts[(char *)item - round_trip.items]++;
    for (int i = 0; i < NUM_ITEMS; i++)
        CHECK_INT(counts[i], 1);
}

TEST_TASK(queue, play(task))
{
    pthread_t threads[NUM_THREADS];
    CHECK_OK(cohort_queue_create(NUM_PLACES, &round_trip.queue));
    CHECK_OK(cohort_queue_create(NUM_ITEMS, &round_trip.spare));
    for (int i = 0; i < NUM_ITEMS; i++)
        CHECK_OK(cohort_queue_put(round_trip.spare, &round_trip.items[i], 0));
    start_threads(threads, move_items_in_thread);
    for (uint64_t i = test_rounds(NUM_ROUNDS, FEW_ROUNDS); i > 0; i--) {
        put_spare();
        cohort_scope *scope = begin(move_items);
        yield_for_a_while();
        put_spare();
        yield_until_more(&round_trip.num_moves);
        cancel(scope);
    }
    atomic_store(&is_over, true);
    cohort_queue_close(round_trip.queue); /* so that threads that wait end */
    CHECK_OK(cohort_blocking(join_threads, threads));
    check_items();
    cohort_queue_unref(round_trip.queue);
    cohort_queue_unref(round_trip.spare);
}

/* --- barrier: who is cancelled has not come --- */

enum { NUM_COMING = 3 };

static struct {
    cohort_local_barrier *barrier;
    _Atomic uint64_t num_passed, num_last;
} met;

static bool come(uint64_t limit)
{
    bool is_last = false;
    cohort_status status = cohort_local_barrier_wait(met.barrier, limit, &is_last);
    CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED || status == COHORT_ERR_TIMEOUT);
    atomic_fetch_add(&met.num_passed, status == COHORT_OK);
    atomic_fetch_add(&met.num_last, is_last);
    return status == COHORT_OK;
}

static cohort_status come_often(void *arg)
{
    while (!cohort_cancelled())
        come(COHORT_NO_LIMIT);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status come_in_thread(void *arg)
{
    enum { MICROSECONDS = 1000 };
    for (uint64_t i = 0; i < 10; i++)
        come(i * MICROSECONDS);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status come_once(void *arg)
{
    CHECK(come(COHORT_NO_LIMIT));
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* If one of those who were cancelled, or whose time has passed, had a place still, those who come
 * now would go on before all have come, and then the last of them would wait for ever. */
static void check_places(void)
{
    cohort_future *futures[NUM_COMING];
    CHECK_INT((long long)atomic_load(&met.num_passed),
              (long long)(NUM_COMING * atomic_load(&met.num_last)));
    for (int i = 0; i < NUM_COMING; i++)
        futures[i] = cohort_async(come_once, NULL);
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_COMING)));
    CHECK_INT((long long)atomic_load(&met.num_passed),
              (long long)(NUM_COMING * atomic_load(&met.num_last)));
    CHECK_INT(cohort_local_barrier_wait(met.barrier, 0, NULL), COHORT_ERR_TIMEOUT);
}

TEST_TASK(barrier, play(task))
{
    cohort_task_function *in_thread = come_in_thread;
    CHECK_OK(cohort_local_barrier_create(NUM_COMING, &met.barrier));
    atomic_store(&met.num_passed, 0);
    atomic_store(&met.num_last, 0);
    for (uint64_t i = test_rounds(NUM_ROUNDS, FEW_ROUNDS); i > 0; i--) {
        cohort_scope *scope = begin(come_often);
        cohort_future *thread = start_in_thread(&in_thread);
        yield_for_a_while();
        cancel(scope);
        CHECK_OK(cohort_await(thread));
        check_places();
    }
    cohort_local_barrier_unref(met.barrier);
}

/* --- cohort_blocking: what has not begun is never called, and what has is waited for --- */

enum { NUM_BLOCKING_THREADS = 3 };

static _Atomic uint64_t num_called, num_returned, num_blocked, num_inside;

static cohort_status block(void *arg)
{
    CHECK(atomic_fetch_add(&num_inside, 1) < NUM_BLOCKING_THREADS);
    CHECK_INT(cohort_worker_index(), -1);
    sched_yield();
    *(int *)arg += 1; /* on the stack of the task that waits */
    atomic_fetch_sub(&num_inside, 1);
    atomic_fetch_add(&num_called, 1);
    return COHORT_ERR_TIMEOUT;
}

static cohort_status block_often(void *arg)
{
    while (!cohort_cancelled()) {
        int num = 0;
        cohort_status status = cohort_blocking(block, &num);
        CHECK(status == COHORT_ERR_TIMEOUT || status == COHORT_ERR_CANCELLED);
        CHECK_INT(num, status == COHORT_ERR_TIMEOUT);
        atomic_fetch_add(status == COHORT_ERR_TIMEOUT ? &num_returned : &num_blocked, 1);
    }
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status play_blocking(void *arg)
{
    for (uint64_t i = test_rounds(NUM_ROUNDS, FEW_ROUNDS); i > 0; i--) {
        cohort_scope *scope = begin(block_often);
        yield_until_more(&num_called);
        cancel(scope);
        CHECK_INT((long long)atomic_load(&num_returned), (long long)atomic_load(&num_called));
    }
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(blocking)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.blocking_threads = NUM_BLOCKING_THREADS;
    for (options.num_workers = 1; options.num_workers <= MOST_WORKERS; options.num_workers++) {
        random_numbers = cohort__random_seeded(SEED + options.num_workers);
        CHECK_OK(run_tasks_with(&options, play_blocking, NULL));
    }
    CHECK(atomic_load(&num_blocked) > 0 && atomic_load(&num_returned) > 0);
}

int main(int argc, char **argv)
{
    fprintf(stderr, "seed %d\n", SEED);
    return tests_run(argc, argv);
}
