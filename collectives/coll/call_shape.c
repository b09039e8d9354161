/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call.h"
#include "collectives/coll/can_meet.h"
#include "collectives/comm/assembly.h"
#include "collectives/exec/op.h"

/* Q modulo the number of sites. */
static uint32_t shift_of(const struct cohort__call *call)
{
    int64_t num_sites = cohort_comm_num_sites(call->comm);
    int64_t rest = call->q % num_sites;
    return (uint32_t)(rest < 0 ? rest + num_sites : rest);
}

static uint32_t flags_of(const struct cohort__call *call, bool commutative)
{
    bool rejected = call->rejected.status != COHORT_OK;
    return (commutative ? COHORT__PLAN_COMMUTATIVE : 0) |
           (call->is_in_place && !rejected ? COHORT__PLAN_IN_PLACE : 0) |
           (call->options->ret_rows ? COHORT__PLAN_ROWS : 0) |
           (call->is_reproducible ? COHORT__PLAN_REPRODUCIBLE : 0) |
           (call->is_checked ? COHORT__PLAN_CHECKED : 0) | (rejected ? COHORT__PLAN_REJECTED : 0);
}

enum cohort__variant cohort__call_variant(const struct cohort__call *call)
{
    if (call->of_objects)
        return COHORT__VARIANT_OBJECTS;
    return call->ragged ? call->ragged->variant : COHORT__VARIANT_EQUAL;
}

bool cohort__call_can_meet(const struct cohort_comm *comm, enum cohort__collective collective,
                           size_t bytes)
{
    const struct cohort__group *group = comm->group;
    size_t share = group->has_board ? cohort__assembly_share(group) : 0;
    bool is_for_each = collective == COHORT__SCATTER || collective == COHORT__ALL_TO_ALL ||
                       collective == COHORT__REDUCE_SCATTER;
    size_t num_blocks = is_for_each ? group->membership->num_sites : 1;
    return group->is_whole || (group->has_board && bytes <= share / num_blocks);
}

cohort_status cohort__call_shape(const struct cohort__call *call, struct cohort__shape *ret_shape)
{
    const struct cohort_comm *comm = call->comm;
    bool rejected = call->rejected.status != COHORT_OK;
    bool reduces = cohort__collective_reduces(call->collective);
    size_t element = call->of_objects ? 1 : cohort_datatype_size(call->datatype);
    struct cohort__request request = {
        .collective = call->collective,
        .num_sites = cohort_comm_num_sites(comm),
        .this_site = comm->this_site,
        .root = cohort__call_root(call),
        .arity = comm->arity,
        .shift = call->collective == COHORT__SHIFT ? shift_of(call) : 0,
        .bytes = rejected ? 0 : call->count * element,
        .element = rejected || !reduces ? 1 : element,
        .commutative = !reduces || !call->op || call->op->commutative,
        .can_meet =
            !call->is_checked && !call->of_objects &&
            cohort__call_can_meet(comm, call->collective, rejected ? 0 : call->count * element),
    };
    *ret_shape = (struct cohort__shape){.request = request};
    bool has_parts =
        call->ragged && !(rejected && call->is_checked); /* else it's agreement alone */
    cohort_status status = has_parts ? cohort__call_parts(call, ret_shape) : COHORT_OK;
    ret_shape->key = (struct cohort__plan_key){
        .bytes = ret_shape->request.bytes,
        .element = request.element,
        .root = request.root,
        .shift = request.shift,
        .collective = (uint16_t)request.collective,
        .variant = (uint8_t)cohort__call_variant(call),
        .row = rejected ? 0 : call->forced_row,
        .flags = flags_of(call, request.commutative),
        .tail_bytes = ret_shape->tail_bytes,
    };
    return status;
}
