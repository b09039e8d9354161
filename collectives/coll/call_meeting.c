/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_meeting.h"

#include "collectives/exec/meeting_call.h"

static const struct cohort__movement_kind *const kinds[COHORT__NUM_COLLECTIVES] = {
    [COHORT__GATHER] = &cohort__movement_gather,
    [COHORT__SCATTER] = &cohort__movement_scatter,
    [COHORT__BROADCAST] = &cohort__movement_broadcast,
    [COHORT__REDUCE] = &cohort__movement_reduce,
    [COHORT__ALL_GATHER] = &cohort__movement_all_gather,
    [COHORT__ALL_REDUCE] = &cohort__movement_all_reduce,
    [COHORT__ALL_TO_ALL] = &cohort__movement_all_to_all,
    [COHORT__BARRIER] = &cohort__movement_barrier,
    [COHORT__REDUCE_SCATTER] = &cohort__movement_reduce_scatter,
    [COHORT__SCAN] = &cohort__movement_scan,
    [COHORT__EXCLUSIVE_SCAN] = &cohort__movement_exclusive_scan,
    [COHORT__SHIFT] = &cohort__movement_shift,
};

size_t cohort__call_meeting_copies(const struct cohort__call *call)
{
    const struct cohort__movement_kind *kind = kinds[call->collective];
    if (!call->is_in_place || !kind->reads_late || call->comm->group->has_board)
        return 0; /* inputs on the board are read there */
    size_t num_blocks = kind->in_blocks ? kind->in_blocks : cohort_comm_num_sites(call->comm);
    return num_blocks * call->count * cohort_datatype_size(call->datatype);
}

cohort_future *cohort__call_meet(const struct cohort__call *call, uint32_t root, uint32_t shift,
                                 uint64_t fingerprint, const struct cohort__signature *signature)
{
    bool is_out_in_place = call->is_in_place && call->in_place == COHORT__IN_PLACE_OUT;
    return cohort__meeting_call_start(&(struct cohort__meeting_call){
        .comm = call->comm,
        .kind = kinds[call->collective],
        .in = call->is_in_place && !is_out_in_place ? call->out : call->in,
        .out = is_out_in_place ? (void *)call->in : call->out,
        .root = root,
        .shift = shift,
        .op = cohort__collective_reduces(call->collective) ? call->op : NULL,
        .generation = call->generation,
        .fingerprint = fingerprint,
        .signature = signature,
        .ret_rows = cohort__call_ret_rows(call),
        .sequel = call->sequel,
    });
}
