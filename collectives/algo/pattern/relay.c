/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/relay.h"

enum { PHASE = 1 };

static uint32_t count_moves(const struct cohort__request *request, const struct cohort__hop *hops,
                            uint32_t num_hops)
{
    uint32_t num_moves = 0;
    for (uint32_t hop = 0; hop < num_hops; hop++)
        num_moves += hops[hop].to != request->this_site;
    return num_moves;
}

/* A block is received in the place of the one before the last, after that one has been sent on. */
static void moves_append(struct cohort__plan_builder *builder,
                         const struct cohort__request *request, const struct cohort__hop *hops,
                         uint32_t num_moves)
{
    uint32_t places[2] = {cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes)};
    uint32_t at = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    uint32_t last_send = COHORT__NO_STEP, last_recv = COHORT__NO_STEP;
    if (num_moves > 1)
        places[1] = cohort__plan_tmp(builder, request->bytes);
    for (uint32_t hop = 0, left = num_moves; left > 0; hop++) {
        if (hops[hop].to == request->this_site)
            continue;
        uint32_t place = places[--left % 2];
        uint32_t recv = cohort__plan_recv(builder, PHASE, hops[hop].from, hop, &place, 1);
        uint32_t send = cohort__plan_send(builder, PHASE, hops[hop].to, hop, &at, 1);
        cohort__plan_after(builder, send, last_recv);
        if (num_moves - left > 2)
            cohort__plan_after(builder, recv, last_send);
        at = place;
        last_recv = recv;
        last_send = send;
    }
}

cohort_status cohort__relay_build(const struct cohort__request *request, const char *name,
                                  const struct cohort__hop *hops, uint32_t num_hops,
                                  struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    uint32_t num_moves = count_moves(request, hops, num_hops);
    cohort_status status =
        cohort__plan_builder_create(&builder, name, request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    if (num_moves > 0)
        moves_append(builder, request, hops, num_moves);
    else
        cohort__plan_copy(builder, PHASE,
                          cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes),
                          cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes));
    return cohort__plan_finish(builder, ret_plan);
}

struct cohort__cost cohort__relay_cost(const struct cohort__request *request, uint32_t num_hops)
{
    double bytes = num_hops * (double)request->bytes;
    return (struct cohort__cost){.startups = num_hops,
                                 .bytes = bytes,
                                 .messages = (double)num_hops * request->num_sites,
                                 .moved = bytes * request->num_sites,
                                 .memory = num_hops > 1 ? (double)request->bytes : 0};
}
