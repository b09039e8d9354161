/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/all_to_all_direct.h"

#include "collectives/algo/pattern/wrap.h"

enum { PHASE = 1, TAG = 0 };

static uint32_t source_of(uint32_t num_ranks, uint32_t this_rank, enum cohort__partners partners,
                          uint32_t round)
{
    if (partners == COHORT__PARTNERS_BY_XOR)
        return this_rank ^ round;
    return cohort__wrap_before(this_rank, round, num_ranks);
}

static uint32_t target_of(uint32_t num_ranks, uint32_t this_rank, enum cohort__partners partners,
                          uint32_t round)
{
    if (partners == COHORT__PARTNERS_BY_XOR)
        return this_rank ^ round;
    return cohort__wrap_after(this_rank, round, num_ranks);
}

void cohort__all_to_all_direct_append(struct cohort__plan_builder *builder, uint32_t num_ranks,
                                      uint32_t this_rank, enum cohort__partners partners,
                                      uint32_t window)
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

cohort_status cohort__all_to_all_direct(const struct cohort__request *request, const char *name,
                                        enum cohort__partners partners, uint32_t window,
                                        struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    uint32_t num_sites = request->num_sites;
    cohort_status status =
        cohort__plan_builder_create(&builder, name, num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
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
    cohort__all_to_all_direct_append(builder, num_sites, request->this_site, partners, window);
    return cohort__plan_finish(builder, ret_plan);
}

/* A message to each other site. When they are sent, one from each other site has come. */
struct cohort__cost cohort__all_to_all_direct_cost(const struct cohort__request *request)
{
    double rounds = request->num_sites - 1.0;
    double bytes = rounds * (double)request->bytes;
    return (struct cohort__cost){.startups = rounds,
                                 .bytes = bytes,
                                 .messages = request->num_sites * rounds,
                                 .moved = request->num_sites * bytes};
}
