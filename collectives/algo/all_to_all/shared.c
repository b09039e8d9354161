/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, for sites that share memory: see shared.h. */
#include "collectives/algo/pattern/shared.h"
#include "collectives/algo/table.h"

const struct cohort__algorithm cohort__all_to_all_shared = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "shared",
    .shared = true,
    .cost = cohort__shared_pairs_cost,
};
