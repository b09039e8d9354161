/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cohort/cohort.h"
#include "runtime/task/callbacks.h"
#include "runtime/task/future.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

/* The thread of the test is that of a loop of somebody else's; workers are other threads. */

enum { NUM_STORM = 20000, NUM_STORM_SLOW = 2000 };

/* The linker puts this before the library's function (--wrap). */
void *__real_cohort__slab_alloc_zero(size_t bytes);
static atomic_bool has_no_memory;

void *__wrap_cohort__slab_alloc_zero(size_t bytes)
{
    return has_no_memory ? NULL : __real_cohort__slab_alloc_zero(bytes);
}

static pthread_t runtime;

static void *run_runtime(void *arg)
{
    CHECK_OK(cohort__scheduler_run());
    return arg;
}

static void start(unsigned num_workers)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.num_workers = num_workers;
    options.tasks_move = TASKS_MOVE;
    CHECK_OK(cohort__scheduler_start(&options, NULL));
    runtime = new_thread(run_runtime, NULL);
}

static void stop(void)
{
    cohort__scheduler_stop();
    end_thread(runtime);
    cohort__callbacks_cancel_all();
}

static bool is_readable(const cohort_callbacks *callbacks)
{
    struct pollfd entry = {.fd = cohort_callbacks_fd(callbacks), .events = POLLIN};
    return poll(&entry, 1, 0) == 1;
}

static void await_readable(const cohort_callbacks *callbacks)
{
    struct pollfd entry = {.fd = cohort_callbacks_fd(callbacks), .events = POLLIN};
    while (poll(&entry, 1, -1) != 1)
        CHECK_INT(errno, EINTR);
}

static size_t run(cohort_callbacks *callbacks, size_t most)
{
    size_t num = SIZE_MAX;
    CHECK_OK(cohort_callbacks_run(callbacks, most, &num));
    return num;
}

static cohort_callbacks *create(void)
{
    cohort_callbacks *callbacks = NULL;
    CHECK_OK(cohort_callbacks_create(&callbacks));
    CHECK(!is_readable(callbacks));
    return callbacks;
}

/* What a callback was called with. */
struct record {
    unsigned num_calls;
    cohort_status status;
    void *value;
    char message[120];
    pthread_t thread;
    unsigned place; /* of its call among all */
};

static unsigned num_places;

static void note(cohort_status status, void *value, void *arg)
{
    struct record *record = arg;
    record->num_calls++;
    record->status = status;
    record->value = value;
    record->thread = pthread_self();
    record->place = num_places++;
    snprintf(record->message, sizeof(record->message), "%s", status ? cohort_error_message() : "");
}

static void add(cohort_callbacks *callbacks, cohort_future *future, struct record *record)
{
    CHECK_OK(cohort_callbacks_add(callbacks, future, note, record));
}

static void check_record(const struct record *record, cohort_status status, const char *message)
{
    CHECK_INT(record->num_calls, 1);
    CHECK_INT(record->status, status);
    CHECK_CONTAINS(record->message, message);
    CHECK(pthread_equal(record->thread, pthread_self()));
}

static cohort_status fail(void *arg)
{
    return cohort_fail(COHORT_ERR_FAILED, "%s", (const char *)arg);
}

static cohort_status do_nothing(void *arg)
{
    return COHORT_OK;
}

/* Results come to the thread that runs them, when it does so. */
TEST(result)
{
    int object;
    struct record value = {0}, none = {0}, error = {0};
    cohort_callbacks *callbacks = create();
    cohort_future *future;
    start(2);
    cohort_promise *promise = new_promise(&future);
    add(callbacks, future, &value);
    CHECK(!is_readable(callbacks));
    CHECK_INT(run(callbacks, 0), 0);
    cohort_promise_fulfil(promise, &object);
    CHECK(is_readable(callbacks));
    CHECK_INT(value.num_calls, 0);
    CHECK_INT(run(callbacks, 0), 1);
    check_record(&value, COHORT_OK, "");
    CHECK(value.value == &object);
    CHECK(!is_readable(callbacks));
    add(callbacks, cohort_async(do_nothing, NULL), &none);
    add(callbacks, cohort_async(fail, "out of paper"), &error);
    while (none.num_calls + error.num_calls < 2) {
        await_readable(callbacks);
        CHECK(run(callbacks, 0) > 0);
    }
    check_record(&none, COHORT_OK, "");
    CHECK(!none.value);
    check_record(&error, COHORT_ERR_FAILED, "out of paper");
    CHECK(!error.value);
    stop();
    CHECK_OK(cohort_callbacks_destroy(callbacks));
}

