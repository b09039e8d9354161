/* SPDX-License-Identifier: Apache-2.0 */
/* Shift, ring: min(q, N - q) hops to a neighbour, the shorter way round.
 * Cost: (t_s + t_w m) min(q, N - q). TMP: a block.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.6. */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/relay.h"
#include "collectives/algo/pattern/wrap.h"

static uint32_t count_hops(const struct cohort__request *request)
{
    uint32_t back = request->num_sites - request->shift;
    return request->shift < back ? request->shift : back;
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    uint32_t num_sites = request->num_sites, this_site = request->this_site;
    uint32_t num_hops = count_hops(request);
    bool is_forward = num_hops == request->shift;
    uint32_t one = num_sites > 1;
    uint32_t after = cohort__wrap_after(this_site, one, num_sites);
    uint32_t before = cohort__wrap_before(this_site, one, num_sites);
    struct cohort__hop *hops = calloc(num_hops + (size_t)1, sizeof(*hops));
    if (!hops)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "plan shift_ring at site %u of %u: no memory",
                           this_site, num_sites);
    for (uint32_t hop = 0; hop < num_hops; hop++)
        hops[hop] = (struct cohort__hop){.to = is_forward ? after : before,
                                         .from = is_forward ? before : after};
    cohort_status status = cohort__relay_build(request, "shift_ring", hops, num_hops, ret_plan);
    free(hops);
    return status;
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    return cohort__relay_cost(request, count_hops(request));
}

const struct cohort__algorithm cohort__shift_ring = {
    .collective = COHORT__SHIFT,
    .name = "ring",
    .build = build,
    .cost = cost,
};
