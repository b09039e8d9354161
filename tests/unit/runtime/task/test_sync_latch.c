/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "cohort/cohort.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { NUM_WAITERS = 50 };

static _Atomic int num_open;

static cohort_status pass(void *latch)
{
    CHECK_OK(cohort_latch_wait(latch, COHORT_NO_LIMIT));
    num_open++;
    return COHORT_OK;
}

static void *pass_in_thread(void *latch)
{
    CHECK_OK(pass(latch));
    return NULL;
}

TEST_TASK(opens, run_on(1, 3, task, NULL))
{
    cohort_latch *latch;
    cohort_future *futures[NUM_WAITERS];
    num_open = 0;
    CHECK_OK(cohort_latch_create(3, &latch));
    for (int i = 0; i < NUM_WAITERS; i++)
        futures[i] = cohort_async(pass, latch);
    pthread_t thread = new_thread(pass_in_thread, latch);
    cohort_yield();
    CHECK_OK(cohort_latch_count_down(latch, 2));
    CHECK_FAILS(cohort_latch_count_down(latch, 2), COHORT_ERR_STATE,
                "cohort_latch_count_down: by 2, but only 1 are left");
    cohort_yield();
    CHECK_INT(num_open, 0);
    CHECK_OK(cohort_latch_count_down(latch, 1));
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_WAITERS)));
    end_thread(thread);
    CHECK_OK(cohort_latch_wait(latch, 0));
    CHECK_OK(cohort_latch_count_down(latch, 0));
    CHECK_INT(cohort_latch_count_down(latch, 1), COHORT_ERR_STATE);
    cohort_latch_unref(latch);
}
