/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <string.h>

#include "runtime/task/future.h"
#include "runtime/task/worker.h"
#include "tests/unit/runtime/task/run_tasks.h"

static int values[4];

struct sum {
    int result;
    int num_calls;
};

/* Adds up its inputs, where NULL is 100, and passes the result on. */
static cohort_status add(void *const *inputs, size_t count, void **ret_value, void *arg)
{
    struct sum *sum = arg;
    sum->num_calls++;
    for (size_t i = 0; i < count; i++)
        sum->result += inputs[i] ? *(int *)inputs[i] : 100;
    *ret_value = &sum->result;
    return COHORT_OK;
}

static cohort_status fail(void *const *inputs, size_t count, void **ret_value, void *arg)
{
    *ret_value = arg;
    return cohort_fail(COHORT_ERR_GONE, "%zu inputs, the first is %d", count, *(int *)inputs[0]);
}

static void await_int(cohort_future *future, int want)
{
    void *value = NULL;
    CHECK_OK(cohort_await_value(future, &value));
    CHECK(value != NULL);
    CHECK_INT(*(int *)value, want);
}

/* The function runs when the last input is there, and its value goes into other dataflows. */
static void check_values(void)
{
    cohort_promise *promises[3];
    cohort_future *inputs[3], *outputs[2];
    struct sum sums[2] = {{0}};
    for (int i = 0; i < 3; i++) {
        values[i] = i + 1;
        promises[i] = new_promise(&inputs[i]);
    }
    outputs[0] = cohort_dataflow(inputs, 3, add, &sums[0]);
    CHECK_INT((long long)cohort__scheduler_live_tasks(), 2);
    outputs[1] = cohort_future_ref(outputs[0]);
    cohort_future *both = cohort_dataflow(outputs, 2, add, &sums[1]);
    cohort_promise_fulfil(promises[2], &values[2]);
    cohort_promise_fulfil(promises[0], NULL);
    cohort_yield();
    CHECK_INT(sums[0].num_calls, 0);
    cohort_promise_fulfil(promises[1], &values[1]);
    await_int(both, 2 * (3 + 100 + 2));
    CHECK_INT(sums[0].num_calls + sums[1].num_calls, 2);
}

static void check_without_inputs(void)
{
    struct sum sum = {.result = 5};
    await_int(cohort_dataflow(NULL, 0, add, &sum), 5);
    CHECK_INT(sum.num_calls, 1);
}

/* The function is not called, and the first error in the order of the array is the result. */
static void check_failures(void)
{
    struct sum sum = {0};
    cohort_future *inputs[3] = {cohort_future_of_value(&values[0])};
    cohort_promise *promise = new_promise(&inputs[1]);
    inputs[2] = cohort_future_of_error(COHORT_ERR_NETWORK, "two");
    cohort_future *kept[3], *output = cohort_dataflow(inputs, 3, add, &sum);
    CHECK(!cohort_future_ready(output));
    cohort_promise_fail(promise, COHORT_ERR_GONE, "one");
    CHECK_INT(cohort_await(output), COHORT_ERR_GONE);
    CHECK_TEXT(cohort_error_message(), "one");
    CHECK_INT(sum.num_calls, 0);

    /* All references are given back, also when the function itself fails. */
    values[0] = 7;
    for (int i = 0; i < 3; i++) {
        inputs[i] = cohort_future_of_value(&values[0]);
        kept[i] = cohort_future_ref(inputs[i]);
    }
    void *value = NULL;
    CHECK_INT(cohort_await_value(cohort_dataflow(inputs, 3, fail, &sum), &value), COHORT_ERR_GONE);
    CHECK_TEXT(cohort_error_message(), "3 inputs, the first is 7");
    CHECK(!value);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(atomic_load(&kept[i]->refs), 1);
        cohort_future_unref(kept[i]);
    }
}

TEST_TASK(one_worker, run_on(1, 1, task, NULL))
{
    check_values();
    check_without_inputs();
    check_failures();
}

/* A triangle: each point adds those above it. Row n adds up to 2 to the power of n. */
enum { NUM_ROWS = 12 };

static cohort_status triangle(void *arg)
{
    static struct sum sums[NUM_ROWS + 1][NUM_ROWS + 1];
    cohort_future *row[NUM_ROWS + 1], *next[NUM_ROWS + 1];
    memset(sums, 0, sizeof(sums));
    sums[0][0].result = 1;
    row[0] = cohort_dataflow(NULL, 0, add, &sums[0][0]);
    for (int n = 1; n <= NUM_ROWS; n++) {
        for (int k = 0; k <= n; k++) {
            cohort_future *inputs[2];
            size_t count = 0;
            if (k > 0)
                inputs[count++] = row[k - 1];
            if (k < n)
                inputs[count++] = cohort_future_ref(row[k]);
            next[k] = cohort_dataflow(inputs, count, add, &sums[n][k]);
        }
        memcpy(row, next, sizeof(row));
    }
    int total = 0;
    for (int k = 0; k <= NUM_ROWS; k++) {
        void *value = NULL;
        CHECK_OK(cohort_await_value(row[k], &value));
        total += *(int *)value;
    }
    CHECK_INT(total, 1 << NUM_ROWS);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status triangles(void *arg)
{
    for (int i = 0; i < 20; i++)
        CHECK_OK(triangle(arg));
    return COHORT_OK;
}

TEST_CALL(triangles, run_on(1, 3, triangles, NULL))

/* What a thread outside does after the workers have ended and before the runtime has. */
static cohort_future *late_input, *late_output;

int __real_pthread_join(pthread_t thread, void **ret_result);

int __wrap_pthread_join(pthread_t thread, void **ret_result)
{
    int error = __real_pthread_join(thread, ret_result);
    if (late_input) {
        cohort_future *input = cohort_future_ref(late_input);
        late_output = cohort_dataflow(&input, 1, add, NULL);
    }
    return error;
}

static cohort_status make_input(void *arg)
{
    late_input = cohort_future_of_value(&values[0]);
    return COHORT_OK;
}

TEST(cancelled)
{
    CHECK_OK(run_tasks(2, make_input, NULL));
    CHECK(late_output && cohort_future_ready(late_output));
    CHECK_INT(cohort_await(late_output), COHORT_ERR_CANCELLED);
    CHECK_INT(atomic_load(&late_input->refs), 1);
    cohort_future_unref(late_input);
    late_input = NULL;
}

TEST(mistakes)
{
    cohort_future *kept = cohort_future_of_value(&values[0]), *inputs[2];
    inputs[0] = cohort_future_ref(kept);
    inputs[1] = NULL;
    CHECK_FAILS(cohort_await(cohort_dataflow(inputs, 2, add, NULL)), COHORT_ERR_BAD_PARAMETER,
                "cohort_dataflow: future 1 of 2");
    inputs[0] = cohort_future_ref(kept);
    CHECK_INT(cohort_await(cohort_dataflow(inputs, 1, NULL, NULL)), COHORT_ERR_BAD_PARAMETER);
    inputs[0] = cohort_future_ref(kept);
    CHECK_FAILS(cohort_await(cohort_dataflow(inputs, 1, add, NULL)), COHORT_ERR_STATE,
                "cohort_dataflow");
    CHECK_INT(atomic_load(&kept->refs), 1);
    cohort_future_unref(kept);
}
