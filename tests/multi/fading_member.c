/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include <cohort/cohort.h>

/* A job of one site in each locality, which die one by one, the highest one each time, until only
 * one is left (cohortrun --keep-going). The victim says before at what time it will die. Site 0
 * prints for each death in how many milliseconds the last one of the others had its error, and how
 * long the last one took from there to the end of the first all_reduce of those that are left. */

static const double ahead_s = 0.02; /* all know the time by then; else it seems to take longer */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static cohort_status find_most(cohort_comm *comm, double *value, uint64_t generation)
{
    double mine = *value;
    return cohort_await(
        cohort_all_reduce(comm, &mine, value, 1, COHORT_DOUBLE, COHORT_MAX, generation));
}

/* One dies, and the others make *COMM the communicator of those that are left. */
static cohort_status lose_one(cohort_comm **comm, uint64_t *generation)
{
    const uint32_t num = cohort_comm_num_sites(*comm);
    const bool is_victim = cohort_comm_this_site(*comm) == num - 1;
    double death = is_victim ? now() + ahead_s : 0;
    cohort_comm *survivors = NULL;
    cohort_status status = find_most(*comm, &death, ++*generation);
    if (status)
        return status;
    status = cohort_await(cohort_barrier(*comm, ++*generation)); /* now all know it */
    while (!status && is_victim && now() < death)
        cohort_yield();
    if (!status && is_victim)
        raise(SIGKILL);
    if (!status)
        status = cohort_await(cohort_barrier(*comm, ++*generation));
    if (status != COHORT_ERR_PEER_DIED)
        return status ? status : cohort_fail(COHORT_ERR_FAILED, "nobody has died");
    const double heard = now();
    double told = heard - death, whole = 0;
    status = cohort_await(cohort_comm_shrink(&survivors, *comm));
    if (status)
        return status;
    cohort_comm_unref(*comm);
    *comm = survivors;
    status = find_most(survivors, &told, *generation = 1);
    whole = now() - heard;
    if (!status)
        status = find_most(survivors, &whole, *generation = 2);
    if (!status && cohort_comm_this_site(survivors) == 0)
        printf("%" PRIu32 " left: told after %.1f ms, whole after %.1f ms more\n",
               cohort_comm_num_sites(survivors), told * 1e3, whole * 1e3);
    return status;
}

static cohort_status run(void *arg)
{
    const cohort_comm_options options = {.num_sites = cohort_num_localities(),
                                         .this_site = cohort_locality()};
    cohort_comm *comm = NULL;
    uint64_t generation = 0; /* of the last call on it */
    cohort_status status = cohort_await(cohort_comm_create(&comm, "fading", &options));
    while (!status && cohort_comm_num_sites(comm) > 1)
        status = lose_one(&comm, &generation);
    cohort_comm_unref(comm);
    return status;
}

int main(int argc, char **argv)
{
    return cohort_main(argc, argv, run, NULL);
}
