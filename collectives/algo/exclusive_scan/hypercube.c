/* SPDX-License-Identifier: Apache-2.0 */
/* Exclusive scan, hypercube: scan/hypercube.c without a site's own block. Site 0 gets nothing. The
 * last site's block is not sent. */
#include "collectives/algo/scan/scan.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    return cohort__scan_hypercube_build(request, "exclusive_scan_hypercube", ret_plan);
}

const struct cohort__algorithm cohort__exclusive_scan_hypercube = {
    .collective = COHORT__EXCLUSIVE_SCAN,
    .name = "hypercube",
    .build = build,
    .cost = cohort__scan_hypercube_cost,
};
