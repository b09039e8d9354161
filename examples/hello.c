/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include <cohort/cohort.h>

/* A whole program in one file, to begin with: two sites in each locality sum up their numbers. */

static cohort_status site(cohort_comm *comm, void *arg)
{
    (void)arg;
    uint32_t me = cohort_comm_this_site(comm);
    int64_t mine = me + 1, sum = 0;
    cohort_status status =
        cohort_await(cohort_all_reduce(comm, &mine, &sum, 1, COHORT_INT64, COHORT_SUM, 1));
    if (!status)
        printf("site %" PRIu32 " of %" PRIu32 " in locality %" PRIu32 ": the sum is %" PRId64 "\n",
               me, cohort_comm_num_sites(comm), cohort_locality(), sum);
    return status;
}

/* The first task of each locality. */
static cohort_status program(void *arg)
{
    cohort_sites_options options = {.sites_per_locality = 2};
    return cohort_await(cohort_sites("hello", &options, site, arg));
}

int main(int argc, char **argv)
{
    return cohort_main(argc, argv, program, NULL);
}