/* A future that is complete calls nobody back within the call that adds it. Nor does a run call
 * what was added in it, so that a loop comes to other things, and its descriptor says that there is
 * more. */
struct chain {
    cohort_callbacks *callbacks;
    unsigned num_left;
};

static void go_on(cohort_status status, void *value, void *arg)
{
    struct chain *chain = arg;
    CHECK_OK(status);
    CHECK(value == chain);
    if (--chain->num_left > 0)
        CHECK_OK(
            cohort_callbacks_add(chain->callbacks, cohort_future_of_value(chain), go_on, chain));
}

TEST(complete)
{
    start(1);
    struct chain chain = {.callbacks = create(), .num_left = 3};
    CHECK_OK(cohort_callbacks_add(chain.callbacks, cohort_future_of_value(&chain), go_on, &chain));
    for (unsigned left = 3; left > 0; left--) {
        CHECK_INT(chain.num_left, left);
        CHECK(is_readable(chain.callbacks));
        CHECK_INT(run(chain.callbacks, 0), 1);
    }
    CHECK(!is_readable(chain.callbacks));
    stop();
    CHECK_OK(cohort_callbacks_destroy(chain.callbacks));
}

/* In the order of the completions, and not more at a time than asked for. */
TEST(bound)
{
    enum { NUM = 5 };
    struct record records[NUM] = {0};
    cohort_promise *promises[NUM];
    cohort_callbacks *callbacks = create();
    start(1);
    for (unsigned i = 0; i < NUM; i++) {
        cohort_future *future;
        promises[i] = new_promise(&future);
        add(callbacks, future, &records[i]);
    }
    for (unsigned i = NUM; i-- > 0;)
        cohort_promise_fulfil(promises[i], NULL);
    num_places = 0;
    CHECK_INT(run(callbacks, 2), 2);
    CHECK(is_readable(callbacks));
    CHECK_INT(run(callbacks, 2), 2);
    CHECK(is_readable(callbacks));
    CHECK_OK(cohort_callbacks_run(callbacks, 2, NULL));
    CHECK(!is_readable(callbacks));
    for (unsigned i = 0; i < NUM; i++) {
        check_record(&records[i], COHORT_OK, "");
        CHECK_INT(records[i].place, NUM - 1 - i);
    }
    stop();
    CHECK_OK(cohort_callbacks_destroy(callbacks));
}

/* A loop that watches by edges is woken for what a run leaves. */
TEST(edges)
{
    struct record records[3] = {0};
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    cohort_callbacks *callbacks = create();
    int loop = epoll_create1(EPOLL_CLOEXEC);
    start(1);
    CHECK_INT(epoll_ctl(loop, EPOLL_CTL_ADD, cohort_callbacks_fd(callbacks), &event), 0);
    CHECK_INT(epoll_wait(loop, &event, 1, 0), 0);
    for (unsigned i = 0; i < 3; i++)
        add(callbacks, cohort_future_of_value(NULL), &records[i]);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_INT(epoll_wait(loop, &event, 1, 0), 1);
        CHECK_INT(epoll_wait(loop, &event, 1, 0), 0);
        CHECK_INT(run(callbacks, 1), 1);
    }
    CHECK_INT(epoll_wait(loop, &event, 1, 0), 0);
    stop();
    CHECK_OK(cohort_callbacks_destroy(callbacks));
    CHECK_INT(close(loop), 0);
}

