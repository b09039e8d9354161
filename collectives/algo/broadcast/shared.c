/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcast, for sites that share memory: see shared.h. */
#include "collectives/algo/pattern/shared.h"
#include "collectives/algo/table.h"

const struct cohort__algorithm cohort__broadcast_shared = {
    .collective = COHORT__BROADCAST,
    .name = "shared",
    .shared = true,
    .cost = cohort__shared_blocks_cost,
};
