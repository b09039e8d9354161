/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/machine.h"

#include "collectives/comm/endpoint.h"

static bool has_level(const cohort_comm *comm, uint32_t level)
{
    return level < cohort__machine_num_levels(comm->group->machine);
}

static bool has_subgroup(const cohort_comm *comm, uint32_t level, uint32_t subgroup)
{
    return has_level(comm, level) &&
           subgroup < cohort__machine_num_subgroups(comm->group->machine, level);
}

uint32_t cohort_comm_num_machine_levels(const cohort_comm *comm)
{
    cohort__endpoint_check_there(comm, "cohort_comm_num_machine_levels");
    return cohort__machine_num_levels(comm->group->machine);
}

const char *cohort_comm_level_name(const cohort_comm *comm, uint32_t level)
{
    cohort__endpoint_check_there(comm, "cohort_comm_level_name");
    return has_level(comm, level) ? cohort__machine_name(comm->group->machine, level) : NULL;
}

uint32_t cohort_comm_num_subgroups(const cohort_comm *comm, uint32_t level)
{
    cohort__endpoint_check_there(comm, "cohort_comm_num_subgroups");
    return has_level(comm, level) ? cohort__machine_num_subgroups(comm->group->machine, level) : 0;
}

uint32_t cohort_comm_subgroup(const cohort_comm *comm, uint32_t level, uint32_t site)
{
    cohort__endpoint_check_there(comm, "cohort_comm_subgroup");
    const struct cohort__machine *machine = comm->group->machine;
    return has_level(comm, level) && site < cohort__machine_num_sites(machine)
               ? cohort__machine_subgroup(machine, level, site)
               : UINT32_MAX;
}

const uint32_t *cohort_comm_subgroup_sites(const cohort_comm *comm, uint32_t level,
                                           uint32_t subgroup, uint32_t *ret_num)
{
    cohort__endpoint_check_there(comm, "cohort_comm_subgroup_sites");
    if (!has_subgroup(comm, level, subgroup))
        return NULL;
    struct cohort__members members = cohort__machine_members(comm->group->machine, level, subgroup);
    *ret_num = members.num;
    return members.sites;
}

uint32_t cohort_comm_subgroup_leader(const cohort_comm *comm, uint32_t level, uint32_t subgroup)
{
    cohort__endpoint_check_there(comm, "cohort_comm_subgroup_leader");
    return has_subgroup(comm, level, subgroup)
               ? cohort__machine_leader(comm->group->machine, level, subgroup, COHORT__NO_ROOT,
                                        cohort__group_turn(comm->group))
               : UINT32_MAX;
}
