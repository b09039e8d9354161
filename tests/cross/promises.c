/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/tasks.h"

#include <stdio.h>
#include <string.h>

#include <cohort/uv.h>

#include "tests/support/test.h"

/* Futures that the program completes, in an order that it knows, with values and errors; what
 * combinators, tasks that follow, and callbacks make of them; and functions on the loop. */

enum { MOST_INPUTS = 5 };

struct inputs {
    struct part *part;
    uint32_t num;
    cohort_promise *promises[MOST_INPUTS]; /* NULL: the future is complete */
    cohort_future *futures[MOST_INPUTS];
    cohort_status statuses[MOST_INPUTS];
    uint32_t order[MOST_INPUTS]; /* in which they are complete */
    uint32_t num_complete;
    /* What is made of them. */
    cohort_future *made[MOST_INPUTS];
    size_t indices[MOST_INPUTS];
    uint32_t wanted;
    bool was_cancelled; /* the scope, before that */
    bool is_called;
};

static void *value_of(struct inputs *inputs, uint32_t i)
{
    return &inputs->statuses[i];
}

/* STATUS, with its message, is that of future I. */
static void check_like(const struct inputs *inputs, uint32_t i, cohort_status status)
{
    char text[16];
    CHECK(status == inputs->statuses[i] || is_for_want_of_memory(status));
    if (status != COHORT_ERR_FAILED || scarce_has_failed())
        return;
    snprintf(text, sizeof(text), "input %u", i);
    CHECK_TEXT(cohort_error_message(), text);
}

static cohort_future *make_complete(struct inputs *inputs, uint32_t i)
{
    inputs->order[inputs->num_complete++] = i;
    cohort_future *future = inputs->statuses[i]
                                ? cohort_future_of_error(COHORT_ERR_FAILED, "input %u", i)
                                : cohort_future_of_value(value_of(inputs, i));
    cohort_status status = cohort_await(cohort_future_ref(future));
    check_like(inputs, i, status);
    inputs->statuses[i] = status;
    return future;
}

static void make_inputs(struct inputs *inputs, struct part *part)
{
    *inputs = (struct inputs){.part = part, .num = 1 + part_draw(part, MOST_INPUTS)};
    for (uint32_t i = 0; i < inputs->num; i++) {
        inputs->statuses[i] = part_draw(part, 3) ? COHORT_OK : COHORT_ERR_FAILED;
        if (part_draw(part, 3) == 0 ||
            cohort_promise_create(&inputs->promises[i], &inputs->futures[i]))
            inputs->futures[i] = make_complete(inputs, i);
    }
}

static void complete(struct inputs *inputs, uint32_t i)
{
    cohort_promise *promise = inputs->promises[i];
    if (!promise)
        return;
    inputs->promises[i] = NULL;
    inputs->order[inputs->num_complete++] = i;
    if (inputs->statuses[i])
        cohort_promise_fail(promise, inputs->statuses[i], "input %u", i);
    else
        cohort_promise_fulfil(promise, value_of(inputs, i));
}

static void complete_all(struct inputs *inputs)
{
    uint32_t first = part_draw(inputs->part, inputs->num);
    for (uint32_t i = 0; i < inputs->num; i++) {
        complete(inputs, (first + i) % inputs->num);
        part_pause(inputs->part);
    }
}

static void end_inputs(struct inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->num; i++) {
        void *value = NULL;
        cohort_status status = cohort_await_value(inputs->futures[i], &value);
        check_like(inputs, i, status);
        CHECK(value == (status ? NULL : value_of(inputs, i)));
    }
}

/* Combinators -------------------------------------------------------------------------------- */

/* References to all inputs, for who takes them. */
static cohort_future *const *all_of(struct inputs *inputs, cohort_future **ret_futures)
{
    for (uint32_t i = 0; i < inputs->num; i++)
        ret_futures[i] = cohort_future_ref(inputs->futures[i]);
    return ret_futures;
}

/* The first one in the order of the array that has failed. */
static void check_first_failed(const struct inputs *inputs, cohort_status status)
{
    for (uint32_t i = 0; i < inputs->num; i++)
        if (inputs->statuses[i]) {
            check_like(inputs, i, status);
            return;
        }
    CHECK(status == COHORT_OK || is_for_want_of_memory(status));
}

static void begin_all(struct inputs *inputs, cohort_future *const *futures)
{
    inputs->made[0] = cohort_when_all(futures, inputs->num);
}

static void end_all(struct inputs *inputs)
{
    check_first_failed(inputs, cohort_await(inputs->made[0]));
}

static void begin_any(struct inputs *inputs, cohort_future *const *futures)
{
    inputs->made[0] = cohort_when_any(futures, inputs->num, inputs->indices);
}

