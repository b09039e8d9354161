/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/future.h"

#include <sched.h>

#include "runtime/base/container.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

struct counter {
    struct cohort__waiter waiter;
    int num_calls;
    int order;
};

static int next_order;

static void count(struct cohort__waiter *waiter)
{
    struct counter *counter = COHORT_CONTAINER_OF(waiter, struct counter, waiter);
    counter->num_calls++;
    counter->order = next_order++;
}

TEST(completes_once_for_all_waiters)
{
    struct counter counters[3] = {
        {.waiter.notify = count}, {.waiter.notify = count}, {.waiter.notify = count}};
    next_order = 0;
    cohort_future *future = cohort__future_create();
    CHECK(!cohort_future_ready(future));
    for (int i = 0; i < 3; i++)
        CHECK(cohort__future_wait_with(future, &counters[i].waiter));
    int value;
    cohort__future_fulfil(future, &value);
    CHECK(cohort_future_ready(future));
    CHECK_OK(cohort__future_status(future));
    CHECK(cohort__future_value(future) == &value);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(counters[i].num_calls, 1);
        CHECK_INT(counters[i].order, i);
    }
    CHECK(!cohort__future_wait_with(future, &counters[0].waiter));
    CHECK_INT(counters[0].num_calls, 1);
    cohort_future_unref(future);
}

/* A future that only its completer and its only waiter hold is completed in another way. */
static void complete_for_owner(bool has_other_waiter, bool has_other_owner)
{
    struct counter owner = {.waiter = {.notify = count, .is_owner = true}};
    struct counter other = {.waiter.notify = count};
    cohort_future *future = cohort__future_create();
    if (has_other_waiter)
        CHECK(cohort__future_wait_with(future, &other.waiter));
    CHECK(cohort__future_wait_with(future, &owner.waiter));
    cohort_future *held = has_other_owner ? cohort_future_ref(future) : NULL;
    cohort__future_fail(future, COHORT_ERR_GONE, "site %d", 7);
    CHECK_INT(owner.num_calls, 1);
    CHECK_INT(other.num_calls, has_other_waiter);
    CHECK(cohort_future_ready(future));
    CHECK(!cohort__future_wait_with(future, &other.waiter));
    cohort_future_unref(held);
    CHECK_INT(cohort_await(future), COHORT_ERR_GONE); /* the last reference, or a leak is found */
}

TEST(completes_for_its_owner)
{
    complete_for_owner(false, false);
    complete_for_owner(true, false);
    complete_for_owner(false, true);
}

enum { NUM_LEFT = 40, NUM_FORGOTTEN = 1000 };

/* The forgotten ones are notified from time to time, and the others when the future is complete. */
TEST(forget)
{
    static struct counter left[NUM_LEFT], forgotten[NUM_FORGOTTEN];
    cohort_future *future = cohort__future_create();
    for (int i = 0; i < NUM_LEFT; i++) {
        left[i] = (struct counter){.waiter.notify = count};
        CHECK(cohort__future_wait_with(future, &left[i].waiter));
    }
    int num_kept = 0, most_kept = 0;
    for (int i = 0; i < NUM_FORGOTTEN; i++) {
        forgotten[i] = (struct counter){.waiter.notify = count};
        CHECK(cohort__future_wait_with(future, &forgotten[i].waiter));
        cohort__future_forget(future, &forgotten[i].waiter);
        num_kept++;
        for (int j = 0; forgotten[i].num_calls > 0 && j <= i; j++) {
            CHECK_INT(forgotten[j].num_calls, 1);
            num_kept = 0;
        }
        most_kept = num_kept > most_kept ? num_kept : most_kept;
    }
    CHECK(most_kept >= 16 && most_kept <= 2 * NUM_LEFT);
    for (int i = 0; i < NUM_LEFT; i++)
        CHECK_INT(left[i].num_calls, 0);
    cohort__future_complete(cohort_future_ref(future), COHORT_OK, NULL);
    for (int i = 1; i < NUM_LEFT; i++) {
        CHECK_INT(left[i].num_calls, 1);
        CHECK(left[i].order > left[i - 1].order);
    }
    for (int i = 0; i < NUM_FORGOTTEN; i++)
        CHECK_INT(forgotten[i].num_calls, 1);
    cohort__future_forget(future, &left[0].waiter);
    CHECK_INT(left[0].num_calls, 1);
    cohort_future_unref(future);
    cohort_future_unref(future);
}

