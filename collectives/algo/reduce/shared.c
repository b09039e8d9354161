/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce, for sites that share memory: see shared.h. */
#include "collectives/algo/pattern/shared.h"
#include "collectives/algo/table.h"

const struct cohort__algorithm cohort__reduce_shared = {
    .collective = COHORT__REDUCE,
    .name = "shared",
    .shared = true,
    .ordered = true,
    .cost = cohort__shared_reduce_cost,
};
