/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cohort/parallel.h"
#include "cohort/scope.h"
#include "cohort/sync.h"
#include "cohort/uv.h"
#include "runtime/base/log.h"
#include "runtime/loop/loop.h"
#include "runtime/task/scheduler.h"
#include "tests/support/await_within.h"
#include "tests/support/new.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"

/* Workers park at once, so that what is not seen before the loop blocks is not seen at all. */
static struct cohort__scheduler_options options_with(unsigned num_workers, bool progress_thread)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.num_workers = num_workers;
    options.progress_thread = progress_thread;
    options.spin_ns = 0;
    options.yield_polls = 0;
    return options;
}

static cohort_status stop_after(void *arg)
{
    cohort_task_function *function = *(cohort_task_function **)arg;
    cohort_status status = function(NULL);
    cohort__scheduler_stop();
    return status;
}

/* Pollers are armed while the loop may block. */
static bool is_armed;

static bool no_progress(void *context)
{
    return context != NULL;
}

static bool arm(void *context)
{
    is_armed = true;
    return !context;
}

static void disarm(void *context)
{
    is_armed = context != NULL;
}

static void (*before_destroy)(void); /* or NULL */

static void run_one(unsigned num_workers, bool progress_thread, cohort_task_function *function)
{
    struct cohort__loop *loop;
    struct cohort__scheduler_hooks hooks;
    struct cohort__scheduler_options options = options_with(num_workers, progress_thread);
    const struct cohort__poller poller = {
        .progress = no_progress, .arm = arm, .disarm = disarm, .fd = eventfd(0, EFD_CLOEXEC)};
    CHECK_OK(cohort__loop_create(&loop));
    CHECK_OK(cohort__loop_add_poller(loop, &poller));
    cohort__loop_scheduler_hooks(loop, &hooks);
    CHECK_OK(cohort__scheduler_start(&options, &hooks));
    cohort__loop_attach(loop);
    cohort_future_unref(cohort_async(stop_after, &function));
    CHECK_OK(cohort__scheduler_run());
    cohort__loop_attach(NULL);
    cohort__loop_remove_poller(loop, &poller);
    close(poller.fd);
    if (before_destroy)
        before_destroy();
    cohort__loop_destroy(loop);
}

static void run(cohort_task_function *function)
{
    run_one(1, false, function);
    run_one(3, false, function);
    run_one(2, true, function);
}

/* --- functions --- */

static cohort_status as_told(uv_loop_t *loop, void *arg)
{
    CHECK(loop != NULL);
    return arg ? cohort_fail(COHORT_ERR_TIMEOUT, "%s", (const char *)arg) : COHORT_ERR_TIMEOUT;
}

static cohort_status count_up(uv_loop_t *loop, void *arg)
{
    ++*(int *)arg;
    return COHORT_OK;
}

static void *ask_from_outside(void *arg)
{
    CHECK_OK(cohort_await(cohort_run_on_loop(count_up, arg)));
    return NULL;
}

static cohort_status ask(void *arg)
{
    int num = 0;
    CHECK_OK(cohort_await(cohort_run_on_loop(count_up, &num)));
    CHECK_INT(cohort_await(cohort_run_on_loop(as_told, "out of ink")), COHORT_ERR_TIMEOUT);
    CHECK_TEXT(cohort_error_message(), "out of ink");
    CHECK_INT(cohort_await(cohort_run_on_loop(as_told, NULL)), COHORT_ERR_TIMEOUT);
    CHECK_TEXT(cohort_error_message(),
               "cohort_run_on_loop: the function returned COHORT_ERR_TIMEOUT");
    CHECK_FAILS(cohort_await(cohort_run_on_loop(NULL, NULL)), COHORT_ERR_BAD_PARAMETER,
                "function is NULL");
    pthread_t thread = new_thread(ask_from_outside, &num);
    CHECK_OK(cohort_await(cohort_run_on_loop(count_up, &num)));
    CHECK_INT(pthread_join(thread, NULL) + (arg != NULL), 0); /* meanwhile others turn the loop */
    CHECK_INT(num, 3);
    return COHORT_OK;
}

TEST_CALL(functions, run_one(2, true, ask))

enum { NUM_MANY = 1000 };

