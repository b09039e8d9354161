/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-alls in which every block goes directly to its site, in num_sites - 1 rounds. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/subplans.h"
#include "collectives/algo/pattern/wrap.h"

enum { PHASE = 1, TAG = 0 };

/* The partners of site i in round j = 1 .. num_sites - 1. */
enum partners {
    BY_OFFSET, /* sends to i + j, receives from i - j, modulo num_sites */
    BY_XOR,    /* both with i XOR j; num_sites is a power of two */
};

static uint32_t source_of(uint32_t num_ranks, uint32_t this_rank, enum partners partners,
                          uint32_t round)
{
    if (partners == BY_XOR)
        return this_rank ^ round;
    return cohort__wrap_before(this_rank, round, num_ranks);
}

static uint32_t target_of(uint32_t num_ranks, uint32_t this_rank, enum partners partners,
                          uint32_t round)
{
    if (partners == BY_XOR)
        return this_rank ^ round;
    return cohort__wrap_after(this_rank, round, num_ranks);
}

/* The message of round j is sent when those of round j - WINDOW have been sent and received. So at
 * most WINDOW are under way in each direction. Receives are posted at once: they cost nothing, and
 * what comes early goes directly to its place. A window of num_sites is no limit. For the
 * builder's first 2 num_ranks blocks: block r goes to rank r, block num_ranks + r comes from there.
 */
static void rounds_append(struct cohort__plan_builder *builder, uint32_t num_ranks,
                          uint32_t this_rank, enum partners partners, uint32_t window)
{
    uint32_t first = cohort__plan_num_steps(builder);
    for (uint32_t round = 1; round < num_ranks; round++) {
        uint32_t source = source_of(num_ranks, this_rank, partners, round);
        uint32_t from = num_ranks + source;
        cohort__plan_recv(builder, PHASE, source, TAG, &from, 1);
    }
    for (uint32_t round = 1; round < num_ranks; round++) {
        uint32_t target = target_of(num_ranks, this_rank, partners, round);
        uint32_t send = cohort__plan_send(builder, PHASE, target, TAG, &target, 1);
        if (round > window) {
            cohort__plan_after(builder, send, first + (round - window - 1));
            cohort__plan_after(builder, send, send - window);
        }
    }
    cohort__plan_copy(builder, PHASE, num_ranks + this_rank, this_rank);
}

static void direct_build(struct cohort__plan_builder *builder,
                         const struct cohort__request *request, enum partners partners,
                         uint32_t window)
{
    uint32_t num_sites = request->num_sites;
    for (uint32_t site = 0; site < num_sites; site++) {
        struct cohort__part part = cohort__request_in(request, site);
        cohort__plan_range(builder, COHORT__SPACE_IN, part.offset, part.bytes);
    }
    for (uint32_t site = 0; site < num_sites; site++) {
        struct cohort__part part = cohort__request_out(request, site);
        cohort__plan_range(builder, COHORT__SPACE_OUT, part.offset, part.bytes);
    }
    if (request->out_parts)
        cohort__plan_set_gaps(builder);
    rounds_append(builder, num_sites, request->this_site, partners, window);
}

/* A message to each other site. When they are sent, one from each other site has come. */
static struct cohort__cost direct_cost(const struct cohort__request *request)
{
    double rounds = request->num_sites - 1.0;
    double bytes = rounds * (double)request->bytes;
    return (struct cohort__cost){.startups = rounds,
                                 .bytes = bytes,
                                 .messages = request->num_sites * rounds,
                                 .moved = request->num_sites * bytes};
}

/* All-to-all, linear. In the i-th of N-1 rounds a site sends to the i-th site after it and receives
 * from the i-th site before it. So no site is the first target of all. Rounds do not wait for each
 * other.
 * Cost: (t_s + t_w m)(N-1); N-1 messages out of and into each site, one block each. TMP: none.
 * Source: pairwise exchange by offset. */
