/* SPDX-License-Identifier: Apache-2.0 */
/* The all_reduce reads CHECK and leaves its result in TMP, from where it is copied back. So any row
 * will do, whether or not its input and output may be in the same place.
 * Cost: that of the all_reduce of 8 bytes, in front of the collective's. TMP: that of both, and 8
 * bytes.
 * Source: openucx/ucc #1241, where the check is an all_reduce with MIN of values and their
 * negations, too. */
#include "collectives/algo/agreement.h"

#include <stdlib.h>

#include "collectives/plan/embed.h"

/* The phases of the row become one phase. Its tags stay different. */
enum { TAGS_PER_PHASE = 1 << 22 };

_Static_assert((int)COHORT__PLAN_NOTES >= 2 * (int)COHORT__ROW_NOTES,
               "the agreement and the collective have notes of their own");

struct cohort__request cohort__agreement_request(const struct cohort__request *call)
{
    return (struct cohort__request){.collective = COHORT__ALL_REDUCE,
                                    .num_sites = call->num_sites,
                                    .this_site = call->this_site,
                                    .arity = call->arity,
                                    .bytes = COHORT__CHECK_BYTES,
                                    .element = sizeof(int16_t),
                                    .commutative = true,
                                    .machine = call->machine,
                                    .turn = call->turn};
}

/* Where the IN and the OUT of a subplan are in the decorated plan. */
struct place {
    uint32_t space;
    size_t offset;
};

/* CONTEXT: the places of IN and OUT. */
static struct cohort__block moved(const void *context, struct cohort__block block)
{
    const struct place *place = &((const struct place *)context)[block.space];
    block.offset += place->offset;
    block.space = place->space;
    return block;
}

/* Returns the GUARD. It comes when this site has received and sent everything of the phase. So if
 * the call fails there, no other site waits for this one. */
static uint32_t agree(struct cohort__plan_builder *builder, const struct cohort__plan *minimum)
{
    uint32_t check = cohort__plan_range(builder, COHORT__SPACE_CHECK, 0, COHORT__CHECK_BYTES);
    uint32_t result = cohort__plan_tmp(builder, COHORT__CHECK_BYTES);
    const struct place places[] = {
        [COHORT__SPACE_IN] = {.space = COHORT__SPACE_CHECK},
        [COHORT__SPACE_OUT] = {.space = COHORT__SPACE_TMP,
                               .offset = cohort__plan_get_block(builder, result).offset}};
    struct cohort__embedding embedding = {.phase = COHORT__PHASE_CHECK,
                                          .tags_per_phase = TAGS_PER_PHASE,
                                          .after = COHORT__NO_STEP,
                                          .recv_after = COHORT__NO_STEP};
    cohort__plan_set_op(builder, COHORT__STEP_OP_MIN);
    uint32_t end = cohort__plan_embed_moved(builder, minimum, moved, places, embedding);
    cohort__plan_set_op(builder, COHORT__STEP_OP_CALL);
    uint32_t copy = cohort__plan_copy(builder, COHORT__PHASE_CHECK, check, result);
    uint32_t guard = cohort__plan_guard(builder, check);
    cohort__plan_after(builder, copy, end);
    cohort__plan_after(builder, guard, copy);
    return guard;
}

cohort_status cohort__agreement_build(const struct cohort__plan *minimum,
                                      const struct cohort__plan *collective,
                                      struct cohort__plan **ret_plan)
{
    static const struct place same[] = {[COHORT__SPACE_IN] = {.space = COHORT__SPACE_IN},
                                        [COHORT__SPACE_OUT] = {.space = COHORT__SPACE_OUT}};
    struct cohort__plan_builder *builder;
    cohort_status status =
        cohort__plan_builder_create(&builder, collective ? collective->name : "agreement",
                                    minimum->num_sites, minimum->this_site);
    if (status)
        return status;
    uint32_t guard = agree(builder, minimum);
    if (collective)
        cohort__plan_embed_moved(builder, collective, moved, same,
                                 (struct cohort__embedding){.phase = COHORT__KEEP_PHASE,
                                                            .first_note = COHORT__ROW_NOTES,
                                                            .after = guard,
                                                            .recv_after = guard,
                                                            .has_early = true,
                                                            .early_bytes = COHORT__EARLY_BYTES});
    return cohort__plan_finish(builder, ret_plan);
}
