/* SPDX-License-Identifier: Apache-2.0 */
/* Exclusive scan, for sites that share memory: see shared.h. */
#include "collectives/algo/pattern/shared.h"
#include "collectives/algo/table.h"

const struct cohort__algorithm cohort__exclusive_scan_shared = {
    .collective = COHORT__EXCLUSIVE_SCAN,
    .name = "shared",
    .shared = true,
    .ordered = true,
    .cost = cohort__shared_reduce_cost,
};
