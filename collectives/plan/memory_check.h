/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_MEMORY_CHECK_H
#define COHORT_COLLECTIVES_PLAN_MEMORY_CHECK_H

#include "collectives/plan/plan.h"

/* Checks which bytes the steps of one site touch, and in which order. PLAN's indices have to be in
 * range, and its steps must not have a cycle.
 *   - IN is never written; every byte of OUT is written, unless the plan has gaps;
 *   - two steps that touch the same byte, and of which at least one writes it, are ordered, one way
 *     or the other, by the dependencies of this site alone; an order that only messages give does
 *     not count;
 *   - TMP is written before it is read;
 *   - no step writes a byte twice, or reads what it writes, except a REDUCE in place. */
cohort_status cohort__memory_check(const struct cohort__plan *plan);

#endif
