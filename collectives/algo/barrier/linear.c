/* SPDX-License-Identifier: Apache-2.0 */
/* Barrier, linear: gather_linear and broadcast_linear of no bytes. Each site tells site 0 that it
 * is there (phase 1). Then site 0 tells all (phase 3).
 * Cost: 2 (N-1) messages, all of them at site 0. TMP: none.
 * Source: folklore; the composition of the reference design over one group. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/compose.h"
#include "collectives/algo/pattern/cost.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__request empty = *request;
    empty.bytes = 0;
    return cohort__all_gather_compose(&empty, request->num_sites, "barrier_linear", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__cost way = cohort__cost_broadcast(request->num_sites, request->num_sites, 0);
    return cohort__cost_then(way, way);
}

const struct cohort__algorithm cohort__barrier_linear = {
    .collective = COHORT__BARRIER,
    .name = "linear",
    .hierarchical = false,
    .build = build,
    .cost = cost,
};
