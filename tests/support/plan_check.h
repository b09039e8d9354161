/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_PLAN_CHECK_H
#define COHORT_TESTS_SUPPORT_PLAN_CHECK_H

#include "collectives/plan/plan.h"

/* Checks the plans of all sites of one call, plans[site], against each other:
 *   - the members of a meeting have the same meetings, with blocks of the same sizes;
 *   - every index is in range, every step has the blocks that its kind needs, blocks are in bounds;
 *   - every SEND has exactly one RECV, of the same size, and the reverse;
 *   - every step gets done, even if no message is sent before its RECV has started;
 *   - which bytes each site touches, and in which order (memory_check in plan_check.c).
 * It can't check whether the right values go to the right places. The message names the first
 * defect. */
cohort_status plan_check(struct cohort__plan *const *plans, uint32_t num_sites);

#endif
