/* SPDX-License-Identifier: Apache-2.0 */
/* Barrier, dissemination: the sites are a circle. In step k a site tells the one 2^k after it that
 * all of which it knows have come, itself first, and is told the same by the one 2^k before it. So
 * what a site knows of doubles with each step, and after the last one it is everybody.
 * Cost: t_s ceil(log N); N ceil(log N) messages. TMP: none.
 * Source: Hensgen, Finkel, Manber, Two algorithms for barrier synchronization (IJPP 1988). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/wrap.h"

enum { PHASE = 1, TAG = 0 };

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    uint32_t num_sites = request->num_sites;
    uint32_t this_site = request->this_site;
    uint32_t num_steps = cohort__log2_ceiling(num_sites);
    for (uint32_t k = 0; k < num_steps; k++) /* they are steps 0, 1 .. of the plan */
        cohort__plan_recv(builder, PHASE, cohort__wrap_before(this_site, 1U << k, num_sites), TAG,
                          NULL, 0);
    for (uint32_t k = 0; k < num_steps; k++) {
        uint32_t send = cohort__plan_send(
            builder, PHASE, cohort__wrap_after(this_site, 1U << k, num_sites), TAG, NULL, 0);
        for (uint32_t recv = 0; recv < k; recv++)
            cohort__plan_after(builder, send, recv);
    }
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    double num_steps = cohort__log2_ceiling(request->num_sites);
    return (struct cohort__cost){.startups = num_steps, .messages = request->num_sites * num_steps};
}

const struct cohort__algorithm cohort__barrier_dissemination = {
    .collective = COHORT__BARRIER,
    .name = "dissemination",
    .build = build,
    .cost = cost,
};
