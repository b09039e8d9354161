/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/alone.h"

enum { PHASE = 1 };

void cohort__alone_append(struct cohort__plan_builder *builder, size_t bytes)
{
    uint32_t to = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, bytes);
    uint32_t from = cohort__plan_range(builder, COHORT__SPACE_IN, 0, bytes);
    cohort__plan_copy(builder, PHASE, to, from);
}
