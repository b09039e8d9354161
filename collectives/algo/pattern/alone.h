/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_ALONE_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_ALONE_H

#include "collectives/plan/plan.h"

/* What most collectives are for a single site: the first BYTES of OUT = those of IN. */
void cohort__alone_append(struct cohort__plan_builder *builder, size_t bytes);

#endif
