/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/range.h"

#include <stdbool.h>

#include "cohort/parallel.h"
#include "runtime/base/clock.h"
#include "runtime/base/options.h"
#include "runtime/base/slab.h"
#include "runtime/task/task.h"
#include "runtime/task/worker.h"

/* So long a runner runs indices before it looks whether there is anything else to do: a look costs
 * about 20 ns. */
enum { BATCH_NANOSECONDS = 5000 };

struct range {
    cohort_future *result;
    cohort_range_function *function;
    void *arg;
    size_t grain;
    _Atomic size_t num_runners;
    atomic_bool has_failed;
    struct cohort__error error; /* of the first call that has failed */
};

struct cohort__range_runner {
    struct cohort__task task; /* first: it is freed as a future */
    struct range *range;
    size_t next, end;
    struct cohort__range_runner *outer; /* the next one down on the same stack */
};

/* --- the range as a whole --- */

static void fail(struct range *range, size_t index, cohort_status status)
{
    if (atomic_exchange(&range->has_failed, true))
        return;
    const struct cohort__error *own = cohort__error_slot();
    if (own->status == status && own->text)
        cohort__error_set(&range->error, status, "cohort_parallel_for: index %zu: %s", index,
                          cohort_error_message());
    else
        cohort__error_set(&range->error, status, "cohort_parallel_for: index %zu failed", index);
}

/* A runner has come to its end. */
static void arrive(struct range *range)
{
    if (atomic_fetch_sub_explicit(&range->num_runners, 1, memory_order_acq_rel) > 1)
        return;
    cohort__future_complete(range->result, range->error.status, &range->error);
    cohort__error_fini(&range->error);
    cohort__slab_free(range);
}

/* --- runners --- */

/* Starts a runner for the indices from BEGIN to END - 1. False: there is no memory for it. */
static bool start(struct range *range, size_t begin, size_t end)
{
    struct cohort__range_runner *runner = cohort__slab_alloc(sizeof(*runner));
    if (!runner)
        return false;
    cohort__task_init(&runner->task, cohort__range_run, runner);
    cohort_future_unref(&runner->task.future); /* nobody awaits it */
    runner->range = range;
    runner->next = begin;
    runner->end = end;
    atomic_fetch_add_explicit(&range->num_runners, 1, memory_order_relaxed);
    atomic_store_explicit(&runner->task.future.claim, COHORT__TASK_OPEN, memory_order_release);
    if (cohort__scheduler_submit(&runner->task.work, true))
        return true;
    cohort__slab_free(runner);
    atomic_fetch_sub_explicit(&range->num_runners, 1, memory_order_relaxed);
    return false;
}

/* What is left stays here if there is no memory. */
static void give(struct cohort__range_runner *runner, size_t count)
{
    if (count > 0 && start(runner->range, runner->end - count, runner->end))
        runner->end -= count;
}

void cohort__range_hand_on(struct cohort__range_runner *runner)
{
    for (; runner; runner = runner->outer)
        give(runner, runner->end - runner->next);
}

void cohort__range_cancel(void *arg)
{
    struct range *range = ((struct cohort__range_runner *)arg)->range;
    if (!atomic_exchange(&range->has_failed, true))
        cohort__error_set(&range->error, COHORT_ERR_CANCELLED,
                          "cohort_parallel_for: the runtime ended before all indices had begun");
    arrive(range);
}

/* Gives half of what is left to an idle worker. If there is something to steal already, that is
 * enough. */
static void split(struct cohort__worker *worker, struct cohort__range_runner *runner)
{
    size_t left = runner->end - runner->next;
    if (left > 1 && left > runner->range->grain && cohort__idle_is_any() &&
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

static cohort_status run_batch(struct cohort__range_runner *runner, size_t count)
{
    const struct range *range = runner->range;
    for (; count > 0 && runner->next < runner->end; count--) {
        size_t index = runner->next++;
        cohort_status status = range->function(index, range->arg);
        if (status != COHORT_OK)
            return status;
    }
    return COHORT_OK;
}

cohort_status cohort__range_run(void *arg)
{
    struct cohort__range_runner *runner = arg;
    struct range *range = runner->range;
    struct cohort__worker *worker = cohort__worker_self;
    struct cohort__fiber *fiber = worker->fiber;
    size_t batch = 1;
    runner->outer = fiber->runners;
    fiber->runners = runner;
    while (runner->next < runner->end && !atomic_load(&range->has_failed)) {
        split(worker, runner);
        uint64_t begin = cohort__clock_ticks();
        cohort_status status = run_batch(runner, batch);
        if (status != COHORT_OK)
            fail(range, runner->next - 1, status);
        uint64_t elapsed = cohort__clock_ticks() - begin;
        if (elapsed < cohort__clock_ticks_of(BATCH_NANOSECONDS))
            batch *= 2;
        else
            batch -= batch / 2;
        if (cohort__worker_poll_is_due(worker))
            let_others_run(fiber, runner);
    }
    fiber->runners = runner->outer;
    arrive(range);
    return COHORT_OK;
}

/* --- the public function --- */

static cohort_future *check(size_t begin, size_t end, const struct cohort_range_options *given,
                            size_t options_bytes, cohort_range_function *function,
                            struct cohort_range_options *ret_options)
{
    const char *name = "cohort_parallel_for";
    if (!function)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: function is NULL", name);
    if (begin > end)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: begin %zu is beyond end %zu",
                                      name, begin, end);
    cohort_status status = COHORT_OK;
    if (given)
        status = cohort__options_read(ret_options, sizeof(*ret_options), given, options_bytes,
                                      "cohort_range_options");
    if (status != COHORT_OK)
        return cohort_future_of_error(status, "%s: %s", name, cohort_error_message());
    return NULL;
}

static bool is_up(void)
{
    bool is_up = cohort__scheduler_hold();
    cohort__scheduler_release();
    return is_up;
}

cohort_future *cohort_parallel_for_sized(size_t begin, size_t end,
                                         const struct cohort_range_options *options,
                                         size_t options_bytes, cohort_range_function *function,
                                         void *arg)
{
    struct cohort_range_options read = {0};
    cohort_future *refused = check(begin, end, options, options_bytes, function, &read);
    if (refused)
        return refused;
    if (begin == end)
        return cohort_future_of_value(NULL);
    struct range *range = cohort__slab_alloc_zero(sizeof(*range));
    if (!range)
        return cohort__future_no_memory();
    cohort_future *result = range->result = cohort__future_create();
    range->function = function;
    range->arg = arg;
    range->grain = read.grain;
    if (result && start(range, begin, end))
        return result;
    if (result)
        cohort_future_unref(result); /* the completer's reference */
    cohort_future_unref(result);
    cohort__slab_free(range);
    return is_up() ? cohort__future_no_memory()
                   : cohort__future_of_status(cohort__scheduler_refuse("cohort_parallel_for"),
                                              cohort__error_slot());
}