TEST(errors_travel)
{
    cohort_future *future = cohort__future_create();
    cohort__future_fail(future, COHORT_ERR_GONE, "site %d", 7);
    CHECK_INT(cohort__future_status(future), COHORT_ERR_GONE);
    CHECK(!cohort__future_value(future));
    CHECK_INT(cohort_await(cohort_future_ref(future)), COHORT_ERR_GONE);
    CHECK_TEXT(cohort_error_message(), "site 7");
    struct cohort__error error = {0};
    cohort__future_error(future, &error);
    cohort_future_unref(future);
    CHECK_INT(error.status, COHORT_ERR_GONE);

    future = cohort__future_create();
    cohort__future_complete(future, COHORT_ERR_GONE, &error);
    CHECK_INT(cohort_await(future), COHORT_ERR_GONE);
    CHECK_TEXT(cohort_error_message(), "site 7");

    /* The message of another error doesn't belong to this future. */
    future = cohort__future_create();
    cohort__future_complete(future, COHORT_ERR_NETWORK, &error);
    CHECK_INT(cohort_await(future), COHORT_ERR_NETWORK);
    CHECK_TEXT(cohort_error_message(), cohort_status_text(COHORT_ERR_NETWORK));

    future = cohort__future_of_status(COHORT_ERR_GONE, &error);
    cohort__error_fini(&error);
    CHECK_INT(cohort_await(future), COHORT_ERR_GONE);
    CHECK_TEXT(cohort_error_message(), "site 7");
}

TEST(complete_from_the_start)
{
    int value;
    void *got = NULL;
    CHECK_OK(cohort_await_value(cohort_future_of_value(&value), &got));
    CHECK(got == &value);
    CHECK_INT(cohort_await_value(cohort_future_of_error(COHORT_ERR_GONE, "who %s", "me"), &got),
              COHORT_ERR_GONE);
    CHECK(got == &value);
    CHECK_TEXT(cohort_error_message(), "who me");
    CHECK_INT(cohort_await(cohort_future_of_error(COHORT_OK, "no error")), COHORT_ERR_FAILED);
    CHECK_INT(cohort_await(cohort__future_no_memory()), COHORT_ERR_NO_MEMORY);
    CHECK_INT(cohort_await(cohort__future_no_memory()), COHORT_ERR_NO_MEMORY);
}

TEST(null)
{
    CHECK(!cohort_future_ref(NULL));
    cohort_future_unref(NULL);
    CHECK(!cohort_future_ready(NULL));
}

TEST(dropped_before_it_completes)
{
    cohort_future *future = cohort__future_create();
    cohort_future_unref(future);
    cohort__future_fail(future, COHORT_ERR_FAILED, "nobody hears it");
}

/* Waiters are added and removed while another thread completes the future. Each one is either told
 * once or removed. */
enum { NUM_ROUNDS = 3000, NUM_WAITERS = 8 };

struct race_waiter {
    struct cohort__waiter waiter;
    atomic_int num_calls;
};

static cohort_future *_Atomic race_future;
static cohort_future *_Atomic race_other;

static void race_notify(struct cohort__waiter *waiter)
{
    atomic_fetch_add(&COHORT_CONTAINER_OF(waiter, struct race_waiter, waiter)->num_calls, 1);
}

static void *race_complete(void *arg)
{
    for (int i = 0; i < NUM_ROUNDS; i++) {
        cohort_future *future;
        while (!(future = atomic_exchange(&race_future, NULL)))
            sched_yield();
        cohort__future_fulfil(future, NULL);
    }
    return arg;
}

TEST(forgetting_races_with_completing)
{
    static struct race_waiter waiters[NUM_WAITERS];
    pthread_t thread = new_thread(race_complete, NULL);
    for (int round = 0; round < NUM_ROUNDS; round++) {
        bool is_in[NUM_WAITERS];
        cohort_future *future = cohort__future_create();
        atomic_store(&race_future, future);
        for (int i = 0; i < NUM_WAITERS; i++) {
            waiters[i].waiter.notify = race_notify;
            atomic_store(&waiters[i].num_calls, 0);
            is_in[i] = cohort__future_wait_with(future, &waiters[i].waiter);
        }
        for (int i = 0; i < NUM_WAITERS; i += 2)
            if (is_in[i])
                cohort__future_forget(future, &waiters[i].waiter);
        while (!cohort_future_ready(future)) /* takes the list out and puts it back */
            if (is_in[0])
                cohort__future_forget(future, &waiters[0].waiter);
        for (int i = 0; i < NUM_WAITERS; i++) {
            while (is_in[i] && atomic_load(&waiters[i].num_calls) == 0)
                sched_yield();
            CHECK_INT(atomic_load(&waiters[i].num_calls), is_in[i]);
        }
        cohort_future_unref(future);
    }
    end_thread(thread);
}

/* The main thread holds the future and waits for it. The other thread has a reference, too, waits,
 * and forgets that. */
static void *race_forget(void *arg)
{
    static struct race_waiter waiter = {.waiter.notify = race_notify};
    for (int i = 0; i < NUM_ROUNDS; i++) {
        cohort_future *future;
        while (!(future = atomic_exchange(&race_other, NULL)))
            sched_yield();
        atomic_store(&waiter.num_calls, 0);
        bool is_in = cohort__future_wait_with(future, &waiter.waiter);
        if (is_in)
            cohort__future_forget(future, &waiter.waiter);
        cohort_future_unref(future);
        while (is_in && atomic_load(&waiter.num_calls) == 0)
            sched_yield();
    }
    return arg;
}