static cohort_status in_order(uv_loop_t *loop, void *arg)
{
    static int next; /* only the loop's thread */
    CHECK_INT((int)(intptr_t)arg, next);
    next = (next + 1) % NUM_MANY;
    return COHORT_OK;
}

static cohort_status ask_often(void *arg)
{
    static cohort_future *futures[NUM_MANY];
    for (intptr_t i = 0; i < NUM_MANY; i++)
        futures[i] = cohort_run_on_loop(in_order, (void *)i);
    return cohort_await(cohort_when_all(futures, NUM_MANY)) || arg;
}

TEST_CALL(order, run(ask_often))

TEST(not_up)
{
    int num = 0;
    CHECK_FAILS(cohort_await(cohort_run_on_loop(count_up, &num)), COHORT_ERR_STATE,
                "cohort_run_on_loop: ");
    CHECK_INT(num, 0);
}

/* The task does not wait for it, and no worker turns the loop any more. */
static int num_late;

static cohort_status ask_late(uv_loop_t *loop, void *arg)
{
    CHECK(loop != NULL);
    num_late++;
    cohort__scheduler_stop();
    cohort_future_unref(cohort_run_on_loop(count_up, &num_late));
    return COHORT_OK;
}

TEST(last_words)
{
    struct cohort__loop *loop;
    struct cohort__scheduler_hooks hooks;
    struct cohort__scheduler_options options = options_with(1, false);
    num_late = 0;
    CHECK_OK(cohort__loop_create(&loop));
    cohort__loop_scheduler_hooks(loop, &hooks);
    CHECK_OK(cohort__scheduler_start(&options, &hooks));
    cohort__loop_attach(loop);
    cohort_future_unref(cohort_run_on_loop(ask_late, NULL));
    CHECK_OK(cohort__scheduler_run());
    CHECK_INT(num_late, 1);
    cohort_future *refused = cohort_run_on_loop(count_up, &num_late);
    cohort__loop_attach(NULL);
    CHECK_INT(num_late, 2);
    CHECK_INT(cohort_await(refused), COHORT_ERR_STATE);
    cohort__loop_destroy(loop);
}

/* --- handles --- */

static void fulfil_and_close(uv_timer_t *timer)
{
    cohort_promise_fulfil(timer->data, NULL);
    uv_close((uv_handle_t *)timer, (uv_close_cb)free);
}

