/* SPDX-License-Identifier: Apache-2.0 */
/* Barrier, for sites that share memory: see shared.h. */
#include "collectives/algo/pattern/shared.h"
#include "collectives/algo/table.h"

const struct cohort__algorithm cohort__barrier_shared = {
    .collective = COHORT__BARRIER,
    .name = "shared",
    .shared = true,
    .cost = cohort__shared_barrier_cost,
};
