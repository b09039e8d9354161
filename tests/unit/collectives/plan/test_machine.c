/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/machine.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

/* Random placements against the definition of the machine, read off the input by brute force. */

enum { MAX_SITES = 24, MAX_LOCALITIES = 12, MAX_OUTER = 3, NUM_CASES = 5000 };

static const char *const names[MAX_OUTER] = {"domain", "host", "switch"};

struct placement {
    uint32_t num_sites, num_localities, num_outer;
    uint32_t locality_of[MAX_SITES];
    uint32_t group_of[MAX_OUTER][MAX_LOCALITIES];
};

static uint32_t below(struct cohort__random *random, uint32_t limit)
{
    return (uint32_t)cohort__random_below(random, limit);
}

/* Blocks, in turns, anywhere, or all but one together. */
static uint32_t draw_locality(struct cohort__random *random, const struct placement *placement,
                              uint32_t kind, uint32_t site)
{
    switch (kind) {
    case 0:
        return site * placement->num_localities / placement->num_sites;
    case 1:
        return site % placement->num_localities;
    case 2:
        return site == 0 ? placement->num_localities - 1 : 0;
    default:
        return below(random, placement->num_localities);
    }
}

/* A group of a level is some groups of the level below. Its number is any of theirs. */
static void draw(struct cohort__random *random, struct placement *placement)
{
    uint32_t kind = below(random, 5);
    placement->num_sites = 1 + below(random, MAX_SITES);
    placement->num_localities = 1 + below(random, MAX_LOCALITIES);
    placement->num_outer = below(random, MAX_OUTER + 1);
    for (uint32_t site = 0; site < placement->num_sites; site++)
        placement->locality_of[site] = draw_locality(random, placement, kind, site);
    for (uint32_t level = 0; level < placement->num_outer; level++) {
        uint32_t into[MAX_LOCALITIES];
        for (uint32_t i = 0; i < placement->num_localities; i++)
            into[i] = below(random, placement->num_localities);
        for (uint32_t i = 0; i < placement->num_localities; i++)
            placement->group_of[level][i] =
                into[level == 0 ? i : placement->group_of[level - 1][i]];
    }
}

static struct cohort__machine *make(const struct placement *placement)
{
    struct cohort__machine *machine;
    struct cohort__machine_level outer[MAX_OUTER];
    for (uint32_t level = 0; level < MAX_OUTER; level++)
        outer[level] = (struct cohort__machine_level){names[level], placement->group_of[level]};
    CHECK_OK(cohort__machine_create(&machine, placement->locality_of, placement->num_sites,
                                    placement->num_localities, outer, placement->num_outer));
    return machine;
}

static uint32_t group_at(const struct placement *placement, uint32_t level, uint32_t site)
{
    uint32_t locality = placement->locality_of[site];
    return level == 0 ? locality : placement->group_of[level - 1][locality];
}

static uint32_t lowest_with(const struct placement *placement, uint32_t level, uint32_t site)
{
    uint32_t lowest = 0;
    while (group_at(placement, level, lowest) != group_at(placement, level, site))
        lowest++;
    return lowest;
}

/* Which of LEFT and RIGHT comes first: at the coarsest level at which they are apart, that whose
 * subgroup has the lowest site; in one locality, the lower one. */
static bool comes_first(const struct placement *placement, uint32_t left, uint32_t right)
{
    for (uint32_t level = placement->num_outer + 1; level-- > 0;) {
        uint32_t a = lowest_with(placement, level, left), b = lowest_with(placement, level, right);
        if (a != b)
            return a < b;
    }
    return left < right;
}

static void check_order(const struct placement *placement, const struct cohort__machine *machine)
{
    uint32_t num = 0, last = 0, top = placement->num_outer;
    for (uint32_t i = 0; i < cohort__machine_num_subgroups(machine, top); i++) {
        struct cohort__members members = cohort__machine_members(machine, top, i);
        for (uint32_t k = 0; k < members.num; k++, num++) {
            CHECK(num == 0 || comes_first(placement, last, members.sites[k]));
            last = members.sites[k];
        }
    }
    CHECK_INT(num, placement->num_sites);
}

static void check_site(const struct placement *placement, const struct cohort__machine *machine,
                       uint32_t level, uint32_t site)
{
    uint32_t subgroup = cohort__machine_subgroup(machine, level, site), num = 0;
    CHECK(subgroup < cohort__machine_num_subgroups(machine, level));
    struct cohort__members members = cohort__machine_members(machine, level, subgroup);
    uint32_t rank = cohort__machine_rank(machine, level, site);
    CHECK(rank < members.num);
    CHECK_INT(members.sites[rank], site);
    CHECK_INT(members.sites[0], lowest_with(placement, level, site));
    for (uint32_t other = 0; other < placement->num_sites; other++) {
        bool is_same = group_at(placement, level, other) == group_at(placement, level, site);
        CHECK_INT(cohort__machine_subgroup(machine, level, other) == subgroup, is_same);
        num += is_same;
    }
    CHECK_INT(members.num, num);
    CHECK(cohort__machine_largest(machine, level) >= num);
}