static cohort_status make_timer(uv_loop_t *loop, void *promise)
{
    uv_timer_t *timer = malloc(sizeof(*timer));
    CHECK(timer && !uv_timer_init(loop, timer));
    timer->data = promise;
    return uv_timer_start(timer, fulfil_and_close, 1, 0) ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status wait_for_timers(void *arg)
{
    cohort_future *futures[20];
    for (int i = 0; i < 20; i++) {
        cohort_promise *promise = new_promise(&futures[i]);
        CHECK_OK(cohort_await(cohort_run_on_loop(make_timer, promise)));
        if (i % 2) /* one after the other, and several at once */
            CHECK_OK(await_within(cohort_future_ref(futures[i]), 10000000000));
    }
    return cohort_await(cohort_when_all(futures, 20)) || arg;
}

TEST_CALL(timer, run(wait_for_timers))

/* This callback runs directly before libuv blocks. Nothing else ever ends that: a handle that
 * closes would, so this one closes later. */
static void fulfil_before_block(uv_prepare_t *prepare)
{
    if (!is_armed)
        return;
    uv_prepare_stop(prepare);
    cohort_promise_fulfil(prepare->data, NULL);
}

static cohort_status make_prepare(uv_loop_t *loop, void *arg)
{
    uv_prepare_t *prepare = arg;
    CHECK(!uv_prepare_init(loop, prepare));
    return uv_prepare_start(prepare, fulfil_before_block) ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status close_prepare(uv_loop_t *loop, void *prepare)
{
    uv_close(prepare, (uv_close_cb)free);
    return loop ? COHORT_OK : COHORT_ERR_FAILED;
}

TEST_TASK(before_block, run(task))
{
    for (int i = 0; i < 20; i++) {
        uv_prepare_t *prepare = malloc(sizeof(*prepare));
        cohort_future *future;
        cohort_promise *promise = new_promise(&future);
        CHECK(prepare != NULL);
        prepare->data = promise;
        cohort_future_unref(cohort_run_on_loop(make_prepare, prepare));
        CHECK_OK(cohort_await(future));
        cohort_future_unref(cohort_run_on_loop(close_prepare, prepare));
    }
}

/* --- what must not be done there --- */

struct attempt {
    cohort_future *future;
    cohort_queue *queue;
};

static cohort_status wait_on_loop(uv_loop_t *loop, void *arg)
{
    const struct attempt *attempt = arg;
    enum cohort_wait_end end;
    void *item;
    CHECK_FAILS(cohort_await(cohort_future_ref(attempt->future)), COHORT_ERR_STATE,
                "where waiting would stop everything");
    CHECK_INT(cohort_wait(attempt->future, COHORT_NO_LIMIT, &end), COHORT_ERR_STATE);
    CHECK_INT(cohort_queue_get(attempt->queue, &item, COHORT_NO_LIMIT), COHORT_ERR_STATE);
    CHECK_INT(cohort_worker_index() >= -1, 1);
    CHECK(!cohort_cancelled());
    return cohort_queue_put(attempt->queue, arg, 0);
}

static cohort_status try_to_wait(void *arg)
{
    struct attempt attempt;
    void *item;
    cohort_promise *promise = new_promise(&attempt.future);
    CHECK_OK(cohort_queue_create(1, &attempt.queue));
    cohort_future *done = cohort_run_on_loop(wait_on_loop, &attempt);
    CHECK_OK(cohort_queue_get(attempt.queue, &item, COHORT_NO_LIMIT));
    CHECK(item == &attempt && !arg);
    CHECK_OK(cohort_await(done));
    cohort_promise_fulfil(promise, NULL);
    cohort_queue_unref(attempt.queue);
    return cohort_await(attempt.future);
}

TEST_CALL(no_waiting, run(try_to_wait))

/* --- what is left open --- */

static char logged[1000];

static void keep_line(void *context, enum cohort__log_level level, const char *line, size_t bytes)
{
    CHECK_INT(level, COHORT__LOG_WARN);
    CHECK(strlen(logged) + bytes < sizeof(logged));
    strncat(logged, line, bytes);
}

static struct {
    uv_timer_t timers[2];
    uv_tcp_t tcp;
    uv_async_t async;
    uv_idle_t closed;
} left;

static void never(uv_timer_t *timer)
{
    FAIL("an hour has passed");
}

static cohort_status leave_open(uv_loop_t *loop, void *arg)
{
    struct sockaddr_in address;
    for (int i = 0; i < 2; i++) {
        CHECK_INT(uv_timer_init(loop, &left.timers[i]), 0);
        CHECK_INT(uv_timer_start(&left.timers[i], never, 3600000, 3600000), 0);
    }
    CHECK_INT(uv_tcp_init(loop, &left.tcp), 0);
    CHECK_INT(uv_ip4_addr("127.0.0.1", 0, &address), 0);
    CHECK_INT(uv_tcp_bind(&left.tcp, (struct sockaddr *)&address, 0), 0);
    CHECK_INT(uv_async_init(loop, &left.async, NULL), 0);
    uv_unref((uv_handle_t *)&left.async);
    CHECK_INT(uv_idle_init(loop, &left.closed), 0);
    uv_close((uv_handle_t *)&left.closed, NULL);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status leave(void *arg)
{
    return cohort_await(cohort_run_on_loop(leave_open, arg));
}

TEST(left_open)
{
    cohort__log_level_set(COHORT__LOG_WARN);
    cohort__log_sink_set(keep_line, NULL);
    run_one(1, false, leave);
    CHECK_CONTAINS(logged, "left 4 handles of libuv open at its end (1 async, 1 tcp, 2 timer)");
    CHECK(strchr(logged, '\n') == strrchr(logged, '\n'));
    logged[0] = '\0';
    run_one(1, false, wait_for_timers);
    CHECK_TEXT(logged, "");
    cohort__log_sink_set(NULL, NULL);
}

/* --- what is under way at the end --- */

static struct {
    uv_work_t request; /* of the program */
    sem_t has_begun, may_end;
    pthread_t main_thread;
    uv_timer_t timer; /* made by a callback at the end */
    uv_async_t async; /* made by another one after that */
    cohort_future *pending;
    cohort_queue *queue;
    int num_ended;
} late;

static cohort_status never_called(void *arg)
{
    FAIL("called after the end, with %p", arg);
}

static cohort_status never_called_then(cohort_future *future, void *arg)
{
    cohort_future_unref(future);
    return never_called(arg);
}

static cohort_status never_called_for(size_t index, void *arg)
{
    return never_called(arg);
}

static cohort_status never_called_with(void *const *values, size_t count, void **ret_value,
                                       void *arg)
{
    return never_called(arg);
}

/* All that needs the runtime. What does not may be used as ever. */
static void check_runtime_is_gone(void)
{
    cohort_scope *scope = NULL;
    cohort_promise *promise;
    cohort_future *future, *others[] = {
                               cohort_async(never_called, NULL),
                               cohort_async_with(never_called, NULL, NULL),
                               cohort_sleep(1),
                               cohort_run_on_loop(count_up, &late.num_ended),
                               cohort_then(cohort_future_of_value(NULL), never_called_then, NULL),
                               cohort_dataflow(NULL, 0, never_called_with, NULL),
                               cohort_parallel_for(0, 9, NULL, never_called_for, NULL),
                           };
    for (size_t i = 0; i < NUM_OF(others); i++) {
        CHECK(cohort_future_ready(others[i]));
        CHECK_INT(cohort_await(others[i]), COHORT_ERR_STATE);
    }
    CHECK_INT(cohort_scope_create(NULL, &scope), COHORT_ERR_STATE);
    CHECK(!scope && !cohort_cancelled() && !cohort_scope_current());
    CHECK_INT(cohort_await(cohort_future_ref(late.pending)), COHORT_ERR_STATE);
    CHECK_INT(cohort_worker_index(), -1);

    promise = new_promise(&future);
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(future));
    CHECK_OK(cohort_queue_put(late.queue, &late, 0));
}

static void async_closed(uv_handle_t *handle)
{
    CHECK(handle == (uv_handle_t *)&late.async);
    check_runtime_is_gone();
    late.num_ended++;
}

/* A timer that is left open, and a handle that it closes itself, whose callback comes then. */
static void make_more(uv_work_t *request, int status)
{
    CHECK(request == &late.request && status == 0);
    CHECK(pthread_equal(pthread_self(), late.main_thread));
    check_runtime_is_gone();
    CHECK_INT(uv_timer_init(request->loop, &late.timer), 0);
    CHECK_INT(uv_timer_start(&late.timer, never, 3600000, 3600000), 0);
    CHECK_INT(uv_async_init(request->loop, &late.async, NULL), 0);
    uv_close((uv_handle_t *)&late.async, async_closed);
    late.num_ended++;
}

static void work(uv_work_t *request)
{
    sem_post(&late.has_begun);
    while (sem_wait(&late.may_end))
        ;
}

static cohort_status start_work(uv_loop_t *loop, void *arg)
{
    return uv_queue_work(loop, &late.request, work, make_more) ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status leave_work(void *arg)
{
    CHECK_OK(cohort_await(cohort_run_on_loop(start_work, arg)));
    while (sem_wait(&late.has_begun))
        ;
    return COHORT_OK;
}

/* Nobody turns the loop any more, so the request is under way, whatever its thread does. */
static void let_work_end(void)
{
    CHECK_INT(late.num_ended, 0);
    sem_post(&late.may_end);
}

TEST(under_way)
{
    cohort__log_level_set(COHORT__LOG_WARN);
    cohort__log_sink_set(keep_line, NULL);
    sem_init(&late.has_begun, 0, 0);
    sem_init(&late.may_end, 0, 0);
    late.main_thread = pthread_self();
    CHECK_OK(cohort_queue_create(9, &late.queue));
    cohort_promise *promise = new_promise(&late.pending);
    for (unsigned num_workers = 1; num_workers <= 2; num_workers++) {
        logged[0] = '\0';
        late.num_ended = 0;
        before_destroy = let_work_end;
        run_one(num_workers, num_workers == 2, leave_work);
        before_destroy = NULL;
        CHECK_INT(late.num_ended, 2);
        CHECK_CONTAINS(logged, "left 1 handle of libuv open at its end (1 timer); closed now\n");
        CHECK(strchr(logged, '\n') == strrchr(logged, '\n'));
    }
    cohort__log_sink_set(NULL, NULL);
    cohort_promise_fulfil(promise, NULL);
    cohort_future_unref(late.pending);
    cohort_queue_unref(late.queue);
}
