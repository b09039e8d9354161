/* SPDX-License-Identifier: Apache-2.0 */
/* Shift, direct: one message from each site i to site i + q, modulo N.
 * Cost: t_s + t_w m. TMP: none.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.6.2: what a hypercube
 * with E-cube routing needs. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/relay.h"
#include "collectives/algo/pattern/wrap.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__hop hop = {
        .to = cohort__wrap_after(request->this_site, request->shift, request->num_sites),
        .from = cohort__wrap_before(request->this_site, request->shift, request->num_sites)};
    return cohort__relay_build(request, "shift_direct", &hop, 1, ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    return cohort__relay_cost(request, request->shift > 0);
}

const struct cohort__algorithm cohort__shift_direct = {
    .collective = COHORT__SHIFT,
    .name = "direct",
    .build = build,
    .cost = cost,
};
