/* SPDX-License-Identifier: Apache-2.0 */
/* All-gather, for sites that share memory: see shared.h. */
#include "collectives/algo/pattern/shared.h"
#include "collectives/algo/table.h"

const struct cohort__algorithm cohort__all_gather_shared = {
    .collective = COHORT__ALL_GATHER,
    .name = "shared",
    .shared = true,
    .cost = cohort__shared_pairs_cost,
};
