/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cohort/scope.h"
#include "cohort/task.h"
#include "runtime/loop/loop.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/worker.h"
#include "tests/counts/cases.h"

/* usage: task_calls CASE ROUNDS: runs the rounds of CASE on one worker. task_instructions.py counts
 * what one of its operations takes, of which a round has as many as its table says. */

enum {
    NUM_TASKS = 100,     /* in a round of when_all, when_any and then */
    NUM_COMBINED = 1000, /* in a round of when_some, when_each and dataflow */
    NUM_SLEEPS = 1000,
    NUM_SCOPES = 1000, /* around each other */
    FIB = 12,
    FIB_RESULT = 144,
};

static cohort_status empty(void *arg)
{
    (void)arg;
    return COHORT_OK;
}

static cohort_status spawn_await(uint64_t rounds)
{
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; !status && i < rounds; i++)
        status = cohort_await(cohort_async(empty, NULL));
    return status;
}

static cohort_status spawn_when_all(uint64_t rounds)
{
    cohort_future *futures[NUM_TASKS];
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; !status && i < rounds; i++) {
        for (size_t task = 0; task < NUM_TASKS; task++)
            futures[task] = cohort_async(empty, NULL);
        status = cohort_await(cohort_when_all(futures, NUM_TASKS));
    }
    return status;
}

/* One of two tasks. Each waits for a promise of its own, which the other fulfils. */
struct side {
    cohort_promise *promise;
    cohort_future *future;
    struct side *other;
    uint64_t rounds;
};

static cohort_status hand_over(struct side *side)
{
    cohort_status status = cohort_promise_create(&side->promise, &side->future);
    cohort_promise_fulfil(side->other->promise, NULL);
    return status ? status : cohort_await(side->future);
}

static cohort_status second_side(void *arg)
{
    struct side *side = arg;
    cohort_status status = cohort_await(side->future);
    for (uint64_t i = 1; !status && i < side->rounds; i++)
        status = hand_over(side);
    cohort_promise_fulfil(side->other->promise, NULL);
    return status;
}

static cohort_status suspend_resume(uint64_t rounds)
{
    struct side first = {.rounds = rounds}, second = {.other = &first, .rounds = rounds};
    first.other = &second;
    cohort_status status = cohort_promise_create(&second.promise, &second.future);
    if (status)
        return status;
    cohort_future *done = cohort_async(second_side, &second);
    for (uint64_t i = 0; !status && i < rounds; i++)
        status = hand_over(&first);
    cohort_status second_status = cohort_await(done);
    return status ? status : second_status;
}

static cohort_status follow(cohort_future *future, void *arg)
{
    ++*(uint64_t *)arg;
    return cohort_await(future);
}

/* Chains that are made first, and then run. */
static cohort_status then(uint64_t rounds)
{
    uint64_t num_links = 0;
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; !status && i < rounds; i++) {
        cohort_promise *promise;
        cohort_future *future;
        status = cohort_promise_create(&promise, &future);
        if (status)
            break;
        for (size_t j = 0; j < NUM_TASKS; j++)
            future = cohort_then(future, follow, &num_links);
        cohort_promise_fulfil(promise, NULL);
        status = cohort_await(future);
    }
    return status || num_links == rounds * NUM_TASKS ? status : COHORT_ERR_FAILED;
}

struct fib {
    uint64_t n;
    uint64_t result;
};

static cohort_status fib(void *arg)
{
    struct fib *call = arg, left = {.n = call->n - 1}, right = {.n = call->n - 2};
    if (call->n < 2) {
        call->result = call->n;
        return COHORT_OK;
    }
    cohort_future *future = cohort_async(fib, &left);
    cohort_status status = fib(&right), left_status = cohort_await(future);
    call->result = left.result + right.result;
    return status ? status : left_status;
}

