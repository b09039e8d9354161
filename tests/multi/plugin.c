/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/multi/plugin.h"

#include "cohort/cohort.h"

static cohort_status work(void *arg)
{
    return cohort_await(cohort_sleep(*(uint64_t *)arg));
}

static cohort_status block(void *arg)
{
    (void)arg;
    return COHORT_OK;
}

static cohort_status call(void *arg)
{
    return cohort_blocking(block, arg);
}

int plugin_run(void)
{
    uint64_t nanoseconds = 1000;
    cohort_start_options options = {.workers = 2};
    cohort_status status = cohort_start(&options);
    if (status)
        return 1;
    cohort_future *futures[] = {cohort_async(work, &nanoseconds), cohort_async(call, NULL)};
    return cohort_stop(cohort_await(cohort_when_all(futures, 2))) ? 2 : 0;
}
