/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/range.h"

#include "cohort/parallel.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/options.h"
#include "runtime/base/slab.h"
#include "runtime/task/future.h"
#include "runtime/task/inputs.h"
#include "runtime/task/scope.h"
#include "runtime/task/task.h"
#include "runtime/task/worker.h"

/* So long a runner runs indices before it looks whether there is anything else to do. A look reads
 * the processor's counter three times, 10 ns each. */
enum { BATCH_NANOSECONDS = 5000 };

struct range {
    struct cohort__range_body *body;
    cohort_future *result;
    struct cohort__inputs inputs; /* until it is over */
    cohort_scope *scope;          /* of its task; each runner counts there */
    _Atomic size_t num_runners;
    atomic_bool has_failed;
    struct cohort__error error; /* of the first call that has failed */
};

/* The task of a chunk. */
struct cohort__range_runner {
    struct cohort__extended_task task; /* first: it is freed as a future */
    struct range *range;
    struct cohort__range_chunk chunk;
    struct cohort__range_runner *outer; /* the next one down on the same stack */
};

/* --- the range as a whole --- */

static void fail(struct range *range, size_t index, cohort_status status)
{
    if (atomic_exchange(&range->has_failed, true))
        return;
    const struct cohort__error *own = cohort__error_slot();
    if (own->status == status && own->text)
        cohort__error_set(&range->error, status, "%s: index %zu: %s", range->body->name, index,
                          cohort_error_message());
    else
        cohort__error_set(&range->error, status, "%s: index %zu failed", range->body->name, index);
}

static void end(struct range *range)
{
    cohort_future *result = range->result;
    struct cohort__error own = {0};
    cohort__inputs_end(&range->inputs);
    struct cohort__error *slot = cohort__error_slot_set(&range->error);
    cohort_status status = range->body->over(range->body, range->error.status);
    cohort__error_slot_set(slot);
    if (status != COHORT_OK)
        cohort__error_copy(&own, &range->error);
    cohort__error_fini(&range->error);
    cohort__slab_free(range);
    cohort__future_complete(result, status, &own);
    cohort__error_fini(&own);
}

static void describe(struct cohort__inputs *inputs, uint64_t since)
{
    const struct range *range = COHORT_CONTAINER_OF(inputs, struct range, inputs);
    const size_t num = atomic_load_explicit(&range->num_runners, memory_order_relaxed);
    const struct cohort__inputs_line line = {.since = since,
                                             .of = (uintptr_t)range->result,
                                             .scope = (uintptr_t)range,
                                             .num = num,
                                             .wanted = num,
                                             .kind = COHORT__INPUTS_RANGE};
    cohort__inputs_tell(&line);
}

/* A runner has come to its end. */
static void arrive(struct cohort__range_runner *runner)
{
    struct range *range = runner->range;
    if (range->body->chunk_over)
        range->body->chunk_over(range->body, &runner->chunk);
    if (atomic_fetch_sub_explicit(&range->num_runners, 1, memory_order_acq_rel) == 1)
        end(range);
}

/* --- runners --- */

static cohort_status run_chunk(void *arg);
static void cancel_chunk(void *arg, const struct cohort__error *why);

/* NULL: there is no memory. */
static struct cohort__range_runner *create(struct range *range, size_t begin, size_t end)
{
    struct cohort__range_runner *runner = cohort__slab_alloc(sizeof(*runner));
    if (!runner)
        return NULL;
    cohort__extended_task_init(&runner->task, run_chunk, runner, range->body->shown, range->scope);
    runner->task.cancel = cancel_chunk;
    cohort_future_unref(&runner->task.task.future); /* nobody awaits it */
    runner->range = range;
    runner->chunk = (struct cohort__range_chunk){begin, end, NULL};
    return runner;
}

/* It was not submitted. NULL is fine. */
static void discard(struct cohort__range_runner *runner)
{
    if (runner)
        cohort__scope_leave(runner->task.scope);
    cohort__slab_free(runner);
}