static cohort_status fork_join(uint64_t rounds)
{
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; !status && i < rounds; i++) {
        struct fib call = {.n = FIB};
        status = fib(&call);
        if (!status && call.result != FIB_RESULT)
            status = COHORT_ERR_FAILED;
    }
    return status;
}

static cohort_status yield_often(void *arg)
{
    for (uint64_t i = *(uint64_t *)arg; i > 0; i--)
        cohort_yield();
    return COHORT_OK;
}

/* Two tasks yield to each other. */
static cohort_status yield(uint64_t rounds)
{
    cohort_future *second = cohort_async(yield_often, &rounds);
    yield_often(&rounds);
    return cohort_await(second);
}

/* How often a busy worker polls depends on the time, and so on how slow valgrind is. So there is no
 * poll but where a round needs one. */
static void poll_never(void)
{
    cohort__worker_self->poll_at = UINT64_MAX / 2;
}

static void poll_now(void)
{
    cohort__worker_self->poll_at = 0;
    cohort_yield();
    poll_never();
}

/* The sleeps are over when the poll looks at them. */
static cohort_status sleep_briefly(uint64_t rounds)
{
    static cohort_future *sleeps[NUM_SLEEPS];
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; !status && i < rounds; i++) {
        for (size_t j = 0; j < NUM_SLEEPS; j++)
            sleeps[j] = cohort_sleep(1);
        poll_now();
        for (size_t j = 0; j < NUM_SLEEPS; j++) {
            cohort_status one = cohort_await(sleeps[j]);
            status = status ? status : one;
        }
    }
    return status;
}

/* Races between a promise of their own and STOP, which all have in common. The oldest one is
 * decided first, while the others wait. */
static cohort_status race(cohort_future *stop)
{
    cohort_promise *promises[NUM_TASKS];
    cohort_future *results[NUM_TASKS];
    cohort_status status = COHORT_OK;
    size_t num = 0;
    for (cohort_future *own; num < NUM_TASKS; num++) {
        status = cohort_promise_create(&promises[num], &own);
        if (status)
            break;
        results[num] =
            cohort_when_any((cohort_future *const[]){own, cohort_future_ref(stop)}, 2, NULL);
    }
    for (size_t i = 0; i < num; i++) {
        cohort_promise_fulfil(promises[i], NULL);
        cohort_status one = cohort_await(results[i]);
        status = status ? status : one;
    }
    return status;
}

static cohort_status when_any(uint64_t rounds)
{
    cohort_promise *promise;
    cohort_future *stop;
    cohort_status status = cohort_promise_create(&promise, &stop);
    if (status)
        return status;
    for (uint64_t i = 0; !status && i < rounds; i++)
        status = race(stop);
    cohort_promise_fulfil(promise, NULL);
    cohort_status stop_status = cohort_await(stop);
    return status ? status : stop_status;
}

/* Promises that are fulfilled from the last one to the first one, after START was called for their
 * futures. It returns a future that completes then. */
static cohort_status combine(uint64_t rounds, cohort_future *(*start)(cohort_future **futures))
{
    static cohort_promise *promises[NUM_COMBINED];
    static cohort_future *futures[NUM_COMBINED];
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; !status && i < rounds; i++) {
        for (size_t j = 0; !status && j < NUM_COMBINED; j++)
            status = cohort_promise_create(&promises[j], &futures[j]);
        if (status)
            break;
        cohort_future *result = start(futures);
        for (size_t j = NUM_COMBINED; j-- > 0;)
            cohort_promise_fulfil(promises[j], NULL);
        status = cohort_await(result);
    }
    return status;
}

static cohort_future *start_some(cohort_future **futures)
{
    static size_t indices[NUM_COMBINED];
    return cohort_when_some(futures, NUM_COMBINED, NUM_COMBINED / 2, indices);
}

static cohort_status when_some(uint64_t rounds)
{
    return combine(rounds, start_some);
}