static void blocks_append(struct cohort__plan_builder *builder,
                          const struct cohort__request *request, const uint32_t *weights,
                          enum cohort__space space)
{
    size_t offset = 0;
    size_t row = request->bytes * (weights ? weights[request->this_site] : 1);
    for (uint32_t rank = 0; rank < request->num_sites; rank++) {
        size_t bytes = row * (weights ? weights[rank] : 1);
        cohort__plan_range(builder, space, offset, bytes);
        offset += bytes;
    }
}

cohort_status cohort__all_to_all_linear_subplan(const struct cohort__request *request,
                                                const uint32_t *weights,
                                                struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    cohort_status status = cohort__plan_builder_create(&builder, "all_to_all_linear",
                                                       request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    blocks_append(builder, request, weights, COHORT__SPACE_IN);
    blocks_append(builder, request, weights, COHORT__SPACE_OUT);
    rounds_append(builder, request->num_sites, request->this_site, BY_OFFSET, request->num_sites);
    return cohort__plan_finish(builder, ret_plan);
}

static void linear_build(struct cohort__plan_builder *builder,
                         const struct cohort__request *request)
{
    direct_build(builder, request, BY_OFFSET, request->num_sites);
}

const struct cohort__algorithm cohort__all_to_all_linear = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "linear",
    .ragged = true,
    .build = linear_build,
    .cost = direct_cost,
};

/* All-to-all, spread: the rounds of all_to_all_linear, with at most four of them under way. The
 * message of round j is sent when those of round j - 4 have been sent and received. So a site is
 * sent few blocks at a time, and a late site does not delay all others at once as in
 * all_to_all_pairwise.
 * Cost: (t_s + t_w m)(N-1); N-1 messages out of and into each site, one block each. TMP: none.
 * Source: Thakur, Rabenseifner, Gropp (IJHPCA 2005), medium messages; the window is that of MPICH's
 * scattered all-to-all, but sliding instead of in batches. */
enum { WINDOW = 4 };

static void spread_build(struct cohort__plan_builder *builder,
                         const struct cohort__request *request)
{
    direct_build(builder, request, BY_OFFSET, WINDOW);
}

const struct cohort__algorithm cohort__all_to_all_spread = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "spread",
    .ragged = true,
    .build = spread_build,
    .cost = direct_cost,
};

/* All-to-all, pairwise: the rounds of all_to_all_linear, one after the other. In round j a site
 * sends to the j-th site after it and receives from the j-th site before it. So a site is never
 * sent more than one block at a time.
 * Cost: (t_s + t_w m)(N-1); N-1 messages out of and into each site, one block each. TMP: none.
 * Source: Thakur, Rabenseifner, Gropp (IJHPCA 2005), long messages. */
static void pairwise_build(struct cohort__plan_builder *builder,
                           const struct cohort__request *request)
{
    direct_build(builder, request, BY_OFFSET, 1);
}

const struct cohort__algorithm cohort__all_to_all_pairwise = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "pairwise",
    .ragged = true,
    .build = pairwise_build,
    .cost = direct_cost,
};

/* All-to-all, pairwise by XOR: in round j site i exchanges blocks with site i XOR j, one round
 * after the other. In a hypercube with E-cube routing no two messages of a round meet on a link.
 * Cost: (t_s + t_w m)(N-1), which is optimal in a hypercube. TMP: none.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.5.3: the optimal
 * algorithm. */
static void pairwise_xor_build(struct cohort__plan_builder *builder,
                               const struct cohort__request *request)
{
    direct_build(builder, request, BY_XOR, 1);
}

const struct cohort__algorithm cohort__all_to_all_pairwise_xor = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "pairwise_xor",
    .ragged = true,
    .needs = cohort__needs_power_of_two,
    .accepts = cohort__is_power_of_two,
    .build = pairwise_xor_build,
    .cost = direct_cost,
};