/* The runtime ends while a future is pending. What completes it later has no effect. A queue serves
 * the next runtime, too. */
TEST(end)
{
    struct record ready = {0}, pending = {0}, late = {0};
    cohort_promise *promise;
    cohort_future *future;
    cohort_callbacks *callbacks = create();
    for (int round = 0; round < 2; round++) {
        ready = pending = (struct record){0};
        start(1);
        promise = new_promise(&future);
        add(callbacks, future, &pending);
        add(callbacks, cohort_future_of_value(NULL), &ready);
        stop();
        CHECK_INT(pending.num_calls, 0);
        CHECK(is_readable(callbacks));
        CHECK_FAILS(cohort_callbacks_add(callbacks, cohort_future_of_value(NULL), note, &late),
                    COHORT_ERR_STATE, "cohort_callbacks_add: the runtime is not up");
        if (round == 1)
            cohort_promise_fulfil(promise, NULL);
        CHECK_INT(run(callbacks, 0), 2);
        check_record(&ready, COHORT_OK, "");
        check_record(&pending, COHORT_ERR_CANCELLED, "the runtime has ended before");
        if (round == 0)
            cohort_promise_fulfil(promise, NULL);
        CHECK_INT(run(callbacks, 0), 0);
        CHECK_INT(pending.num_calls, 1);
        CHECK(!is_readable(callbacks));
    }
    CHECK_INT(late.num_calls, 0);
    CHECK_OK(cohort_callbacks_destroy(callbacks));
}

struct last {
    cohort_callbacks *callbacks;
    struct record added;
    unsigned num_calls;
};

static void add_at_last(cohort_status status, void *value, void *arg)
{
    struct last *last = arg;
    CHECK_OK(status);
    last->num_calls++;
    CHECK_FAILS(cohort_callbacks_run(last->callbacks, 0, NULL), COHORT_ERR_STATE,
                "cohort_callbacks_run: called in a callback");
    CHECK_FAILS(cohort_callbacks_destroy(last->callbacks), COHORT_ERR_STATE,
                "cohort_callbacks_destroy: called in a callback");
    CHECK_FAILS(
        cohort_callbacks_add(last->callbacks, cohort_future_of_value(NULL), note, &last->added),
        COHORT_ERR_STATE, "is being destroyed");
}

/* Each callback is called, once, when the queue is destroyed. */
TEST(destroy)
{
    struct record pending = {0}, other = {0};
    struct last last = {.callbacks = create()};
    cohort_callbacks *callbacks = create();
    cohort_future *future;
    start(1);
    cohort_promise *promise = new_promise(&future);
    add(callbacks, cohort_future_ref(future), &other);
    add(last.callbacks, future, &pending);
    CHECK_OK(
        cohort_callbacks_add(last.callbacks, cohort_future_of_value(NULL), add_at_last, &last));
    CHECK_OK(cohort_callbacks_destroy(last.callbacks));
    check_record(&pending, COHORT_ERR_CANCELLED, "its queue was destroyed");
    CHECK_INT(last.num_calls, 1);
    CHECK_INT(last.added.num_calls, 0);
    cohort_promise_fulfil(promise, NULL);
    CHECK_INT(pending.num_calls, 1);
    CHECK_INT(run(callbacks, 0), 1);
    check_record(&other, COHORT_OK, "");
    stop();
    CHECK_OK(cohort_callbacks_destroy(callbacks));
    CHECK_OK(cohort_callbacks_destroy(NULL));
}

static unsigned num_waiters(cohort_future *future)
{
    unsigned num = 0;
    uintptr_t state = (uintptr_t)atomic_load(&future->state);
    for (const struct cohort__waiter *waiter = (void *)(state & ~(uintptr_t)3); waiter;
         waiter = waiter->next)
        num++;
    return num;
}

