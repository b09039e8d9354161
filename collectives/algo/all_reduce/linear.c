/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce, linear: reduce_linear to site 0 (phase 1), then broadcast_linear from it (phase 3).
 * Cost: 2 (N-1) messages, all of them at site 0. TMP: as reduce/linear.c.
 * Source: folklore; the composition of the reference design over one group. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/compose.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    return cohort__all_reduce_compose(request, request->num_sites, "all_reduce_linear", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    return cohort__all_reduce_compose_cost(request, request->num_sites);
}

const struct cohort__algorithm cohort__all_reduce_linear = {
    .collective = COHORT__ALL_REDUCE,
    .name = "linear",
    .ordered = true,
    .build = build,
    .cost = cost,
};