/* False: the runtime is not up, or takes no task of this thread. */
static bool submit(struct cohort__range_runner *runner)
{
    struct range *range = runner->range;
    atomic_fetch_add_explicit(&range->num_runners, 1, memory_order_relaxed);
    atomic_store_explicit(&runner->task.task.future.claim, COHORT__TASK_OPEN, memory_order_release);
    if (cohort__scheduler_submit(&runner->task.task.work, true))
        return true;
    atomic_fetch_sub_explicit(&range->num_runners, 1, memory_order_relaxed);
    return false;
}

/* Gives the last COUNT indices of RUNNER to a new one. They stay if there is no memory. Only in a
 * task. */
static void give(struct cohort__range_runner *runner, size_t count)
{
    struct cohort__range_body *body = runner->range->body;
    struct cohort__range_chunk *chunk = &runner->chunk;
    if (count == 0)
        return;
    struct cohort__range_runner *other = create(runner->range, chunk->end - count, chunk->end);
    if (!other)
        return;
    if (body->split && !body->split(body, chunk, &other->chunk)) {
        discard(other);
        return;
    }
    chunk->end -= count;
    submit(other);
}

static void note(const struct range *range, struct cohort__wait_line *line)
{
    const uintptr_t task = atomic_load_explicit(&line->task, memory_order_relaxed);
    atomic_store_explicit(&line->range, (uintptr_t)range, memory_order_relaxed);
    atomic_store_explicit(&line->task, task | COHORT__WAIT_LINE_IS_IN_RANGE, memory_order_release);
}

void cohort__range_hand_on(struct cohort__range_runner *runner, struct cohort__wait_line *line)
{
    note(runner->range, line);
    for (; runner; runner = runner->outer)
        give(runner, runner->chunk.end - runner->chunk.next);
}

static void stop(struct range *range, const struct cohort__error *why)
{
    if (!atomic_exchange(&range->has_failed, true))
        cohort__error_set(&range->error, why->status, "%s: not all indices have begun: %s",
                          range->body->name, cohort__error_message(why));
}

static void cancel_chunk(void *arg, const struct cohort__error *why)
{
    struct cohort__range_runner *runner = arg;
    stop(runner->range, why);
    arrive(runner);
}

/* Whether RANGE begins no more indices. */
static bool is_over(struct range *range)
{
    struct cohort__error why = {0};
    if (atomic_load(&range->has_failed))
        return true;
    if (!range->scope || !cohort__scope_is_cancelled(range->scope))
        return false;
    cohort__scope_explain(range->scope, "task", &why);
    stop(range, &why);
    cohort__error_fini(&why);
    return true;
}

/* Gives half of what is left to an idle worker. If there is something to steal already, that is
 * enough. */
static void split(struct cohort__worker *worker, struct cohort__range_runner *runner)
{
    size_t left = runner->chunk.end - runner->chunk.next;
    if (left > 1 && left > runner->range->body->grain && cohort__idle_is_any() &&
        cohort__deque_is_empty(&worker->deque))
        give(runner, left / 2);
}

/* Other work of this worker has its turn. What is left of the range stays with RUNNER. */
static void let_others_run(struct cohort__fiber *fiber, struct cohort__range_runner *runner)
{
    fiber->runners = runner->outer;
    cohort_yield();
    fiber->runners = runner;
}

/* Runs COUNT indices or fewer. Returns how many it should be the next time. */
static size_t run_batch(struct cohort__range_runner *runner, size_t count)
{
    struct cohort__range_body *body = runner->range->body;
    uint64_t begin = cohort__clock_cycles();
    cohort_status status = body->run(body, &runner->chunk, count);
    if (status != COHORT_OK)
        fail(runner->range, runner->chunk.next - 1, status);
    uint64_t elapsed = cohort__clock_cycles() - begin;
    return elapsed < cohort__clock_cycles_of(BATCH_NANOSECONDS) ? 2 * count : count - count / 2;
}

static cohort_status run_chunk(void *arg)
{
    struct cohort__range_runner *runner = arg;
    struct cohort__range_chunk *chunk = &runner->chunk;
    struct cohort__fiber *fiber = cohort__worker_self->fiber;
    size_t batch = 1;
    runner->outer = fiber->runners;
    fiber->runners = runner;
    while (chunk->next < chunk->end && !is_over(runner->range)) {
        split(fiber->worker, runner);
        batch = run_batch(runner, batch);
        if (cohort__worker_poll_is_due(fiber->worker))
            let_others_run(fiber, runner);
    }
    fiber->runners = runner->outer;
    arrive(runner);
    return COHORT_OK;
}

