/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_UNIT_RUNTIME_IO_RUN_IO_H
#define COHORT_TESTS_UNIT_RUNTIME_IO_RUN_IO_H

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "cohort/scope.h"
#include "cohort/sync.h"
#include "cohort/tcp.h"
#include "cohort/uv.h"
#include "runtime/base/log.h"
#include "runtime/io/object.h"
#include "runtime/loop/loop.h"
#include "runtime/task/scheduler.h"
#include "tests/support/new.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"

/* While there is no memory, nothing can be allocated. The linker puts this before the function. */
static atomic_bool has_no_memory;
void *__real_cohort__slab_alloc_zero(size_t bytes);

void *__wrap_cohort__slab_alloc_zero(size_t bytes)
{
    return has_no_memory ? NULL : __real_cohort__slab_alloc_zero(bytes);
}

/* What the log has said since it was emptied. */
static char logged[2000];

static inline void keep_line(void *context, enum cohort__log_level level, const char *line,
                             size_t bytes)
{
    CHECK_INT(level, COHORT__LOG_WARN);
    CHECK(strlen(logged) + bytes < sizeof(logged));
    strncat(logged, line, bytes);
}

static inline cohort_status run_io_then_stop(void *arg)
{
    cohort_task_function *function = *(cohort_task_function **)arg;
    cohort_status status = function(NULL);
    cohort__scheduler_stop();
    return status;
}

/* Runs FUNCTION as the first task of a runtime with an event loop, and lets that end as a job does.
 * Workers park at once. */
static inline void run_io_with(unsigned num_workers, bool progress_thread,
                               cohort_task_function *function)
{
    struct cohort__loop *loop;
    struct cohort__scheduler_hooks hooks;
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.num_workers = num_workers;
    options.progress_thread = progress_thread;
    options.spin_ns = 0;
    options.yield_polls = 0;
    cohort__log_level_set(COHORT__LOG_WARN);
    cohort__log_sink_set(keep_line, NULL);
    logged[0] = '\0';
    CHECK_OK(cohort__loop_create(&loop));
    cohort__loop_scheduler_hooks(loop, &hooks);
    CHECK_OK(cohort__scheduler_start(&options, &hooks));
    cohort__loop_attach(loop);
    cohort_future *done = cohort_async(run_io_then_stop, &function);
    CHECK_OK(cohort__scheduler_run());
    cohort__loop_attach(NULL);
    cohort__io_end();
    cohort__loop_destroy(loop);
    CHECK_OK(cohort_await(done));
}

/* The same with one worker, with several, and beside a progress thread, and nothing is left open.
 */
static inline void run_io(cohort_task_function *function)
{
    run_io_with(1, false, function);
    CHECK_TEXT(logged, "");
    run_io_with(3, false, function);
    CHECK_TEXT(logged, "");
    run_io_with(2, true, function);
    CHECK_TEXT(logged, "");
}

/* Checks that FUTURE fails with STATUS and a message in which there is TEXT. */
static inline void check_fails(cohort_future *future, cohort_status status, const char *text)
{
    CHECK_FAILS(cohort_await(future), status, text);
}

/* A thread that calls THEN when the runtime's end has cancelled a call. */
struct at_end {
    pthread_t thread;
    cohort_future *cancelled;
    void (*then)(void);
};

static inline void *wait_for_end(void *arg)
{
    const struct at_end *at_end = arg;
    while (!cohort_future_ready(at_end->cancelled))
        sched_yield();
    at_end->then();
    return NULL;
}

static inline void at_end_start(struct at_end *at_end, cohort_future *cancelled, void (*then)(void))
{
    at_end->cancelled = cancelled;
    at_end->then = then;
    at_end->thread = new_thread(wait_for_end, at_end);
}

static inline void at_end_join(struct at_end *at_end)
{
    end_thread(at_end->thread);
}

/* A connection, both ends of which are here. */
struct pair {
    cohort_tcp *ends[2];
};

static inline void pair_create(struct pair *pair)
{
    cohort_tcp_listener *listener;
    CHECK_OK(cohort_await(cohort_tcp_listen("127.0.0.1", 0, &listener)));
    cohort_future *accepted = cohort_tcp_accept(listener, &pair->ends[0]);
    CHECK_OK(cohort_await(
        cohort_tcp_connect("127.0.0.1", cohort_tcp_listener_port(listener), &pair->ends[1])));
    CHECK_OK(cohort_await(accepted));
    cohort_tcp_listener_unref(listener);
}

static inline void pair_unref(struct pair *pair)
{
    cohort_tcp_unref(pair->ends[0]);
    cohort_tcp_unref(pair->ends[1]);
}

/* Waits until all calls that were made before this have begun. */
static inline cohort_status do_nothing(uv_loop_t *loop, void *arg)
{
    return loop ? COHORT_OK : COHORT_ERR_FAILED;
}

static inline void let_begin(void)
{
    CHECK_OK(cohort_await(cohort_run_on_loop(do_nothing, NULL)));
}

/* A call in a scope. */
struct scoped {
    cohort_future *(*call)(void *arg);
    void *arg;
    cohort_latch *is_made;
};

static inline cohort_status make_call(void *arg)
{
    struct scoped *scoped = arg;
    cohort_future *future = scoped->call(scoped->arg);
    CHECK_OK(cohort_latch_count_down(scoped->is_made, 1));
    check_fails(future, COHORT_ERR_CANCELLED, ": its scope was cancelled");
    check_fails(scoped->call(scoped->arg), COHORT_ERR_CANCELLED, ": its scope was cancelled");
    return COHORT_OK;
}

/* Cancels the scope of CALL(ARG) when it has begun, and BEFORE, unless it is NULL, has returned.
 * Checks that it ends, and another one, too. */
static inline void check_cancel(cohort_future *(*call)(void *arg), void *arg, void (*before)(void))
{
    struct scoped scoped = {.call = call, .arg = arg};
    CHECK_OK(cohort_latch_create(1, &scoped.is_made));
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, make_call, &scoped));
    CHECK_OK(cohort_latch_wait(scoped.is_made, COHORT_NO_LIMIT));
    let_begin();
    if (before)
        before();
    cohort_scope_cancel(scope);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    cohort_latch_unref(scoped.is_made);
}

#endif
