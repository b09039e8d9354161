/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cohort/cohort.h>

#include "tests/support/test.h"

/* Does what tests/multi/stats_test.py knows the counts of: per locality BARRIERS barriers and
 * REDUCES all_reduces over all localities, TASKS tasks, and CALLS calls of the next locality, which
 * fetches the bytes of one of them. With `stay`, it then waits until its input ends. */

enum { BARRIERS = 10, REDUCES = 3, TASKS = 100, CALLS = 5, BYTES = 1 << 20 };

static cohort_status nothing(void *arg)
{
    return COHORT_OK;
}

static cohort_status answer(const cohort_object *in, cohort_object *ret_out, void *context)
{
    return COHORT_OK;
}

static void meet(cohort_comm *comm)
{
    uint64_t generation = 1;
    double in = 1, out;
    for (int i = 0; i < BARRIERS; i++)
        CHECK_OK(cohort_await(cohort_barrier(comm, generation++)));
    for (int i = 0; i < REDUCES; i++)
        CHECK_OK(cohort_await(
            cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, generation++)));
}

static void call(uint32_t locality)
{
    static char bytes[BYTES];
    const cohort_object large = {bytes, sizeof(bytes)};
    for (int i = 0; i < CALLS; i++)
        CHECK_OK(cohort_await(cohort_async_at(locality, "answer", i ? NULL : &large, NULL)));
}

static cohort_status wait_for_end(void *arg)
{
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return COHORT_OK;
}

static cohort_status program(void *arg)
{
    const uint32_t num = cohort_num_localities();
    const bool stays = arg;
    cohort_comm *comm = NULL;
    const cohort_comm_options options = {.num_sites = num, .this_site = cohort_locality()};
    CHECK_OK(cohort_await(cohort_comm_create(&comm, "all", &options)));
    meet(comm);
    for (int i = 0; i < TASKS; i++)
        CHECK_OK(cohort_await(cohort_async(nothing, NULL)));
    if (num > 1)
        call((cohort_locality() + 1) % num);
    if (stays) {
        printf("%u %d\n", (unsigned)cohort_locality(), (int)getpid());
        CHECK_OK(cohort_blocking(wait_for_end, NULL));
        CHECK_OK(cohort_await(cohort_barrier(comm, BARRIERS + REDUCES + 1)));
    }
    cohort_comm_unref(comm);
    return COHORT_OK;
}

int main(int argc, char **argv)
{
    CHECK_OK(cohort_remote_register("answer", answer, NULL));
    return cohort_main(argc, argv, program, argc > 1 && strcmp(argv[1], "stay") == 0 ? argv : NULL);
}
