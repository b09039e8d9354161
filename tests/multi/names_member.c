/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>
#include <string.h>

#include "tests/support/test.h"

/* A task of each kind that the library makes for a function of the user's. Each function waits for
 * a while, so whoever looks on names its task. */

static uint64_t a_while = 1000000; /* nanoseconds */

static cohort_status wait_here(void)
{
    cohort_status status = cohort_await(cohort_sleep(a_while));
    CHECK_OK(status);
    return status;
}

static cohort_status my_then(cohort_future *future, void *arg)
{
    CHECK_OK(cohort_await(future));
    return wait_here();
}

static cohort_status my_flow(void *const *values, size_t count, void **ret_value, void *arg)
{
    return wait_here();
}

static cohort_status my_index(size_t index, void *arg)
{
    return wait_here();
}

static cohort_status my_value(size_t index, void *ret_value, void *arg)
{
    *(double *)ret_value = (double)index;
    return wait_here();
}

static cohort_status my_remote(const cohort_object *in, cohort_object *ret_out, void *context)
{
    return wait_here();
}

static cohort_status my_scoped_remote(const cohort_object *in, cohort_object *ret_out,
                                      void *context)
{
    return wait_here();
}

static cohort_status my_own(const cohort_object *in, cohort_object *ret_out, void *context)
{
    return wait_here();
}

static cohort_status my_scoped(void *arg)
{
    return wait_here();
}

static cohort_status my_blocking(void *arg)
{
    return wait_here();
}

static cohort_status my_task(void *arg)
{
    return cohort_blocking(my_blocking, NULL);
}

static cohort_status my_site(cohort_comm *comm, void *arg)
{
    return wait_here();
}

static cohort_status my_program(void *arg)
{
    double sum;
    cohort_scope *scope = NULL;
    cohort_future *ready = cohort_future_of_value(NULL);
    const cohort_sites_options one_site = {.num_sites = 1};
    if (cohort_locality() > 0)
        return COHORT_OK;
    CHECK_OK(cohort_scope_create(NULL, &scope));
    CHECK_OK(cohort_scope_async(scope, my_scoped, arg));
    CHECK_OK(cohort_scope_async_at(scope, 1, "scoped", NULL));
    cohort_future *futures[] = {
        cohort_then(cohort_future_ref(ready), my_then, arg),
        cohort_dataflow(&ready, 1, my_flow, arg),
        cohort_parallel_for(0, 2, NULL, my_index, arg),
        cohort_parallel_reduce(0, 2, NULL, my_value, arg, &sum, 1, COHORT_DOUBLE, COHORT_SUM),
        cohort_async_at(1, "remote", NULL, NULL),
        cohort_async_at(0, "own", NULL, NULL),
        cohort_async_everywhere("remote", NULL, NULL),
        cohort_async(my_task, arg),
        cohort_sites("one", &one_site, my_site, arg),
    };
    for (size_t i = 0; i < NUM_OF(futures); i++)
        CHECK_OK(cohort_await(futures[i]));
    return cohort_scope_await(scope);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "hangs") == 0)
        a_while = UINT64_C(3600000000000);
    CHECK_OK(cohort_remote_register("remote", my_remote, NULL));
    CHECK_OK(cohort_remote_register("scoped", my_scoped_remote, NULL));
    CHECK_OK(cohort_remote_register("own", my_own, NULL));
    return cohort_main(argc, argv, my_program, NULL);
}
