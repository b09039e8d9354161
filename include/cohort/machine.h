/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_MACHINE_H
#define COHORT_MACHINE_H

#include <stdint.h>

#include "cohort/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the sites of a communicator are, for programs. cohort_comm_describe (explain.h) has the
 * same as a text, and cohort_comm_split_level makes communicators of it.
 *
 * The machine has levels, numbered from 0, the finest first: "locality", "domain" (a last-level
 * cache or a NUMA node), "host", and then those that the user names (COHORT_LEVELS in job.h), a
 * "switch" for instance. Each level divides all sites of the communicator into subgroups, numbered
 * from 0, and each subgroup lies within one subgroup of the next level. All sites see the same
 * levels, subgroups and numbers, and none of them ever changes. A subgroup has the number that it
 * has in the names of cohort_comm_split_level's communicators.
 *
 * COMM is an endpoint to which the caller has a reference. Any task or thread. These functions send
 * nothing, wait for nothing and never suspend; they take constant time, or where they look for a
 * site or a leader, logarithmic time. */

/* How many levels there are: 3, and those that the user names. */
COHORT_API uint32_t cohort_comm_num_machine_levels(const cohort_comm *comm);

/* The name of a level, which stays valid until COMM is given back. NULL: there is no such level. */
COHORT_API const char *cohort_comm_level_name(const cohort_comm *comm, uint32_t level);

/* How many subgroups a level has. 0: there is no such level. */
COHORT_API uint32_t cohort_comm_num_subgroups(const cohort_comm *comm, uint32_t level);

/* The number of the subgroup that SITE is in. UINT32_MAX: there is no such level, or no such
 * site. */
COHORT_API uint32_t cohort_comm_subgroup(const cohort_comm *comm, uint32_t level, uint32_t site);

/* The sites of a subgroup; *ret_num gets how many these are. They are in the order of the finer
 * subgroups that they are in; the lowest one is the first. They belong to the library, and stay
 * valid until COMM is given back. NULL, with *ret_num untouched: there is no such level, or no such
 * subgroup. RET_NUM is not NULL. */
COHORT_API const uint32_t *cohort_comm_subgroup_sites(const cohort_comm *comm, uint32_t level,
                                                      uint32_t subgroup, uint32_t *ret_num);

/* The site that leads a subgroup in calls that have no root, as cohort_comm_describe shows it:
 * algorithms that follow the machine let it do a subgroup's part at the next level. It leads a
 * subgroup at each finer level, too. In a rooted call the root leads those that it is in, and in a
 * reduction that doesn't commute the lowest site. UINT32_MAX: there is no such level, or no such
 * subgroup. */
COHORT_API uint32_t cohort_comm_subgroup_leader(const cohort_comm *comm, uint32_t level,
                                                uint32_t subgroup);

#ifdef __cplusplus
}
#endif

#endif
