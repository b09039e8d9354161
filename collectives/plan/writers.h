/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_WRITERS_H
#define COHORT_COLLECTIVES_PLAN_WRITERS_H

#include "collectives/plan/plan.h"

/* Some bytes of a space, and a step that is to wait until they are written. */
struct cohort__written {
    size_t offset;
    size_t bytes;
    uint32_t step;
    uint32_t last; /* for the search; 0 */
};

/* Lets the step of each of RANGES, which must not overlap, wait for all steps that write to that
 * range of SPACE. The steps of ranges themselves write nothing. Sorts RANGES. */
void cohort__plan_after_writers(struct cohort__plan_builder *builder, enum cohort__space space,
                                struct cohort__written *ranges, uint32_t num);

#endif