static cohort_future *start_each(cohort_future **futures)
{
    static size_t indices[NUM_COMBINED];
    cohort_status status = cohort_when_each(futures, NUM_COMBINED, futures, indices);
    if (status)
        return cohort_future_of_error(status, "%s", cohort_error_message());
    for (size_t i = 0; i + 1 < NUM_COMBINED; i++)
        cohort_future_unref(futures[i]);
    return futures[NUM_COMBINED - 1];
}

static cohort_status when_each(uint64_t rounds)
{
    return combine(rounds, start_each);
}

static cohort_status take_inputs(void *const *values, size_t count, void **ret_value, void *arg)
{
    (void)arg;
    *ret_value = values[count - 1];
    return COHORT_OK;
}

static cohort_future *start_dataflow(cohort_future **futures)
{
    return cohort_dataflow(futures, NUM_COMBINED, take_inputs, NULL);
}

static cohort_status dataflow(uint64_t rounds)
{
    return combine(rounds, start_dataflow);
}

/* Creates scopes, each inside of the last one, and in the innermost as many that end at once. */
static uint64_t deep_rounds;

static cohort_status go_deeper(void *arg)
{
    uint64_t depth = (uint64_t)(uintptr_t)arg;
    cohort_scope *scope;
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; depth == NUM_SCOPES && !status && i < deep_rounds; i++) {
        status = cohort_scope_create(NULL, &scope);
        if (!status)
            status = cohort_scope_await(scope);
    }
    if (status || depth == NUM_SCOPES)
        return status;
    status = cohort_scope_create(NULL, &scope);
    if (status)
        return status;
    status = cohort_scope_async(scope, go_deeper, (void *)(uintptr_t)(depth + 1));
    cohort_status inner_status = cohort_scope_await(scope);
    return status ? status : inner_status;
}

static cohort_status deep_scope(uint64_t rounds)
{
    deep_rounds = rounds;
    return cohort_await(cohort_async(go_deeper, NULL));
}

static const struct counted_case {
    const char *name;
    cohort_status (*run)(uint64_t rounds);
} cases[] = {
    {"spawn_await", spawn_await},
    {"spawn_when_all", spawn_when_all},
    {"fork_join", fork_join},
    {"suspend_resume", suspend_resume},
    {"yield", yield},
    {"then", then},
    {"when_any", when_any},
    {"when_some", when_some},
    {"when_each", when_each},
    {"dataflow", dataflow},
    {"sleep", sleep_briefly},
    {"deep_scope", deep_scope},
};

struct program {
    const struct counted_case *chosen;
    uint64_t rounds;
    cohort_status status;
};

static cohort_status main_task(void *arg)
{
    struct program *program = arg;
    poll_never();
    program->status = program->chosen->run(program->rounds);
    cohort__worker_self->poll_at = 0;
    cohort__scheduler_stop();
    return COHORT_OK;
}

static cohort_status run(struct program *program)
{
    struct cohort__loop *loop;
    struct cohort__scheduler_hooks hooks;
    struct cohort__scheduler_options options;
    cohort_status status = cohort__loop_create(&loop);
    if (status)
        return status;
    cohort__loop_scheduler_hooks(loop, &hooks);
    cohort__scheduler_options_init(&options);
    status = cohort__scheduler_start(&options, &hooks);
    if (!status) {
        cohort__loop_attach(loop);
        cohort_future_unref(cohort_async(main_task, program));
        status = cohort__scheduler_run();
        cohort__loop_attach(NULL);
    }
    cohort__loop_destroy(loop);
    return status ? status : program->status;
}

static int run_case(const void *chosen, uint64_t rounds)
{
    struct program program = {.chosen = chosen, .rounds = rounds};
    cohort_status status = run(&program);
    if (status)
        fprintf(stderr, "task_calls: %s: %s\n", program.chosen->name, cohort_error_message());
    return status != COHORT_OK;
}

int main(int argc, char **argv)
{
    return CASES_MAIN(cases, argc, argv, run_case);
}
