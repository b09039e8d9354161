/* SPDX-License-Identifier: Apache-2.0 */
/* Shift, for sites that share memory: see shared.h. */
#include "collectives/algo/pattern/shared.h"
#include "collectives/algo/table.h"

const struct cohort__algorithm cohort__shift_shared = {
    .collective = COHORT__SHIFT,
    .name = "shared",
    .shared = true,
    .cost = cohort__shared_blocks_cost,
};
