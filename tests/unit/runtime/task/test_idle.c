/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/task/future.h"
#include "runtime/task/worker.h"
#include "tests/unit/runtime/task/run_tasks.h"

/* What a worker does before the task that awaits a collective suspends. Its looks depend on time:
 * it may be preempted, and then polls. So these tests go on until they have seen what they want. */

/* What stands in for other processes. */
struct others {
    cohort_future *pending; /* of the call that waits for them; NULL: it is over */
    bool are_absent;        /* no memory is shared with them */
    bool are_slow;          /* nothing of theirs is seen by looks */
    unsigned num_looks, num_polls, num_seen;
};

static struct others others;

static void end_call(void)
{
    cohort_future *future = others.pending;
    others.pending = NULL;
    if (future)
        cohort__future_complete(future, COHORT_OK, NULL);
}

/* The third look finds something. What goes wrong meanwhile is not the task's. */
static bool look(void *context)
{
    CHECK(context == &others);
    CHECK(!cohort__worker_self->context);
    (void)cohort_fail(COHORT_ERR_GONE, "another call");
    if (++others.num_looks % 3 == 0 && !others.are_slow && others.pending) {
        others.num_seen++;
        end_call();
    }
    return !others.are_absent;
}

static bool poll(void *context)
{
    CHECK(context == &others);
    others.num_polls++;
    end_call();
    return cohort__plain_loop_hooks()->poll(NULL);
}

static bool park(void *context)
{
    return cohort__plain_loop_hooks()->park(NULL);
}

static void call_and_await(enum cohort__wait_kind about)
{
    others.pending = cohort__future_create_about(about);
    CHECK(others.pending);
    (void)cohort_fail(COHORT_ERR_FAILED, "the task's own");
    CHECK_OK(cohort_await(others.pending));
    CHECK(!others.pending);
    CHECK_INT(cohort__error_slot()->status, COHORT_ERR_FAILED);
    CHECK(cohort__worker_self->context);
}

static void run(cohort_task_function *task)
{
    struct cohort__scheduler_hooks hooks = *cohort__plain_loop_hooks();
    struct cohort__scheduler_options options;
    hooks.context = &others;
    hooks.look = look;
    hooks.poll = poll;
    hooks.park = park;
    cohort__scheduler_options_init(&options);
    options.num_workers = 1;
    options.tasks_move = TASKS_MOVE;
    CHECK_OK(cohort__scheduler_start(&options, &hooks));
    cohort_future *done = cohort_async(task, NULL);
    CHECK_OK(cohort__scheduler_run());
    CHECK_OK(cohort_await(done));
    cohort__plain_loop_fini();
}

TEST_TASK(sees_the_end, run(task))
{
    others = (struct others){0};
    while (others.num_seen < 100)
        call_and_await(COHORT__WAIT_COLLECTIVE);
    cohort__scheduler_stop();
}

/* It would be over soon, too. */
TEST_TASK(polls_in_between, run(task))
{
    others = (struct others){0};
    for (unsigned i = 1; i <= 100; i++) {
        cohort__scheduler_poll_next();
        call_and_await(COHORT__WAIT_COLLECTIVE);
        CHECK(others.num_polls >= i);
    }
    CHECK_INT(others.num_looks, 0);
    cohort__scheduler_stop();
}

TEST_TASK(gives_up, run(task))
{
    others = (struct others){.are_slow = true};
    for (int i = 0; i < 100 || others.num_looks < 10; i++)
        call_and_await(COHORT__WAIT_COLLECTIVE);
    CHECK_INT(others.num_seen, 0);
    others = (struct others){.are_absent = true, .are_slow = true};
    for (unsigned i = 1; i < 100; i++) {
        call_and_await(COHORT__WAIT_COLLECTIVE);
        CHECK(others.num_looks <= i); /* it does not look again */
    }
    cohort__scheduler_stop();
}

static cohort_status end_here(void *arg)
{
    end_call();
    return COHORT_OK;
}

/* Other tasks, and what no collective is. */
TEST_TASK(only_if_that_may_help, run(task))
{
    others = (struct others){0};
    for (int i = 0; i < 100; i++) {
        cohort_future *other = cohort_async(end_here, NULL);
        call_and_await(COHORT__WAIT_COLLECTIVE);
        CHECK_OK(cohort_await(other));
        call_and_await(COHORT__WAIT_GET);
    }
    CHECK_INT(others.num_looks, 0);
    cohort__scheduler_stop();
}
