/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cohort/cohort.h>

/* A job that goes on without the dead (cohortrun --keep-going). One site in each locality; the
 * localities are split into halves. The victim is the last locality. It ends in the way that the
 * first argument names, once all have their half. The others wait for the end of a call over the
 * whole job, print the error, and go on in their half: that of the victim is broken, the other one
 * is whole. */

enum { CALLS = 300 };

static const char *way;

static cohort_status say(const char *what, cohort_status status)
{
    printf("%" PRIu32 " %s: %s\n", cohort_locality(), what,
           status ? cohort_error_message() : "fine");
    return status;
}

static cohort_status sum_right(cohort_comm *comm, uint64_t generation)
{
    const uint64_t num = cohort_comm_num_sites(comm);
    uint64_t mine = cohort_comm_this_site(comm) + generation, sum = 0;
    cohort_status status = cohort_await(
        cohort_all_reduce(comm, &mine, &sum, 1, COHORT_UINT64, COHORT_SUM, generation));
    if (!status && sum != num * (num - 1) / 2 + num * generation) {
        printf("%" PRIu32 " got %" PRIu64 "\n", cohort_locality(), sum);
        abort();
    }
    return status;
}

/* As many right calls as there are: 300, or an error on the way. */
static cohort_status use(const char *what, cohort_comm *comm, uint64_t first)
{
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; i < CALLS && !status; i++)
        status = sum_right(comm, first + i);
    return say(what, status);
}

static void end_badly(void)
{
    if (strcmp(way, "exit") == 0)
        exit(3);
    else if (strcmp(way, "quiet") == 0)
        _exit(0);
    else if (strcmp(way, "stop") == 0)
        raise(SIGSTOP); /* the test kills it */
    raise(SIGKILL);
}

static bool is_victim(void)
{
    const uint32_t last = cohort_num_localities() - 1;
    if (strcmp(way, "none") == 0)
        return false;
    if (strcmp(way, "all") == 0)
        return true;
    return cohort_locality() == last || (strcmp(way, "two") == 0 && cohort_locality() == 0);
}

static void list_failed(void)
{
    uint32_t ranks[16], num = cohort_failed_localities(ranks, 16);
    printf("%" PRIu32 " failed:", cohort_locality());
    for (uint32_t i = 0; i < num; i++)
        printf(" %" PRIu32, ranks[i]);
    printf("\n");
}

static cohort_status go_on(cohort_comm *world, cohort_comm *half)
{
    cohort_status status = sum_right(half, 1);
    cohort_future *all_here = cohort_barrier(world, 2);
    (void)!cohort_await(all_here); /* it may fail where the victim is through already */
    if (status)
        return status;
    if (is_victim())
        end_badly();
    /* While others die, those in the whole half go on. */
    cohort_future *called = cohort_barrier(world, 3);
    (void)use("half", half, 2);
    (void)say("world", cohort_await(called));
    (void)say("world later", cohort_await(cohort_barrier(world, 4)));
    list_failed();
    if (strcmp(way, "fail") == 0 && cohort_locality() == 0)
        return cohort_fail(COHORT_ERR_FAILED, "this one is not content");
    return COHORT_OK;
}

static cohort_status run(void *arg)
{
    (void)arg;
    const uint32_t rank = cohort_locality(), num = cohort_num_localities();
    const cohort_comm_options options = {.num_sites = num, .this_site = rank};
    cohort_comm *world = NULL, *half = NULL;
    cohort_status status = cohort_await(cohort_comm_create(&world, "world", &options));
    if (!status)
        status = cohort_await(cohort_comm_split(&half, world, rank < num / 2, 0, 1));
    if (!status)
        status = go_on(world, half);
    cohort_comm_unref(half);
    cohort_comm_unref(world);
    return status;
}

int main(int argc, char **argv)
{
    way = argc > 1 ? argv[1] : "";
    return cohort_main(argc, argv, run, NULL);
}
