/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_MACHINE_H
#define COHORT_COLLECTIVES_PLAN_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cohort/status.h"

/* Which sites are near each other. The machine has levels, numbered from 0, the finest first:
 * localities, domains, hosts. Each level is a partition of all sites into subgroups, and each
 * subgroup lies within one subgroup of the next level. So the subgroups are a tree.
 *
 * The sites have an order in which every subgroup, at every level, is a slice: the subgroups of a
 * level that lie in the same one of the next level follow each other, that with the lowest site
 * first, and within a locality the sites are in the order of their numbers. The subgroups of a
 * level are numbered in this order. The same at all sites; nothing changes after the creation. */
struct cohort__machine;

enum { COHORT__LEVEL_LOCALITY = 0 };

/* A level above the localities. */
struct cohort__machine_level {
    const char *name;         /* stays valid as long as the machine */
    const uint32_t *group_of; /* by locality: equal numbers, below num_localities, are together */
};

/* LOCALITY_OF has the locality of each site, a number below NUM_LOCALITIES. OUTER are the levels
 * above the localities, finest first: what is together in one is together in the next. They are
 * only read during the call. Takes time and memory in proportion to both numbers.
 * COHORT_ERR_NO_MEMORY. */
cohort_status cohort__machine_create(struct cohort__machine **ret_machine,
                                     const uint32_t *locality_of, uint32_t num_sites,
                                     uint32_t num_localities,
                                     const struct cohort__machine_level *outer, uint32_t num_outer);
void cohort__machine_destroy(struct cohort__machine *machine); /* NULL is fine */

uint32_t cohort__machine_num_sites(const struct cohort__machine *machine);
uint32_t cohort__machine_num_levels(const struct cohort__machine *machine);

/* The level with NAME, or the number of levels if there is none. */
uint32_t cohort__machine_find(const struct cohort__machine *machine, const char *name);

const char *cohort__machine_name(const struct cohort__machine *machine, uint32_t level);
uint32_t cohort__machine_num_subgroups(const struct cohort__machine *machine, uint32_t level);
/* How many sites the largest subgroup has. */
uint32_t cohort__machine_largest(const struct cohort__machine *machine, uint32_t level);
/* Whether the sites of each subgroup have consecutive numbers. */
bool cohort__machine_keeps_order(const struct cohort__machine *machine, uint32_t level);

/* The sites of a subgroup; the lowest one is the first. Valid as long as the machine. */
struct cohort__members {
    const uint32_t *sites;
    uint32_t num;
};
struct cohort__members cohort__machine_members(const struct cohort__machine *machine,
                                               uint32_t level, uint32_t subgroup);

/* Subgroups of one level that follow each other. */
struct cohort__children {
    uint32_t first;
    uint32_t num;
};

/* The subgroups of level FINER, below LEVEL, that lie in SUBGROUP of LEVEL. LEVEL may be the number
 * of levels: its only subgroup, 0, has all sites. */
struct cohort__children cohort__machine_children(const struct cohort__machine *machine,
                                                 uint32_t level, uint32_t subgroup, uint32_t finer);

/* All sites in their order; valid as long as the machine. And where SITE is in it. */
const uint32_t *cohort__machine_order(const struct cohort__machine *machine);
uint32_t cohort__machine_place(const struct cohort__machine *machine, uint32_t site);

/* The subgroup that SITE is in, and which of its members SITE is. Logarithmic time. */
uint32_t cohort__machine_subgroup(const struct cohort__machine *machine, uint32_t level,
                                  uint32_t site);
uint32_t cohort__machine_rank(const struct cohort__machine *machine, uint32_t level, uint32_t site);

enum { COHORT__NO_ROOT = UINT32_MAX }; /* of a call that has none */

/* The site that acts for a subgroup at the next level. The leader of a subgroup leads one subgroup
 * at each finer level, too. ROOT, unless it is COHORT__NO_ROOT, leads all subgroups that it is in.
 * TURN chooses the leaders of the others: it is to be different for different communicators, so
 * that not all of them have the same leaders. With 0 it is the lowest site of each subgroup, as an
 * operation needs that doesn't commute. */
uint32_t cohort__machine_leader(const struct cohort__machine *machine, uint32_t level,
                                uint32_t subgroup, uint32_t root, uint64_t turn);

/* Writes a line for each level, and below it one for each of its first subgroups, with their sites
 * and leaders. ROOT and TURN as for cohort__machine_leader. However many sites there are, that is
 * at most a hundred lines. */
void cohort__machine_print(FILE *file, const struct cohort__machine *machine, uint32_t root,
                           uint64_t turn);

#endif
