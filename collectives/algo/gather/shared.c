/* SPDX-License-Identifier: Apache-2.0 */
/* Gather, for sites that share memory: see shared.h. */
#include "collectives/algo/pattern/shared.h"
#include "collectives/algo/table.h"

const struct cohort__algorithm cohort__gather_shared = {
    .collective = COHORT__GATHER,
    .name = "shared",
    .shared = true,
    .cost = cohort__shared_blocks_cost,
};
