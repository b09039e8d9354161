/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/step_trace.h"

#include "collectives/comm/endpoint.h"
#include "runtime/base/trace.h"

/* LEVEL, or that of the hosts, if it is that of the domains and each host is only one. */
static uint32_t common_name(const struct cohort__machine *machine, uint32_t level)
{
    uint32_t host = cohort__machine_find(machine, "host");
    bool is_domain = level > COHORT__LEVEL_LOCALITY && level < host;
    return is_domain && cohort__machine_num_subgroups(machine, level) ==
                            cohort__machine_num_subgroups(machine, host)
               ? host
               : level;
}

uint32_t cohort__step_trace_level(const struct cohort__operation *operation, uint32_t site)
{
    const struct cohort__machine *machine = operation->comm->group->machine;
    uint32_t own = operation->comm->this_site, level = 0, num = cohort__machine_num_levels(machine);
    while (level < num && cohort__machine_subgroup(machine, level, site) !=
                              cohort__machine_subgroup(machine, level, own))
        level++;
    return common_name(machine, level);
}

uint32_t cohort__step_trace_level_of_all(const struct cohort__operation *operation)
{
    const struct cohort__machine *machine = operation->comm->group->machine;
    uint32_t level = 0, num = cohort__machine_num_levels(machine);
    while (level < num && cohort__machine_num_subgroups(machine, level) > 1)
        level++;
    return common_name(machine, level);
}

void cohort__step_trace_write(const struct cohort__operation *operation,
                              enum cohort__trace_kind kind, const struct cohort__step_trace *step)
{
    cohort__trace_write((uint32_t)kind | ((uint32_t)step->what | step->phase << 4) << 8,
                        (uintptr_t)operation->comm, operation->generation,
                        step->peer | (uint64_t)step->tag << 32 | (uint64_t)step->level << 60);
}
