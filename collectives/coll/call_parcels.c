/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_parcels.h"

bool cohort__call_sizes_differ(const struct cohort__call *call)
{
    return call->ragged && !call->ragged->counts_agree && !call->ragged->is_graph;
}

bool cohort__call_has_parcels(const struct cohort__call *call,
                              const struct cohort__algorithm *algorithm)
{
    return cohort__call_sizes_differ(call) && !algorithm->ragged;
}

struct cohort__request cohort__call_parcels_request(const struct cohort__call *call,
                                                    const struct cohort__request *like)
{
    struct cohort__request request = *like;
    request.bytes = 1;
    request.element = 1;
    request.can_meet = call->comm->group->is_whole;
    request.has_notes = false;
    request.in_parts = request.out_parts = NULL;
    request.num_in_parts = request.num_out_parts = 0;
    return request;
}

uint32_t cohort__call_parcels_rows(const struct cohort__call *call,
                                   const struct cohort__request *request)
{
    bool is_out_in_place = call->is_in_place && call->in_place == COHORT__IN_PLACE_OUT;
    switch (request->collective) {
    case COHORT__GATHER:
        return request->this_site == request->root ? request->num_sites : 0;
    case COHORT__SCATTER:
        return is_out_in_place ? 0 : 1;
    default:
        return request->num_sites;
    }
}

void cohort__call_parcels(const struct cohort__call *call, const struct cohort__request *request,
                          const void *tail, struct cohort__parcels *ret_in,
                          struct cohort__parcels *ret_out)
{
    const struct cohort__part *in_parts = request->in_parts ? tail : NULL;
    const struct cohort__part *out_parts =
        request->out_parts ? (const struct cohort__part *)tail + request->num_in_parts : NULL;
    bool is_in_place = call->is_in_place && call->in_place != COHORT__IN_PLACE_OUT;
    struct cohort__part own = {.site = request->this_site, .bytes = request->bytes};
    *ret_in = (struct cohort__parcels){
        .base = is_in_place ? call->out : (void *)call->in,
        .parts = in_parts,
        .own = is_in_place && out_parts ? out_parts[request->this_site] : own,
    };
    own.site = request->root; /* a scatter's block is the root's */
    *ret_out = (struct cohort__parcels){.base = call->out, .parts = out_parts, .own = own};
}
