/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/shared.h"

/* The cost if all sites together write BYTES, and reduce REDUCED of them. */
static struct cohort__cost cost_of(const struct cohort__request *request, double bytes,
                                   double reduced)
{
    return (struct cohort__cost){
        .startups = 1,
        .bytes = bytes,
        .reduced = reduced,
        .messages = request->num_sites,
        .moved = bytes,
        .combined = reduced,
    };
}

struct cohort__cost cohort__shared_blocks_cost(const struct cohort__request *request)
{
    return cost_of(request, (double)request->num_sites * (double)request->bytes, 0);
}

struct cohort__cost cohort__shared_pairs_cost(const struct cohort__request *request)
{
    double num_sites = request->num_sites;
    return cost_of(request, num_sites * num_sites * (double)request->bytes, 0);
}

struct cohort__cost cohort__shared_reduce_cost(const struct cohort__request *request)
{
    double reduced = (request->num_sites - 1.0) * (double)request->bytes;
    bool all = request->collective == COHORT__ALL_REDUCE;
    return cost_of(request, all ? reduced : 0, reduced);
}

struct cohort__cost cohort__shared_reduce_scatter_cost(const struct cohort__request *request)
{
    double num_sites = request->num_sites;
    return cost_of(request, 0, num_sites * (num_sites - 1) * (double)request->bytes);
}

struct cohort__cost cohort__shared_barrier_cost(const struct cohort__request *request)
{
    return cost_of(request, 0, 0);
}
