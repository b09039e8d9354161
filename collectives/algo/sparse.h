/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_SPARSE_H
#define COHORT_COLLECTIVES_ALGO_SPARSE_H

#include "collectives/algo/algorithm.h"

/* A sparse exchange, as a plan of bundles (exec/sparse_steps.h): each site brings one bundle and
 * gets one. The blocks of the plan have one byte, which stands for a slot.
 *
 * By the row `shared` the sites of a locality gather their bundles at one of them, which sorts all
 * objects by their targets, and scatter what came of it. By `levels` the leader of each of the
 * largest subgroups gathers those of its sites, level by level, and sorts them by the subgroups of
 * their targets; the leaders do an all_to_all of bundles, by the row `inner` of REQUEST; and each
 * sorts what it got by the sites of its subgroup, to whom it goes back. By any other row of
 * all_to_all each site is its own leader.
 * So a site handles its own objects, a leader those of its sites, and one slot for each other
 * leader. Source: the crystal router (Fox et al., Solving Problems on Concurrent Processors, 1988)
 * is what the leaders do by `bruck`; Graham et al., Cheetah (CCGrid 2011), for the levels. */

/* The plan by ROW of all_to_all, which does not refuse REQUEST, one of all_to_all for blocks of a
 * byte. */
cohort_status cohort__sparse_build(const struct cohort__algorithm *row,
                                   const struct cohort__request *request,
                                   struct cohort__plan **ret_plan);

/* The row that is taken if none is forced; NULL: any one that is not composed. */
const struct cohort__algorithm *cohort__sparse_row(const struct cohort__request *request);

#endif
