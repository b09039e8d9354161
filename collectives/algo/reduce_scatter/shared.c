/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce-scatter, for sites that share memory: see shared.h. */
#include "collectives/algo/pattern/shared.h"
#include "collectives/algo/table.h"

const struct cohort__algorithm cohort__reduce_scatter_shared = {
    .collective = COHORT__REDUCE_SCATTER,
    .name = "shared",
    .shared = true,
    .ordered = true,
    .cost = cohort__shared_reduce_scatter_cost,
};
