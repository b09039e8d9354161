/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_shape.h"

#include "collectives/coll/call_parts.h"
#include "collectives/exec/op.h"
#include "collectives/exec/segments.h"

static uint32_t flags_of(const struct cohort__call *call)
{
    bool is_out = call->in_place == COHORT__IN_PLACE_OUT;
    uint32_t in_place = is_out ? COHORT__PLAN_IN_PLACE_OUT : COHORT__PLAN_IN_PLACE;
    return (call->is_in_place && !call->is_alone ? in_place : 0) |
           (cohort__call_ret_rows(call) ? COHORT__PLAN_ROWS : 0) |
           (call->is_reproducible ? COHORT__PLAN_REPRODUCIBLE : 0) |
           (call->is_checked ? COHORT__PLAN_CHECKED : 0) |
           (call->is_alone ? COHORT__PLAN_ALONE : 0) |
           (call->of_objects ? COHORT__PLAN_OBJECTS : 0) |
           (call->is_sparse ? COHORT__PLAN_SPARSE : 0) | (call->ragged ? COHORT__PLAN_RAGGED : 0) |
           (call->ragged && call->ragged->counts_agree ? COHORT__PLAN_SIZES_KNOWN : 0);
}

/* Whether the sites of COMM may meet for COLLECTIVE with blocks of BYTES. They must be in one
 * locality, or share a board with room for what they bring. All sites come to the same answer. */
static bool can_meet(const struct cohort_comm *comm, enum cohort__collective collective,
                     size_t bytes, size_t element)
{
    bool is_for_each = collective == COHORT__SCATTER || collective == COHORT__ALL_TO_ALL ||
                       collective == COHORT__REDUCE_SCATTER;
    uint32_t num_blocks = is_for_each ? cohort_comm_num_sites(comm) : 1;
    struct cohort__segments segments;
    return cohort__segments_find(comm->group, num_blocks, bytes, element, &segments);
}

/* Behind an agreement, which a meeting on a board can't wait for, only those of one locality. And
 * only they can share objects. */
static bool may_meet(const struct cohort__call *call, size_t bytes, size_t element)
{
    const struct cohort_comm *comm = call->comm;
    return call->is_checked || call->of_objects ? comm->group->is_whole
                                                : can_meet(comm, call->collective, bytes, element);
}

_Static_assert((int)COHORT__PLAN_REQUEST_WORDS == (int)COHORT__REQUEST_WORDS, "the whole request");

cohort_status cohort__call_shape(const struct cohort__call *call, struct cohort__shape *ret_shape)
{
    const struct cohort_comm *comm = call->comm;
    bool reduces = cohort__collective_reduces(call->collective);
    size_t element = call->of_objects ? 1 : cohort_datatype_size(call->datatype);
    size_t bytes = call->is_alone ? 0 : call->count * element;
    struct cohort__shape shape = {
        .request = {
            .collective = call->collective,
            .num_sites = cohort_comm_num_sites(comm),
            .this_site = comm->this_site,
            .root = cohort__call_root(call),
            .arity = comm->arity,
            .shift = call->collective == COHORT__SHIFT ? cohort__call_shift(call) : 0,
            .bytes = bytes,
            .element = call->is_alone || !reduces ? 1 : element,
            .commutative = !reduces || !call->op || call->op->commutative,
            .can_meet = may_meet(call, bytes, element),
            .meets = !comm->group->is_whole,
            .has_notes = !call->of_objects && comm->group->has_notes,
            .machine = comm->group->machine,
            .turn = cohort__group_turn(comm->group),
        }};
    cohort_status status =
        call->ragged && !call->is_alone ? cohort__call_parts(call, &shape) : COHORT_OK;
    const char *wrong = status ? NULL : cohort__request_refuses(&shape.request);
    if (wrong)
        status = cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "%s", wrong);
    if (status)
        return status;
    cohort__request_words(&shape.request, shape.key.request);
    shape.key.flags = flags_of(call);
    shape.key.row = call->is_alone ? 0 : call->forced.row;
    shape.key.inner = call->is_alone ? 0 : call->forced.inner;
    shape.key.tail_bytes = shape.tail_bytes;
    *ret_shape = shape;
    return COHORT_OK;
}