/* Callbacks that were cancelled don't pile up in a future that stays pending. */
TEST(forgotten)
{
    enum { NUM = 100, MOST_LEFT = 16 };
    cohort_future *future;
    start(1);
    cohort_promise *promise = new_promise(&future);
    for (unsigned i = 0; i < NUM; i++) {
        struct record record = {0};
        cohort_callbacks *callbacks = create();
        add(callbacks, cohort_future_ref(future), &record);
        CHECK_OK(cohort_callbacks_destroy(callbacks));
        CHECK_INT(record.num_calls, 1);
        CHECK(num_waiters(future) <= MOST_LEFT);
    }
    cohort_promise_fulfil(promise, NULL);
    cohort_future_unref(future);
    stop();
}

/* --- refusals --- */

static void check_refused(cohort_callbacks *callbacks, const char *why)
{
    size_t num = 7;
    CHECK_FAILS(cohort_callbacks_run(callbacks, 0, &num), COHORT_ERR_STATE,
                "cohort_callbacks_run: ");
    CHECK_CONTAINS(cohort_error_message(), why);
    CHECK_INT(num, 7);
    CHECK_FAILS(cohort_callbacks_destroy(callbacks), COHORT_ERR_STATE,
                "cohort_callbacks_destroy: ");
    CHECK_CONTAINS(cohort_error_message(), why);
}

static void *run_in_thread(void *arg)
{
    check_refused(arg, "by another thread than the one that has run this queue first");
    return NULL;
}

static cohort_status run_in_task(void *arg)
{
    check_refused(arg, "by a thread of the runtime");
    return COHORT_OK;
}

TEST(wrong_thread)
{
    struct record record = {0};
    cohort_callbacks *callbacks = create();
    start(2);
    add(callbacks, cohort_future_of_value(NULL), &record);
    CHECK_OK(cohort_await(cohort_async(run_in_task, callbacks)));
    CHECK_INT(record.num_calls, 0);
    CHECK_INT(run(callbacks, 1), 1);
    add(callbacks, cohort_future_of_value(NULL), &record);
    pthread_t thread = new_thread(run_in_thread, callbacks);
    end_thread(thread);
    CHECK_INT(record.num_calls, 1);
    pid_t child = fork();
    if (child == 0) {
        check_refused(callbacks, "in a process that was forked");
        _exit(0);
    }
    int status = -1;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    CHECK(is_readable(callbacks));
    stop();
    CHECK_OK(cohort_callbacks_destroy(callbacks));
    CHECK_INT(record.num_calls, 2);
}

