/* SPDX-License-Identifier: Apache-2.0 */
/* Shift, hypercube. Site x is node gray(x) = x XOR x/2 of a hypercube, so that the ring of sites
 * goes along its links. q is a sum of powers of two, and the shift is a sequence of shifts by
 * these. A shift by 1 is one hop. A shift by 2^k, k > 0, is two hops, since gray(x) and gray(x +
 * 2^k) differ in bit k - 1 and one other. The hop of bit k - 1 comes first. In each hop every link
 * carries at most one message in each direction.
 * Cost: (t_s + t_w m)(2 s - (q odd)) with s powers in q, at most 2 log N - 1. TMP: a block.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.6.2. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/relay.h"
#include "collectives/algo/pattern/wrap.h"

enum { MAX_HOPS = 64 };

static uint32_t gray(uint32_t site)
{
    return site ^ site >> 1;
}

static uint32_t site_of_gray(uint32_t node)
{
    for (uint32_t distance = 1; distance < 32; distance *= 2)
        node ^= node >> distance;
    return node;
}

static uint32_t hops_fill(const struct cohort__request *request, struct cohort__hop *hops)
{
    uint32_t num_sites = request->num_sites, site = request->this_site;
    uint32_t num_hops = 0;
    for (uint32_t power = 1; power < num_sites; power *= 2) {
        uint32_t bit = power / 2; /* 0 for a shift by 1 */
        uint32_t across = site_of_gray(gray(site) ^ bit);
        uint32_t source = cohort__wrap_before(site, power, num_sites);
        if (!(request->shift & power))
            continue;
        if (bit != 0)
            hops[num_hops++] = (struct cohort__hop){.to = across, .from = across};
        hops[num_hops++] = (struct cohort__hop){.to = cohort__wrap_after(across, power, num_sites),
                                                .from = site_of_gray(gray(source) ^ bit)};
    }
    return num_hops;
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__hop hops[MAX_HOPS];
    uint32_t num_hops = hops_fill(request, hops);
    return cohort__relay_build(request, "shift_hypercube", hops, num_hops, ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__hop hops[MAX_HOPS];
    return cohort__relay_cost(request, hops_fill(request, hops));
}

const struct cohort__algorithm cohort__shift_hypercube = {
    .collective = COHORT__SHIFT,
    .name = "hypercube",
    .needs = cohort__needs_power_of_two,
    .accepts = cohort__is_power_of_two,
    .build = build,
    .cost = cost,
};