/* --- for the public functions --- */

cohort_future *cohort__range_check(const char *name, size_t begin, size_t end, bool has_function,
                                   const cohort_range_options *options, size_t options_bytes,
                                   cohort_range_options *ret_options)
{
    if (!has_function)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: function is NULL", name);
    if (begin > end)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: begin %zu is beyond end %zu",
                                      name, begin, end);
    *ret_options = (cohort_range_options){0};
    cohort_status status = COHORT_OK;
    if (options)
        status = cohort__options_read(ret_options, sizeof(*ret_options), options, options_bytes,
                                      "cohort_range_options");
    if (status != COHORT_OK)
        return cohort_future_of_error(status, "%s: %s", name, cohort_error_message());
    return NULL;
}

/* Neither RANGE nor RUNNER has begun; each may be NULL. */
static cohort_future *give_up(struct cohort__range_body *body, struct range *range,
                              struct cohort__range_runner *runner)
{
    const char *name = body->name;
    bool may_start = cohort__scheduler_may_start();
    cohort_status status = may_start ? COHORT_ERR_NO_MEMORY : cohort__scheduler_refuse(name);
    if (may_start)
        cohort_fail(status, "%s: no memory", name);
    if (range && range->result) {
        cohort_future_unref(range->result);
        cohort_future_unref(range->result);
    }
    discard(runner);
    if (range)
        cohort__inputs_end(&range->inputs);
    cohort__slab_free(range);
    status = body->over(body, status);
    return cohort__future_of_status(status, cohort__error_slot());
}

cohort_future *cohort__range_start(struct cohort__range_body *body, size_t begin, size_t end,
                                   void *data)
{
    struct cohort__range_runner *runner = NULL;
    struct range *range = cohort__slab_alloc_zero(sizeof(*range));
    if (range) {
        range->body = body;
        range->scope = cohort__scope_current();
        range->result = cohort__future_create_about(COHORT__WAIT_SEVERAL);
        runner = create(range, begin, end);
    }
    if (!runner || !range->result)
        return give_up(body, range, runner);
    runner->chunk.data = data;
    cohort_future *result = range->result;
    cohort__inputs_begin(&range->inputs, describe);
    return submit(runner) ? result : give_up(body, range, runner);
}

struct parallel_for {
    struct cohort__range_body body;
    cohort_range_function *function;
    void *arg;
};

static struct parallel_for *of(struct cohort__range_body *body)
{
    return COHORT_CONTAINER_OF(body, struct parallel_for, body);
}

static cohort_status run(struct cohort__range_body *body, struct cohort__range_chunk *chunk,
                         size_t count)
{
    cohort_range_function *function = of(body)->function;
    void *arg = of(body)->arg;
    for (; count > 0 && chunk->next < chunk->end; count--) {
        cohort_status status = function(chunk->next++, arg);
        if (status != COHORT_OK)
            return status;
    }
    return COHORT_OK;
}

static cohort_status over(struct cohort__range_body *body, cohort_status status)
{
    cohort__slab_free(of(body));
    return status;
}

cohort_future *cohort_parallel_for_sized(size_t begin, size_t end,
                                         const cohort_range_options *options, size_t options_bytes,
                                         cohort_range_function *function, void *arg)
{
    const char *name = "cohort_parallel_for";
    cohort_range_options read;
    cohort_future *refused =
        cohort__range_check(name, begin, end, function != NULL, options, options_bytes, &read);
    if (refused)
        return refused;
    if (begin == end)
        return cohort_future_of_value(NULL);
    struct parallel_for *call = cohort__slab_alloc(sizeof(*call));
    if (!call)
        return cohort__future_no_memory();
    *call = (struct parallel_for){
        .body = {.name = name,
                 .shown = (cohort__any_function *)function,
                 .grain = read.grain,
                 .run = run,
                 .over = over},
        .function = function,
        .arg = arg,
    };
    return cohort__range_start(&call->body, begin, end, NULL);
}
