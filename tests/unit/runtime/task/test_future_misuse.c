/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/future.h"

#include <signal.h>
#include <string.h>

#include "runtime/base/sanitizer.h"
#include "tests/unit/runtime/task/run_child.h"

/* What a child says. It ends by SIGABRT, or as the address sanitizer ends it. */
static void abort_in_child(cohort_task_function *function, void *arg, char *text, size_t capacity)
{
    int status = run_child(function, arg, RLIMIT_CORE, 0, text, capacity);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) || (COHORT__ASAN && status != 0));
}

static void check_line(const char *text, const char *function, const char *what)
{
    char begin[64];
    snprintf(begin, sizeof(begin), "cohort: %s, called at ", function);
    CHECK_INT(strncmp(text, begin, strlen(begin)), 0);
    CHECK_CONTAINS(text, "/test_task_future_misuse+0x");
    CHECK_CONTAINS(text, " for the future 0x");
    CHECK_CONTAINS(text, what);
    CHECK(strchr(text, '\n') == text + strlen(text) - 1);
}

/* A future whose last reference was given back. */
static cohort_future *make_gone(void)
{
    cohort_future *future;
    cohort_promise *promise = new_promise(&future);
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(future));
    return future;
}

static cohort_status follow(cohort_future *future, void *arg)
{
    return cohort_await(future);
}

static cohort_status flow(void *const *values, size_t count, void **ret_value, void *arg)
{
    return COHORT_OK;
}

static cohort_status use_ref(cohort_future *gone)
{
    cohort_future_unref(cohort_future_ref(gone));
    return COHORT_OK;
}

static cohort_status use_unref(cohort_future *gone)
{
    cohort_future_unref(gone);
    return COHORT_OK;
}

static cohort_status use_ready(cohort_future *gone)
{
    return cohort_future_ready(gone) ? COHORT_OK : COHORT_ERR_FAILED;
}

static cohort_status use_await(cohort_future *gone)
{
    cohort_status status = cohort_await(gone);
    return status;
}

static cohort_status use_await_value(cohort_future *gone)
{
    void *value;
    cohort_status status = cohort_await_value(gone, &value);
    return status;
}

static cohort_status use_then(cohort_future *gone)
{
    return cohort_await(cohort_then(gone, follow, NULL));
}

static cohort_status use_all(cohort_future *gone)
{
    return cohort_await(cohort_when_all(&gone, 1));
}

static cohort_status use_any(cohort_future *gone)
{
    return cohort_await(cohort_when_any(&gone, 1, NULL));
}

static cohort_status use_some(cohort_future *gone)
{
    return cohort_await(cohort_when_some(&gone, 1, 1, NULL));
}

static cohort_status use_each(cohort_future *gone)
{
    cohort_status status = cohort_when_each(&gone, 1, &gone, NULL);
    return status;
}

static cohort_status use_dataflow(cohort_future *gone)
{
    return cohort_await(cohort_dataflow(&gone, 1, flow, NULL));
}

static cohort_status use_promise(cohort_future *gone)
{
    cohort_promise_fulfil((cohort_promise *)(void *)gone, NULL);
    return COHORT_OK;
}

static const struct use {
    const char *function;
    cohort_status (*run)(cohort_future *gone);
} uses[] = {
    {"cohort_future_ref", use_ref},
    {"cohort_future_unref", use_unref},
    {"cohort_future_ready", use_ready},
    {"cohort_await", use_await},
    {"cohort_await_value", use_await_value},
    {"cohort_then", use_then},
    {"cohort_when_all", use_all},
    {"cohort_when_any", use_any},
    {"cohort_when_some", use_some},
    {"cohort_when_each", use_each},
    {"cohort_dataflow", use_dataflow},
    {"cohort_promise_fulfil", use_promise},
};

static cohort_status run_use(void *arg)
{
    const struct use *use = arg;
    return use->run(make_gone());
}

/* With the address sanitizer it is that which says so. */
TEST(gone)
{
    for (size_t i = 0; i < NUM_OF(uses); i++) {
        char text[16384];
        abort_in_child(run_use, (void *)&uses[i], text, sizeof(text));
        if (COHORT__ASAN)
            CHECK_CONTAINS(text, "heap-use-after-free");
        else
            check_line(text, uses[i].function, "its last reference was given back before");
    }
}

static cohort_status nothing(void *arg)
{
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status await_task_twice(void *arg)
{
    cohort_future *task = cohort_async(nothing, arg);
    CHECK_OK(cohort_await(task));
    cohort_status status = cohort_await(task);
    return status;
}

TEST(task_is_named)
{
    char text[16384];
    abort_in_child(await_task_twice, NULL, text, sizeof(text));
    if (COHORT__ASAN)
        return;
    check_line(text, "cohort_await", "its last reference was given back before");
    CHECK_CONTAINS(text, ": the task ");
}

static cohort_status await_it(void *arg)
{
    cohort_status status = cohort_await(arg);
    return status;
}

/* Two tasks wait for one future, with one reference. */
static cohort_status await_in_two_tasks(void *arg)
{
    cohort_future *future, *tasks[2];
    cohort_promise *promise = new_promise(&future);
    for (int i = 0; i < 2; i++)
        tasks[i] = cohort_async(await_it, future);
    cohort_future *all = cohort_when_all(tasks, 2);
    YIELD_WHILE(!cohort_future_ready(all));
    cohort_promise_fulfil(promise, NULL);
    return cohort_await(all);
}

static cohort_status await_what_all_took(void *arg)
{
    cohort_future *future;
    cohort_promise *promise = new_promise(&future);
    cohort_future *all = cohort_when_all(&future, 1);
    cohort_status status = cohort_await(future);
    cohort_future_unref(all);
    cohort_promise_fulfil(promise, NULL);
    return status;
}

static cohort_status join_twice(void *arg)
{
    cohort_future *futures[2];
    cohort_promise *promise = new_promise(&futures[0]);
    futures[1] = futures[0];
    cohort_future *all = cohort_when_all(futures, 2);
    cohort_promise_fulfil(promise, NULL);
    return cohort_await(all);
}

TEST(shared)
{
    static const char what[] = "another await or combinator waits for it with the same reference";
    char text[16384];
    abort_in_child(await_in_two_tasks, NULL, text, sizeof(text));
    check_line(text, "cohort_await", what);
    abort_in_child(await_what_all_took, NULL, text, sizeof(text));
    check_line(text, "cohort_await", what);
    abort_in_child(join_twice, NULL, text, sizeof(text));
    check_line(text, "cohort_when_all", what);
}

static cohort_status complete_twice(void *arg)
{
    cohort_future *future;
    cohort_promise *promise = new_promise(&future);
    cohort_promise_fulfil(promise, NULL);
    if (arg)
        cohort_promise_fulfil(promise, NULL);
    else
        cohort_promise_fail(promise, COHORT_ERR_GONE, "gone");
    return cohort_await(future);
}

TEST(complete)
{
    char text[16384];
    abort_in_child(complete_twice, text, text, sizeof(text));
    check_line(text, "cohort_promise_fulfil", "was fulfilled, or failed, before");
    abort_in_child(complete_twice, NULL, text, sizeof(text));
    check_line(text, "cohort_promise_fail", "was fulfilled, or failed, before");
}
