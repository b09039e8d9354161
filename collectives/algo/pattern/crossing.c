/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/crossing.h"

#include "collectives/algo/pattern/wrap.h"

static uint32_t find_largest(const struct cohort__machine *machine, uint32_t level)
{
    uint32_t subgroup = 0, most = cohort__machine_largest(machine, level);
    while (cohort__machine_members(machine, level, subgroup).num < most)
        subgroup++;
    return subgroup;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

struct cohort__crossing cohort__crossing_of(const struct cohort__machine *machine, uint32_t level,
                                            uint32_t shift)
{
    uint32_t own = find_largest(machine, level), last = own;
    struct cohort__members members = cohort__machine_members(machine, level, own);
    bool keeps_order = cohort__machine_keeps_order(machine, level);
    struct cohort__crossing crossing = {.num_sites = members.num};
    for (uint32_t i = 0, run = 1; i < members.num; i += run) {
        uint32_t site = keeps_order ? members.sites[0] + i : members.sites[i];
        uint32_t target = cohort__wrap_after(site, shift, cohort__machine_num_sites(machine));
        uint32_t subgroup = cohort__machine_subgroup(machine, level, target);
        struct cohort__members theirs = cohort__machine_members(machine, level, subgroup);
        if (keeps_order) /* the sites after this one have their targets there, too */
            run = smaller(members.num - i, theirs.sites[0] + theirs.num - target);
        if (subgroup == own)
            continue;
        crossing.num_leaving += run;
        crossing.num_subgroups += subgroup != last;
        last = subgroup;
    }
    uint32_t num_others = cohort__machine_num_subgroups(machine, level) - 1;
    crossing.num_subgroups = smaller(crossing.num_subgroups, num_others);
    return crossing;
}