TEST(bad_parameters)
{
    cohort_callbacks *callbacks = create();
    struct record record = {0};
    CHECK_FAILS(cohort_callbacks_create(NULL), COHORT_ERR_BAD_PARAMETER,
                "cohort_callbacks_create: ret_callbacks is NULL");
    CHECK_INT(cohort_callbacks_fd(NULL), -1);
    CHECK_INT(cohort_callbacks_run(NULL, 0, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(cohort_callbacks_add(callbacks, cohort_future_of_value(&record), note, &record),
                COHORT_ERR_STATE, "cohort_callbacks_add: the runtime is not up");
    start(1);
    CHECK_FAILS(cohort_callbacks_add(NULL, cohort_future_of_value(&record), note, NULL),
                COHORT_ERR_BAD_PARAMETER, "cohort_callbacks_add: callbacks is NULL");
    CHECK_FAILS(cohort_callbacks_add(callbacks, NULL, note, NULL), COHORT_ERR_BAD_PARAMETER,
                "cohort_callbacks_add: future is NULL");
    CHECK_FAILS(cohort_callbacks_add(callbacks, cohort_future_of_value(&record), NULL, NULL),
                COHORT_ERR_BAD_PARAMETER, "cohort_callbacks_add: function is NULL");
    stop();
    CHECK_INT(run(callbacks, 0), 0);
    CHECK_OK(cohort_callbacks_destroy(callbacks));
    CHECK_INT(record.num_calls, 0);
}

/* The references that are given are taken; leaks would show in a build with a sanitizer. */
TEST(no_memory)
{
    struct record record = {0};
    cohort_callbacks *callbacks = create(), *other = NULL;
    start(1);
    cohort_future *future = cohort_future_of_value(&record);
    has_no_memory = true;
    CHECK_INT(cohort_callbacks_create(&other), COHORT_ERR_NO_MEMORY);
    CHECK_INT(cohort_callbacks_add(callbacks, future, note, &record), COHORT_ERR_NO_MEMORY);
    has_no_memory = false;
    CHECK_CONTAINS(cohort_error_message(), "cohort_callbacks_add: no memory");
    CHECK_INT(run(callbacks, 0), 0);
    stop();
    CHECK_OK(cohort_callbacks_destroy(callbacks));
    struct rlimit limit, none;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
    CHECK_INT(cohort_callbacks_create(&other), COHORT_ERR_NO_MEMORY);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_CONTAINS(cohort_error_message(), "cohort_callbacks_create: eventfd: ");
    CHECK(!other);
    CHECK_INT(record.num_calls, 0);
}

/* --- many --- */

/* The loop sleeps whenever nothing is ready, so a wake-up that gets lost is a test that hangs. */
struct storm {
    cohort_callbacks *callbacks;
    unsigned num_begun, num_ended, num;
};

static cohort_status hop(void *arg)
{
    cohort_yield();
    return arg ? COHORT_OK : cohort_fail(COHORT_ERR_FAILED, "hop");
}

static void hop_again(cohort_status status, void *value, void *arg)
{
    struct storm *storm = arg;
    CHECK_OK(status);
    CHECK(!value);
    storm->num_ended++;
    if (storm->num_begun < storm->num) {
        storm->num_begun++;
        CHECK_OK(
            cohort_callbacks_add(storm->callbacks, cohort_async(hop, storm), hop_again, storm));
    }
}

static cohort_status add_in_task(void *arg)
{
    struct storm *storm = arg;
    return cohort_callbacks_add(storm->callbacks, cohort_async(hop, storm), hop_again, storm);
}

TEST(storm)
{
    enum { NUM_AT_A_TIME = 3 };
    struct storm storm = {.callbacks = create(),
                          .num = (unsigned)test_rounds(NUM_STORM, NUM_STORM_SLOW)};
    start(3);
    for (unsigned i = 0; i < NUM_AT_A_TIME; i++)
        cohort_future_unref(cohort_async(add_in_task, &storm));
    storm.num_begun = NUM_AT_A_TIME;
    while (storm.num_ended < storm.num) {
        await_readable(storm.callbacks);
        run(storm.callbacks, 2);
    }
    CHECK(!is_readable(storm.callbacks));
    stop();
    CHECK_OK(cohort_callbacks_destroy(storm.callbacks));
    CHECK_INT(storm.num_ended, storm.num);
}

/* Others complete what is pending while the queue is destroyed. */
static void complete(void *arg)
{
    cohort_promise **promises = arg;
    for (unsigned i = 0; promises[i]; i++)
        cohort_promise_fulfil(promises[i], NULL);
}

static void *complete_in_thread(void *arg)
{
    complete(arg);
    return NULL;
}

TEST(destroy_race)
{
    enum { NUM = 30 };
    unsigned num_rounds = (unsigned)test_rounds(300, 30);
    start(1);
    for (unsigned round = 0; round < num_rounds; round++) {
        struct record records[NUM] = {0};
        cohort_promise *promises[NUM + 1] = {0};
        cohort_callbacks *callbacks = create();
        for (unsigned i = 0; i < NUM; i++) {
            cohort_future *future;
            promises[i] = new_promise(&future);
            add(callbacks, future, &records[i]);
        }
        pthread_t thread = new_thread(complete_in_thread, promises);
        if (round % 2)
            run(callbacks, 3);
        CHECK_OK(cohort_callbacks_destroy(callbacks));
        for (unsigned i = 0; i < NUM; i++)
            CHECK_INT(records[i].num_calls, 1);
        end_thread(thread);
        for (unsigned i = 0; i < NUM; i++)
            CHECK_INT(records[i].num_calls, 1);
    }
    stop();
}
