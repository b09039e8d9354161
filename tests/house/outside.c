/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <stdio.h>

/* A program outside of the project, as a user would write it; see install.py. */
static cohort_status answer(void *arg)
{
    *(int *)arg = 42;
    return COHORT_OK;
}

static cohort_status program(void *arg)
{
    return cohort_await(cohort_async(answer, arg));
}

int main(int argc, char **argv)
{
    int result = 0;
    int status = cohort_main(argc, argv, program, &result);
    printf("status %d, result %d\n", status, result);
    return status != 0 || result != 42;
}
