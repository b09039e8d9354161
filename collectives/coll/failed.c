/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/survivors.h"

#include "collectives/comm/commons.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/endpoint_misuse.h"

static uint32_t sites_in(const struct cohort__membership *all, uint32_t rank)
{
    uint32_t num = 0;
    for (uint32_t site = 0; site < all->num_sites; site++)
        num += all->locality_of[site] == rank;
    return num;
}

uint32_t cohort_comm_failed(cohort_comm *comm, uint32_t *ret_sites, uint32_t capacity)
{
    cohort__endpoint_check(comm, "cohort_comm_failed");
    if (!comm)
        return 0;
    struct cohort__process *process = comm->group->commons->process;
    const struct cohort__membership *all = comm->group->membership;
    struct cohort__death death;
    uint32_t num = 0;
    for (uint32_t last = 0; cohort__process_next_death(process, last, &death); last = death.order)
        for (uint32_t site = 0; site < all->num_sites; site++) {
            if (all->locality_of[site] != death.rank)
                continue;
            if (num < capacity)
                ret_sites[num] = site;
            num++;
        }
    return num;
}

/* Deaths are acknowledged in their order, so the last one says which. */
uint32_t cohort_comm_acknowledge(cohort_comm *comm, uint32_t num)
{
    cohort__endpoint_check(comm, "cohort_comm_acknowledge");
    if (!comm)
        return 0;
    struct cohort__process *process = comm->group->commons->process;
    uint32_t before = atomic_load(&comm->acknowledged), last = 0;
    uint64_t num_sites = 0;
    struct cohort__death death;
    while (cohort__process_next_death(process, last, &death)) {
        uint32_t here = sites_in(comm->group->membership, death.rank);
        if (death.order > before && num_sites + here > num)
            break;
        num_sites += here;
        last = death.order;
    }
    while (before < last && !atomic_compare_exchange_weak(&comm->acknowledged, &before, last))
        ;
    return (uint32_t)num_sites;
}
