/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/job.h"

#include <stdbool.h>

#include "cohort/future.h"
#include "cohort/task.h"
#include "tests/support/test.h"

/* A job of one, which nobody has launched. There is one in a process. */

enum { TENTH_OF_A_SECOND = 100000000 };

static bool has_rested;

/* Nothing but itself knows of it, while it waits. */
static cohort_status rest(void *arg)
{
    (void)arg;
    cohort_status status = cohort_await(cohort_sleep(TENTH_OF_A_SECOND));
    has_rested = status == COHORT_OK;
    return status;
}

static cohort_status leave_task(void *arg)
{
    (void)arg;
    cohort_future_unref(cohort_async(rest, NULL));
    return COHORT_OK;
}

static void test_one_job(void)
{
    char *argv[] = {"job", NULL};
    CHECK_INT(cohort_main(1, argv, NULL, NULL), 1);
    CHECK_CONTAINS(cohort_error_message(), "no program");
    CHECK_INT(cohort_main(1, argv, leave_task, NULL), 0);
    CHECK(has_rested);
    CHECK_INT(cohort_main(1, argv, leave_task, NULL), 1);
    CHECK_CONTAINS(cohort_error_message(), "called twice in one process");
}

static const struct test_case cases[] = {
    {"one_job", test_one_job},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