static void end_any(struct inputs *inputs)
{
    cohort_status status = cohort_await(inputs->made[0]);
    check_like(inputs, inputs->order[0], status);
    if (!is_for_want_of_memory(status))
        CHECK_INT(inputs->indices[0], inputs->order[0]);
}

static void begin_some(struct inputs *inputs, cohort_future *const *futures)
{
    inputs->wanted = part_draw(inputs->part, inputs->num + 1);
    inputs->made[0] = cohort_when_some(futures, inputs->num, inputs->wanted, inputs->indices);
}

static void end_some(struct inputs *inputs)
{
    cohort_status status = cohort_await(inputs->made[0]);
    CHECK(status == COHORT_OK || is_for_want_of_memory(status));
    for (uint32_t i = 0; i < inputs->wanted && !status; i++)
        CHECK_INT(inputs->indices[i], inputs->order[i]);
}

static void begin_each(struct inputs *inputs, cohort_future *const *futures)
{
    cohort_status status = cohort_when_each(futures, inputs->num, inputs->made, inputs->indices);
    CHECK(status == COHORT_OK || is_for_want_of_memory(status));
    inputs->wanted = status ? 0 : inputs->num;
}

static void end_each(struct inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->wanted; i++) {
        check_like(inputs, inputs->order[i], cohort_await(inputs->made[i]));
        CHECK_INT(inputs->indices[i], inputs->order[i]);
    }
}

/* Whether the task had not begun when the scope was cancelled. */
static bool is_left_out(const struct inputs *inputs, cohort_status status)
{
    CHECK(!inputs->was_cancelled || !inputs->is_called);
    if (status == COHORT_ERR_CANCELLED)
        CHECK(cohort_cancelled() && !inputs->is_called);
    return status == COHORT_ERR_CANCELLED;
}

static cohort_status flow(void *const *values, size_t count, void **ret_value, void *arg)
{
    struct inputs *inputs = arg;
    CHECK_INT(count, inputs->num);
    for (uint32_t i = 0; i < inputs->num; i++)
        CHECK(values[i] == value_of(inputs, i));
    inputs->is_called = true;
    *ret_value = inputs;
    return COHORT_OK;
}

static void begin_flow(struct inputs *inputs, cohort_future *const *futures)
{
    inputs->made[0] = cohort_dataflow(futures, inputs->num, flow, inputs);
}

static void end_flow(struct inputs *inputs)
{
    void *value = NULL;
    cohort_status status = cohort_await_value(inputs->made[0], &value);
    if (!is_left_out(inputs, status))
        check_first_failed(inputs, status);
    CHECK(inputs->is_called == (status == COHORT_OK));
    CHECK(value == (status ? NULL : inputs));
}

static cohort_status follow(cohort_future *future, void *arg)
{
    struct inputs *inputs = arg;
    inputs->is_called = true;
    return cohort_await(future);
}

/* Of the last one. The others' references are given back. */
static void begin_following(struct inputs *inputs, cohort_future *const *futures)
{
    uint32_t last = inputs->num - 1;
    for (uint32_t i = 0; i < last; i++)
        cohort_future_unref(futures[i]);
    inputs->made[0] = cohort_then(futures[last], follow, inputs);
}

static void end_following(struct inputs *inputs)
{
    cohort_status status = cohort_await(inputs->made[0]);
    if (!is_left_out(inputs, status))
        check_like(inputs, inputs->num - 1, status);
}

static const struct {
    void (*begin)(struct inputs *inputs, cohort_future *const *futures);
    void (*end)(struct inputs *inputs);
} combinators[] = {
    {begin_all, end_all},   {begin_any, end_any},   {begin_some, end_some},
    {begin_each, end_each}, {begin_flow, end_flow}, {begin_following, end_following},
};

enum { NUM_COMBINATORS = NUM_OF(combinators) };

static void combine(struct part *part)
{
    struct inputs inputs;
    cohort_future *futures[MOST_INPUTS];
    uint32_t how = part_draw(part, NUM_COMBINATORS);
    make_inputs(&inputs, part);
    inputs.was_cancelled = cohort_cancelled();
    combinators[how].begin(&inputs, all_of(&inputs, futures));
    part_pause(part);
    complete_all(&inputs);
    combinators[how].end(&inputs);
    end_inputs(&inputs);
}

void use_promises(struct part *part)
{
    part_call(part, combine);
}

/* Callbacks ---------------------------------------------------------------------------------- */

struct listing {
    struct inputs inputs;
    cohort_callbacks *callbacks;
    bool is_added[MOST_INPUTS];
    uint32_t called[MOST_INPUTS];
    uint32_t num_called;
};

struct callback {
    struct listing *listing;
    uint32_t i;
};

