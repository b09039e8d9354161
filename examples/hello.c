/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include <cohort/cohort.h>

/* A whole program in one file, to begin with: two sites in each locality sum up their numbers. */

enum { SITES_HERE = 2 };

static cohort_status site(void *arg)
{
    const uint32_t *index = arg;
    int64_t mine = *index + 1, sum = 0;
    cohort_comm *comm = NULL;
    cohort_comm_options options = {.num_sites = SITES_HERE * cohort_num_localities(),
                                   .this_site = *index};
    cohort_status status = cohort_await(cohort_comm_create(&comm, "hello", &options));
    if (!status)
        status = cohort_await(cohort_all_reduce(comm, &mine, &sum, 1, COHORT_INT64, COHORT_SUM, 1));
    if (!status)
        printf("site %" PRIu32 " of %" PRIu32 " in locality %" PRIu32 ": the sum is %" PRId64 "\n",
               *index, options.num_sites, cohort_locality(), sum);
    cohort_comm_unref(comm);
    return status;
}

/* The first task of each locality: it starts the others and waits for them. */
static cohort_status program(void *arg)
{
    (void)arg;
    uint32_t index[SITES_HERE];
    cohort_future *done[SITES_HERE];
    for (uint32_t i = 0; i < SITES_HERE; i++) {
        index[i] = SITES_HERE * cohort_locality() + i;
        done[i] = cohort_async(site, &index[i]);
    }
    return cohort_await(cohort_when_all(done, SITES_HERE));
}

int main(int argc, char **argv)
{
    return cohort_main(argc, argv, program, NULL);
}
