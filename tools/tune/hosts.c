/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: which hosts the job is on, and how many of them share cores. */
#include "tools/tune/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/cores.h"

static uint32_t count_hosts(const cohort_comm *comm)
{
    uint32_t level = 0, num = cohort_comm_num_machine_levels(comm);
    while (level < num && strcmp(cohort_comm_level_name(comm, level), "host") != 0)
        level++;
    return level < num ? cohort_comm_num_subgroups(comm, level) : 1;
}

/* How often the most frequent one of NUM numbers is there. 0 is none. */
static uint32_t count_equal(const uint64_t *numbers, uint32_t num)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < num; i++) {
        uint32_t equal = 0;
        for (uint32_t j = 0; j < num; j++)
            equal += numbers[i] != 0 && numbers[j] == numbers[i];
        most = equal > most ? equal : most;
    }
    return most;
}

static cohort_status look(cohort_comm *comm, struct tune_hosts *ret_hosts)
{
    uint32_t num_sites = cohort_comm_num_sites(comm), num = count_hosts(comm);
    if (num > 1 && num < num_sites)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%u localities on %u hosts: to measure between hosts, each has one "
                           "locality; --hosts starts such jobs",
                           (unsigned)num_sites, (unsigned)num);
    uint64_t own = cohort__cores_identify(), *all = calloc(num_sites, sizeof(*all));
    if (!all)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u hosts", (unsigned)num_sites);
    cohort_status status = cohort_await(cohort_all_gather(comm, &own, all, 1, COHORT_UINT64, 1));
    if (!status)
        *ret_hosts = (struct tune_hosts){num, num > 1 ? count_equal(all, num) : 1};
    free(all);
    return status;
}

cohort_status tune_hosts_find(struct tune_hosts *ret_hosts)
{
    uint32_t num = cohort_num_localities();
    cohort_comm *comm = NULL;
    if (num == 1) {
        *ret_hosts = (struct tune_hosts){1, 1};
        return COHORT_OK;
    }
    cohort_comm_options options = {.num_sites = num, .this_site = cohort_locality()};
    cohort_status status = cohort_await(cohort_comm_create(&comm, "tune hosts", &options));
    if (!status)
        status = look(comm, ret_hosts);
    cohort_comm_unref(comm);
    return status;
}
