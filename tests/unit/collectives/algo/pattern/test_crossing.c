/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/crossing.h"
#include "tests/support/test.h"

enum { MAX_SITES = 24 };

/* LOCALITY_OF, of four localities on as many hosts as it says. */
static struct cohort__machine *machine_of(const uint32_t *locality_of, uint32_t num_sites)
{
    static const uint32_t host_of[] = {0, 0, 1, 1};
    const struct cohort__machine_level outer[] = {{"host", host_of}};
    struct cohort__machine *machine = NULL;
    CHECK_OK(cohort__machine_create(&machine, locality_of, num_sites, 4, outer, 1));
    return machine;
}

static void check_crossing(const struct cohort__machine *machine, uint32_t level, uint32_t shift,
                           uint32_t num_leaving, uint32_t num_subgroups)
{
    struct cohort__crossing crossing = cohort__crossing_of(machine, level, shift);
    CHECK_INT(crossing.num_leaving, num_leaving);
    CHECK_INT(crossing.num_subgroups, num_subgroups);
}

/* Subgroups of consecutive sites. */
TEST(blocks)
{
    uint32_t locality_of[MAX_SITES];
    for (uint32_t site = 0; site < MAX_SITES; site++)
        locality_of[site] = site / 6;
    struct cohort__machine *machine = machine_of(locality_of, MAX_SITES);
    CHECK_INT(cohort__crossing_of(machine, 0, 1).num_sites, 6);
    check_crossing(machine, 0, 0, 0, 0);
    check_crossing(machine, 0, 1, 1, 1);
    check_crossing(machine, 0, 4, 4, 1);
    check_crossing(machine, 0, 6, 6, 1);
    check_crossing(machine, 0, 9, 6, 2);
    check_crossing(machine, 0, 23, 1, 1);
    check_crossing(machine, 1, 9, 9, 1);
    check_crossing(machine, 1, 12, 12, 1);
    check_crossing(machine, 1, 15, 9, 1); /* there is only one other */
    cohort__machine_destroy(machine);
}

/* Sites dealt out to the localities. */
TEST(cyclic)
{
    uint32_t locality_of[MAX_SITES];
    for (uint32_t site = 0; site < MAX_SITES; site++)
        locality_of[site] = site % 4;
    struct cohort__machine *machine = machine_of(locality_of, MAX_SITES);
    check_crossing(machine, 0, 1, 6, 1);
    check_crossing(machine, 0, 4, 0, 0);
    check_crossing(machine, 1, 1, 6, 1);
    check_crossing(machine, 1, 2, 12, 1);
    check_crossing(machine, 1, 4, 0, 0);
    cohort__machine_destroy(machine);
}

/* A largest subgroup that is not the first one. */
TEST(uneven)
{
    static const uint32_t locality_of[] = {0, 1, 1, 1, 1, 2, 3, 3};
    struct cohort__machine *machine = machine_of(locality_of, 8);
    CHECK_INT(cohort__crossing_of(machine, 0, 1).num_sites, 4);
    check_crossing(machine, 0, 1, 1, 1);
    check_crossing(machine, 0, 2, 2, 2);
    check_crossing(machine, 0, 4, 4, 3);
    cohort__machine_destroy(machine);
}