static void called(cohort_status status, void *value, void *arg)
{
    const struct callback *callback = arg;
    struct listing *listing = callback->listing;
    struct inputs *inputs = &listing->inputs;
    if (inputs->promises[callback->i])
        CHECK_INT(status, COHORT_ERR_CANCELLED);
    else
        check_like(inputs, callback->i, status);
    CHECK(value == (status ? NULL : value_of(inputs, callback->i)));
    CHECK_INT(cohort_callbacks_run(listing->callbacks, 0, NULL), COHORT_ERR_STATE);
    CHECK(listing->num_called < inputs->num);
    listing->called[listing->num_called++] = callback->i;
}

static uint32_t num_ready(const struct listing *listing)
{
    uint32_t num = 0;
    for (uint32_t i = 0; i < listing->inputs.num; i++)
        num += listing->is_added[i] && !listing->inputs.promises[i];
    return num - listing->num_called;
}

static void run_some(struct listing *listing)
{
    uint32_t ready = num_ready(listing), most = part_draw(listing->inputs.part, 3);
    size_t num = 0;
    CHECK_OK(cohort_callbacks_run(listing->callbacks, most, &num));
    CHECK_INT(num, most > 0 && most < ready ? most : ready);
}

/* Those that have come in time have been called in the order in which their futures were complete;
 * and each that was added has been called. */
static void check_called(const struct listing *listing)
{
    const struct inputs *inputs = &listing->inputs;
    uint32_t next = 0, num_added = 0;
    for (uint32_t i = 0; i < inputs->num; i++)
        num_added += listing->is_added[i];
    CHECK_INT(listing->num_called, num_added);
    for (uint32_t i = 0; i < inputs->num_complete; i++)
        if (listing->is_added[inputs->order[i]])
            CHECK_INT(listing->called[next++], inputs->order[i]);
}

static void listen_to(struct listing *listing)
{
    struct inputs *inputs = &listing->inputs;
    struct callback callbacks[MOST_INPUTS];
    for (uint32_t i = 0; i < inputs->num; i++) {
        callbacks[i] = (struct callback){listing, i};
        cohort_status status = cohort_callbacks_add(
            listing->callbacks, cohort_future_ref(inputs->futures[i]), called, &callbacks[i]);
        CHECK(status == COHORT_OK || is_for_want_of_memory(status));
        listing->is_added[i] = status == COHORT_OK;
    }
    for (uint32_t i = inputs->num; i > part_draw(inputs->part, MOST_INPUTS); i--) {
        complete(inputs, i - 1);
        run_some(listing);
        cohort_yield();
    }
    CHECK_OK(cohort_callbacks_destroy(listing->callbacks));
    check_called(listing);
}

/* A thread's queue; what is not complete at its end is so later. */
static void listen_on_thread(struct part *part)
{
    struct listing listing = {.num_called = 0};
    cohort_status status = cohort_callbacks_create(&listing.callbacks);
    CHECK(status == COHORT_OK || is_for_want_of_memory(status));
    if (status)
        return;
    make_inputs(&listing.inputs, part);
    listen_to(&listing);
    complete_all(&listing.inputs);
    end_inputs(&listing.inputs);
}

void use_callbacks(struct part *part)
{
    part_block(part, listen_on_thread);
}

/* The loop ----------------------------------------------------------------------------------- */

struct visit {
    uint32_t num;
    cohort_status status;
};

/* In no task and no scope, where nothing may wait. */
static cohort_status visit(uv_loop_t *loop, void *arg)
{
    struct visit *visit = arg;
    cohort_semaphore *semaphore;
    CHECK(loop && !cohort_scope_current() && !cohort_cancelled());
    visit->num++;
    if (cohort_semaphore_create(0, &semaphore) == COHORT_OK) {
        CHECK_INT(cohort_semaphore_acquire(semaphore, COHORT_NO_LIMIT), COHORT_ERR_STATE);
        cohort_semaphore_unref(semaphore);
    }
    return visit->status ? cohort_fail(visit->status, "of the loop") : COHORT_OK;
}

/* Cancelled or not, it is run. */
static void visit_once(struct part *part)
{
    struct visit one = {0, part_draw(part, 2) ? COHORT_ERR_FAILED : COHORT_OK};
    cohort_status status = cohort_await(cohort_run_on_loop(visit, &one));
    CHECK(status == one.status || is_for_want_of_memory(status));
    CHECK_INT(one.num, is_for_want_of_memory(status) ? 0 : 1);
    if (status == COHORT_ERR_FAILED && !scarce_has_failed())
        CHECK_TEXT(cohort_error_message(), "of the loop");
}

void use_loop(struct part *part)
{
    part_call(part, visit_once);
}
