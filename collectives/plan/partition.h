/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_PARTITION_H
#define COHORT_COLLECTIVES_PLAN_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

/* A group of consecutive sites. The first one represents it. */
struct cohort__range {
    uint32_t first;
    uint32_t count;
};

/* partition(num_sites, arity): count = min(arity, num_sites) groups of num_sites / count sites. The
 * first num_sites % count of them have one site more. This rule is only here. arity >= 1. */
uint32_t cohort__partition_count(uint32_t num_sites, uint32_t arity);

/* Group INDEX of WHOLE. */
struct cohort__range cohort__partition_group(struct cohort__range whole, uint32_t arity,
                                             uint32_t index);

/* The index of the group that SITE, one of WHOLE, is in. Constant time. */
uint32_t cohort__partition_find(struct cohort__range whole, uint32_t arity, uint32_t site);

/* Whether a group is not partitioned any further: all its sites exchange data with its
 * representative directly. */
bool cohort__partition_is_leaf(struct cohort__range range, uint32_t arity);

/* The number of levels of the tree over num_sites. It is 1 where they are one leaf. arity >= 2. */
uint32_t cohort__partition_levels(uint32_t num_sites, uint32_t arity);

#endif
