/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/machine_text.h"

/* More than that tell a reader nothing new. */
enum { MOST_SUBGROUPS = 16, MOST_RANGES = 8 };

/* Sites with consecutive numbers are one range. */
static void print_sites(FILE *file, struct cohort__members members)
{
    uint32_t begin = 0;
    for (uint32_t ranges = 0; begin < members.num && ranges < MOST_RANGES; ranges++) {
        uint32_t end = begin + 1;
        while (end < members.num && members.sites[end] == members.sites[end - 1] + 1)
            end++;
        fprintf(file, "%s%u", ranges > 0 ? "," : "", members.sites[begin]);
        if (end - begin > 1)
            fprintf(file, "-%u", members.sites[end - 1]);
        begin = end;
    }
    if (begin < members.num)
        fprintf(file, " and %u more", members.num - begin);
}

static void print_subgroups(FILE *file, const struct cohort__machine *machine, uint32_t level,
                            uint32_t root, uint64_t turn)
{
    uint32_t num = cohort__machine_num_subgroups(machine, level);
    for (uint32_t i = 0; i < num && i < MOST_SUBGROUPS; i++) {
        struct cohort__members members = cohort__machine_members(machine, level, i);
        fprintf(file, "  %u leads ", cohort__machine_leader(machine, level, i, root, turn));
        print_sites(file, members);
        fputc('\n', file);
    }
    if (num > MOST_SUBGROUPS)
        fprintf(file, "  and %u more\n", num - MOST_SUBGROUPS);
}

void cohort__machine_print(FILE *file, const struct cohort__machine *machine, uint32_t root,
                           uint64_t turn)
{
    for (uint32_t level = 0; level < cohort__machine_num_levels(machine); level++) {
        uint32_t num = cohort__machine_num_subgroups(machine, level);
        fprintf(file, "%s: %u", cohort__machine_name(machine, level), num);
        /* Each lies in one of these, so if there are as many, they are the same. */
        if (level > 0 && num == cohort__machine_num_subgroups(machine, level - 1)) {
            fprintf(file, ", as %s\n", cohort__machine_name(machine, level - 1));
            continue;
        }
        fprintf(file, ", at most %u in one, %s\n", cohort__machine_largest(machine, level),
                cohort__machine_keeps_order(machine, level) ? "in order" : "scattered");
        print_subgroups(file, machine, level, root, turn);
    }
}
