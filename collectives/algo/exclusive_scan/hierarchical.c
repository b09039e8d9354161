/* SPDX-License-Identifier: Apache-2.0 */
/* Exclusive scan, hierarchical: scan/hierarchical.c without a site's own block. Site 0 gets
 * nothing. The last site's block is not sent. */
#include "collectives/algo/scan/scan.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    return cohort__scan_hierarchical_build(request, "exclusive_scan_hierarchical", ret_plan);
}

const struct cohort__algorithm cohort__exclusive_scan_hierarchical = {
    .collective = COHORT__EXCLUSIVE_SCAN,
    .name = "hierarchical",
    .hierarchical = true,
    .build = build,
    .cost = cohort__scan_hierarchical_cost,
};
