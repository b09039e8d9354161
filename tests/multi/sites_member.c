/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <cohort/cohort.h>

/* usage: sites_member NUM [CULPRIT]: NUM sites, of which each says where it is and what the sum of
 * their numbers is. CULPRIT fails instead. */

struct order {
    uint32_t num_sites;
    uint32_t culprit;
};

static cohort_status site(cohort_comm *comm, void *arg)
{
    const struct order *order = arg;
    uint32_t me = cohort_comm_this_site(comm);
    uint64_t mine = me, sum = 0;
    cohort_status status = cohort_await(cohort_barrier(comm, 1));
    if (!status && me == order->culprit)
        return cohort_fail(COHORT_ERR_SYSTEM, "no more paper");
    if (!status)
        status =
            cohort_await(cohort_all_reduce(comm, &mine, &sum, 1, COHORT_UINT64, COHORT_SUM, 2));
    if (!status)
        printf("%" PRIu32 " of %" PRIu32 " in %" PRIu32 ": %" PRIu64 "\n", me,
               cohort_comm_num_sites(comm), cohort_locality(), sum);
    return status;
}

/* Says what has become of the sites here. */
static cohort_status program(void *arg)
{
    struct order *order = arg;
    const cohort_sites_options options = {.num_sites = order->num_sites};
    cohort_status status = cohort_await(cohort_sites("all", &options, site, order));
    if (status)
        printf("locality %" PRIu32 ": %s\n", cohort_locality(), cohort_error_message());
    return status;
}

int main(int argc, char **argv)
{
    struct order order = {.num_sites = argc > 1 ? (uint32_t)atoi(argv[1]) : 0,
                          .culprit = argc > 2 ? (uint32_t)atoi(argv[2]) : UINT32_MAX};
    return cohort_main(argc, argv, program, &order);
}
