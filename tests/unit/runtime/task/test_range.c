/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "cohort/parallel.h"
#include "runtime/base/clock.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { MOST = 100000 };

static atomic_uchar counts[MOST];

static void clear(void)
{
    memset(counts, 0, sizeof(counts));
}

static void check_counts(size_t begin, size_t end)
{
    for (size_t i = 0; i < MOST; i++)
        CHECK_INT(atomic_load(&counts[i]), i >= begin && i < end);
}

static cohort_status count(size_t index, void *arg)
{
    atomic_fetch_add_explicit(&counts[index], 1, memory_order_relaxed);
    return arg ? cohort_fail(COHORT_ERR_FAILED, "not wanted") : COHORT_OK;
}

TEST_TASK(each_index_once, run_on(1, 4, task, NULL))
{
    static const size_t ranges[][2] = {{0, MOST}, {0, 0}, {7, 7}, {7, 8}, {99, MOST - 1}, {0, 2}};
    for (size_t i = 0; i < NUM_OF(ranges); i++)
        for (size_t grain = 0; grain <= 1000; grain += 250) {
            cohort_range_options options = {.grain = grain};
            clear();
            CHECK_OK(cohort_await(
                cohort_parallel_for(ranges[i][0], ranges[i][1], &options, count, NULL)));
            check_counts(ranges[i][0], ranges[i][1]);
        }
}

/* --- errors --- */

static cohort_status fail_at_500(size_t index, void *arg)
{
    count(index, NULL);
    return index == 500 ? cohort_fail(COHORT_ERR_GONE, "it is gone") : COHORT_OK;
}

static cohort_status fail_without_words(size_t index, void *arg)
{
    return index == 3 ? COHORT_ERR_GONE : COHORT_OK;
}

static cohort_status fail_in_ranges(void *arg)
{
    clear();
    CHECK_INT(cohort_await(cohort_parallel_for(0, MOST, NULL, fail_at_500, NULL)), COHORT_ERR_GONE);
    CHECK_TEXT(cohort_error_message(), "cohort_parallel_for: index 500: it is gone");
    CHECK_INT(atomic_load(&counts[500]), 1);
    CHECK_INT(cohort_await(cohort_parallel_for(0, 10, NULL, fail_without_words, NULL)),
              COHORT_ERR_GONE);
    CHECK_TEXT(cohort_error_message(), "cohort_parallel_for: index 3 failed");
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(errors)
{
    run_on(1, 4, fail_in_ranges, NULL);
    CHECK_OK(run_tasks(1, fail_in_ranges, NULL));
    int num_left_out = 0;
    for (size_t i = 501; i < MOST; i++)
        num_left_out += atomic_load(&counts[i]) == 0;
    CHECK(num_left_out > MOST / 2);
}

TEST(mistakes)
{
    CHECK_FAILS(cohort_await(cohort_parallel_for(0, 1, NULL, NULL, NULL)), COHORT_ERR_BAD_PARAMETER,
                "cohort_parallel_for: function is NULL");
    CHECK_FAILS(cohort_await(cohort_parallel_for(2, 1, NULL, count, NULL)),
                COHORT_ERR_BAD_PARAMETER, "begin 2 is beyond end 1");
    struct {
        cohort_range_options known;
        size_t unknown;
    } newer = {.unknown = 1};
    CHECK_FAILS(
        cohort_await(cohort_parallel_for_sized(0, 1, &newer.known, sizeof(newer), count, NULL)),
        COHORT_ERR_BAD_PARAMETER, "a newer one");
    CHECK_FAILS(cohort_await(cohort_parallel_for(0, 1, NULL, count, NULL)), COHORT_ERR_STATE,
                "cohort_parallel_for");
}

/* --- calls that suspend --- */

enum { NUM_WAITING = 1000 };
static cohort_promise *promises[NUM_WAITING];
static cohort_future *futures[NUM_WAITING];

/* Each waits for the next one. So they come to an end only if each goes on while those before it
 * wait. */
static cohort_status wait_for_the_next(size_t index, void *arg)
{
    count(index, NULL);
    if (index + 1 < NUM_WAITING)
        CHECK_OK(cohort_await(futures[index + 1]));
    cohort_promise_fulfil(promises[index], NULL);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_TASK(the_rest_goes_on, run_on(1, 4, task, NULL))
{
    clear();
    for (size_t i = 0; i < NUM_WAITING; i++)
        promises[i] = new_promise(&futures[i]);
    CHECK_OK(cohort_await(cohort_parallel_for(0, NUM_WAITING, NULL, wait_for_the_next, NULL)));
    check_counts(0, NUM_WAITING);
    CHECK_OK(cohort_await(futures[0]));
}

enum { NUM_ROWS = 100, NUM_COLUMNS = 1000 };

static cohort_status count_cell(size_t column, void *row)
{
    if (column % 100 == 0)
        cohort_yield();
    return count(*(size_t *)row * NUM_COLUMNS + column, NULL);
}

static cohort_status count_row(size_t row, void *arg)
{
    return cohort_await(cohort_parallel_for(0, NUM_COLUMNS, NULL, count_cell, &row));
}

TEST_TASK(nested, run_on(1, 4, task, NULL))
{
    clear();
    CHECK_OK(cohort_await(cohort_parallel_for(0, NUM_ROWS, NULL, count_row, NULL)));
    check_counts(0, NUM_ROWS * NUM_COLUMNS);
}

/* --- other work --- */

static cohort_status wait_until_over(size_t index, void *is_over)
{
    uint64_t end = cohort__clock_after(1000);
    while (cohort__clock_now() < end)
        ;
    return atomic_load((atomic_bool *)is_over) ? cohort_fail(COHORT_ERR_CANCELLED, "%zu", index)
                                               : COHORT_OK;
}

static cohort_status end_the_range(void *is_over)
{
    atomic_store((atomic_bool *)is_over, true);
    return COHORT_OK;
}

/* A range without an end in sight does not keep a task of the same worker from running. */
TEST_TASK(others_have_their_turn, run_on(1, 2, task, NULL))
{
    atomic_bool is_over = false;
    cohort_future *range = cohort_parallel_for(0, SIZE_MAX, NULL, wait_until_over, &is_over);
    cohort_yield();
    cohort_future *task = cohort_async(end_the_range, &is_over);
    CHECK_INT(cohort_await(range), COHORT_ERR_CANCELLED);
    CHECK_OK(cohort_await(task));
}

/* --- at the end of the runtime --- */

static bool is_late_wanted;
static cohort_future *late;

int __real_pthread_join(pthread_t thread, void **ret_result);

/* The scheduler joins its threads when no task is left, and then ends. */
int __wrap_pthread_join(pthread_t thread, void **ret_result)
{
    int error = __real_pthread_join(thread, ret_result);
    if (is_late_wanted)
        late = cohort_parallel_for(0, MOST, NULL, count, NULL);
    return error;
}

static cohort_status do_nothing(void *arg)
{
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(too_late)
{
    clear();
    is_late_wanted = true;
    CHECK_OK(run_tasks(2, do_nothing, NULL));
    is_late_wanted = false;
    CHECK(cohort_future_ready(late));
    CHECK_FAILS(cohort_await(late), COHORT_ERR_CANCELLED,
                "cohort_parallel_for: not all indices have begun: task: the runtime ended");
    check_counts(0, 0);
}
