/* SPDX-License-Identifier: Apache-2.0 */
/* A task with a frame that is larger than its stack and the guard below that, and that is used at
 * its far end only. install.py and install_cmake.py build it as a user would. */
#include <cohort/cohort.h>

static cohort_status leap(void *arg)
{
    volatile char frame[560 * 1024];
    frame[0] = 1;
    return frame[0] && arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* A task with a size of its own has a stack of its own; the others run on their thread's at first.
 * Below the second stack is the first. */
static cohort_status program(void *arg)
{
    const cohort_task_options options = {.stack_bytes = 256 * 1024};
    cohort_future *both[2];
    for (int i = 0; i < 2; i++)
        both[i] = cohort_async_with(leap, arg, &options);
    return cohort_await(cohort_when_all(both, 2));
}

int main(int argc, char **argv)
{
    return cohort_main(argc, argv, program, NULL);
}