static void check_level(const struct placement *placement, const struct cohort__machine *machine,
                        uint32_t level)
{
    uint32_t num = 0, largest = 0;
    bool keeps_order = true;
    for (uint32_t site = 0; site < placement->num_sites; site++) {
        uint32_t lowest = lowest_with(placement, level, site), size = 0;
        num += lowest == site;
        for (uint32_t other = lowest; other <= site; other++)
            size += lowest_with(placement, level, other) == lowest;
        keeps_order = keeps_order && size == site - lowest + 1;
        largest = size > largest ? size : largest;
        check_site(placement, machine, level, site);
    }
    CHECK_INT(cohort__machine_num_subgroups(machine, level), num);
    CHECK_INT(cohort__machine_largest(machine, level), largest);
    CHECK_INT(cohort__machine_keeps_order(machine, level), keeps_order);
    CHECK_TEXT(cohort__machine_name(machine, level), level == 0 ? "locality" : names[level - 1]);
}

/* The leader of each subgroup is in it, and leads one of the subgroups in it. */
static void check_leaders(const struct placement *placement, const struct cohort__machine *machine,
                          uint32_t root, uint64_t turn)
{
    for (uint32_t level = 0; level <= placement->num_outer; level++)
        for (uint32_t i = 0; i < cohort__machine_num_subgroups(machine, level); i++) {
            uint32_t leader = cohort__machine_leader(machine, level, i, root, turn);
            uint32_t lowest = cohort__machine_members(machine, level, i).sites[0];
            CHECK_INT(cohort__machine_subgroup(machine, level, leader), i);
            if (root != COHORT__NO_ROOT && lowest_with(placement, level, root) == lowest)
                CHECK_INT(leader, root);
            else if (turn == 0)
                CHECK_INT(leader, lowest);
            if (level > 0)
                CHECK_INT(cohort__machine_leader(
                              machine, level - 1,
                              cohort__machine_subgroup(machine, level - 1, leader), root, turn),
                          leader);
        }
}

TEST(random)
{
    for (uint64_t seed = 0; seed < NUM_CASES; seed++) {
        struct placement placement;
        struct cohort__random random = cohort__random_seeded(seed);
        draw(&random, &placement);
        struct cohort__machine *machine = make(&placement);
        CHECK_INT(cohort__machine_num_sites(machine), placement.num_sites);
        CHECK_INT(cohort__machine_num_levels(machine), placement.num_outer + 1);
        check_order(&placement, machine);
        for (uint32_t level = 0; level <= placement.num_outer; level++)
            check_level(&placement, machine, level);
        check_leaders(&placement, machine, COHORT__NO_ROOT, 0);
        check_leaders(&placement, machine, COHORT__NO_ROOT, cohort__random_next(&random));
        check_leaders(&placement, machine, below(&random, placement.num_sites),
                      cohort__random_next(&random));
        cohort__machine_destroy(machine);
    }
}

/* Each member of a subgroup becomes its leader by some turn. */
TEST(turns)
{
    const struct placement placement = {
        .num_sites = 6, .num_localities = 2, .num_outer = 1, .locality_of = {0, 1, 1, 0, 1, 1}};
    struct cohort__machine *machine = make(&placement);
    bool leads[2][6] = {{false}};
    for (uint64_t turn = 0; turn < 12; turn++) {
        leads[0][cohort__machine_leader(machine, 0, 1, COHORT__NO_ROOT, turn)] = true;
        leads[1][cohort__machine_leader(machine, 1, 0, COHORT__NO_ROOT, turn)] = true;
    }
    for (uint32_t site = 0; site < 6; site++)
        CHECK_INT(leads[0][site], placement.locality_of[site] == 1);
    CHECK(leads[1][0] || leads[1][3]);
    CHECK(leads[1][1] || leads[1][2] || leads[1][4] || leads[1][5]);
    cohort__machine_destroy(machine);
}

/* A million sites, scattered over 4,096 localities, and each in a locality of its own. */
TEST(million)
{
    enum { SITES = 1000000 };
    static uint32_t locality_of[SITES], host_of[SITES];
    const struct cohort__machine_level host = {"host", host_of};
    const uint32_t num_localities[] = {4096, SITES};
    for (int k = 0; k < 2; k++) {
        struct cohort__machine *machine;
        for (uint32_t site = 0; site < SITES; site++) {
            locality_of[site] = (uint32_t)((uint64_t)site * 7919 % num_localities[k]);
            host_of[site] = site % 1000;
        }
        CHECK_OK(cohort__machine_create(&machine, locality_of, SITES, num_localities[k], &host, 1));
        CHECK_INT(cohort__machine_num_subgroups(machine, 0), num_localities[k]);
        CHECK_INT(cohort__machine_num_subgroups(machine, 1), 1000);
        for (uint32_t site = 0; site < SITES; site++) {
            uint32_t subgroup = cohort__machine_subgroup(machine, 1, site);
            struct cohort__members members = cohort__machine_members(machine, 1, subgroup);
            CHECK_INT(members.sites[cohort__machine_rank(machine, 1, site)], site);
            CHECK_INT(locality_of[members.sites[0]] % 1000, locality_of[site] % 1000);
        }
        cohort__machine_destroy(machine);
    }
}
