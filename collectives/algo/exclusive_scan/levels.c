/* SPDX-License-Identifier: Apache-2.0 */
/* Exclusive scan that follows the machine: see scan/levels.c. Source and costs as there. */
#include "collectives/algo/pattern/levels.h"
#include "collectives/algo/scan/scan.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    return cohort__scan_levels_build(request, "exclusive_scan_levels", ret_plan);
}

const struct cohort__algorithm cohort__exclusive_scan_levels = {
    .collective = COHORT__EXCLUSIVE_SCAN,
    .name = "levels",
    .needs = cohort__levels_needs,
    .accepts = cohort__levels_accepts,
    .build = build,
    .stages = cohort__scan_levels_stages,
    .top = COHORT__EXCLUSIVE_SCAN,
};
