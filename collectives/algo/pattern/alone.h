/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_ALONE_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_ALONE_H

#include "collectives/plan/plan.h"

/* What most collectives do for a single site: copies the first BYTES of IN to OUT. */
void cohort__alone_append(struct cohort__plan_builder *builder, size_t bytes);

#endif