TEST(an_owner_races_with_others)
{
    struct race_waiter owner = {.waiter = {.notify = race_notify, .is_owner = true}};
    pthread_t completer, other;
    completer = new_thread(race_complete, NULL);
    other = new_thread(race_forget, NULL);
    for (int round = 0; round < NUM_ROUNDS; round++) {
        cohort_future *future = cohort__future_create();
        atomic_store(&owner.num_calls, 0);
        atomic_store(&race_other, cohort_future_ref(future));
        atomic_store(&race_future, future);
        if (cohort__future_wait_with(future, &owner.waiter))
            while (atomic_load(&owner.num_calls) == 0)
                sched_yield();
        CHECK(cohort_future_ready(future));
        cohort_future_unref(future);
        while (atomic_load(&race_other))
            sched_yield();
    }
    end_thread(completer);
    end_thread(other);
}

/* --- futures that complete others, in chains and bunches --- */

enum { DEEP = 5000, WIDE = 8 };

static cohort_future *all_of(cohort_future *future)
{
    return cohort_when_all(&future, 1);
}

static cohort_future *any_of(cohort_future *future)
{
    return cohort_when_any(&future, 1, NULL);
}

static cohort_future *some_of(cohort_future *future)
{
    return cohort_when_some(&future, 1, 1, NULL);
}

static cohort_future *each_of(cohort_future *future)
{
    cohort_future *each = NULL;
    CHECK_OK(cohort_when_each(&future, 1, &each, NULL));
    return each;
}

static cohort_status nothing(void *arg)
{
    return COHORT_OK;
}

/* What a program does that has always one future for all that it has started. */
static cohort_future *with_one_more(cohort_future *future)
{
    return cohort_when_all((cohort_future *[]){future, cohort_async(nothing, NULL)}, 2);
}

typedef cohort_future *link_function(cohort_future *future);

/* At each place another kind. */
static cohort_future *in_turn(cohort_future *future)
{
    static link_function *const links[] = {all_of, any_of, some_of, each_of, with_one_more};
    static unsigned num;
    return links[num++ % 5](future);
}

static cohort_status fulfil(void *promise)
{
    cohort_promise_fulfil(promise, NULL);
    return COHORT_OK;
}

static void *fulfil_outside(void *promise)
{
    cohort_promise_fulfil(promise, NULL);
    return NULL;
}

struct chain {
    link_function *link;
    size_t depth;
    bool is_outside; /* it is completed by a thread outside */
};

static cohort_status complete_chain(void *arg)
{
    const struct chain *chain = arg;
    cohort_future *future;
    pthread_t thread;
    cohort_promise *promise = new_promise(&future);
    for (size_t i = 0; i < chain->depth; i++)
        future = chain->link(future);
    CHECK(!cohort_future_ready(future));
    if (chain->is_outside)
        thread = new_thread(fulfil_outside, promise);
    else
        cohort_future_unref(cohort_async(fulfil, promise));
    CHECK_OK(cohort_await(future));
    if (chain->is_outside)
        end_thread(thread);
    return COHORT_OK;
}

/* As deep as what a stack had no room for, and 10 and 100 times as deep. */
TEST(any_depth)
{
    static link_function *const links[] = {all_of,  any_of,        some_of,
                                           each_of, with_one_more, in_turn};
    for (size_t depth = DEEP; depth <= test_rounds(100, 10) * DEEP; depth *= 10)
        for (unsigned i = 0; i < NUM_OF(links); i++)
            for (int is_outside = 0; is_outside < 2; is_outside++)
                CHECK_OK(
                    run_tasks(2, complete_chain, &(struct chain){links[i], depth, is_outside}));
}

struct follower {
    struct cohort__waiter waiter;
    cohort_future *next;
    int *num_running, *order;
    int place;
};

/* While this runs no other one begins. */
static void follow(struct cohort__waiter *waiter)
{
    struct follower *follower = COHORT_CONTAINER_OF(waiter, struct follower, waiter);
    CHECK_INT((*follower->num_running)++, 0);
    follower->place = (*follower->order)++;
    if (follower->next)
        cohort__future_fulfil(follower->next, NULL);
    --*follower->num_running;
}

static void follow_later(struct cohort__waiter *waiter)
{
    cohort__waiter_follow(waiter, follow);
}

/* In the order in which they were notified: those of the first future before those of the next
 * ones. */
TEST(follow)
{
    struct follower followers[1 + 2 * WIDE];
    int num_running = 0, order = 0;
    cohort_future *first = cohort__future_create();
    for (int i = 0; i < 1 + 2 * WIDE; i++)
        followers[i] = (struct follower){
            .waiter.notify = follow_later, .num_running = &num_running, .order = &order};
    for (int i = 0; i < WIDE; i++) {
        struct follower *later = &followers[1 + WIDE + i];
        cohort_future *next = followers[1 + i].next = cohort__future_create();
        CHECK(cohort__future_wait_with(first, &followers[1 + i].waiter));
        CHECK(cohort__future_wait_with(next, &later->waiter));
        cohort_future_unref(next);
    }
    CHECK(cohort__future_wait_with(first, &followers[0].waiter));
    cohort__future_fulfil(first, NULL);
    cohort_future_unref(first);
    CHECK_INT(order, 1 + 2 * WIDE);
    for (int i = 0; i < WIDE; i++)
        CHECK(followers[1 + i].place < followers[1 + WIDE + i].place);
}
