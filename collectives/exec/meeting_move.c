/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/meeting_move.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/comm/commons.h"
#include "collectives/exec/meeting_shares.h"
#include "collectives/exec/meeting_tell.h"
#include "collectives/exec/meetings.h"

/* All inside do the work, and all of them have this error: it names the first one. */
static void keep_error(struct cohort__meeting *meeting, cohort_status status)
{
    if (atomic_exchange(&meeting->has_error, true))
        return;
    const struct cohort__operation *operation = cohort__meeting_first(meeting)->operation;
    cohort__call_error(operation->comm, operation->generation, &operation->signature, status,
                       cohort_error_message(), &meeting->error);
}

static void perform(struct cohort__crew *crew, uint64_t part)
{
    struct cohort__meeting *meeting = COHORT_CONTAINER_OF(crew, struct cohort__meeting, crew);
    cohort_status status = cohort__movement_perform(meeting->kind, &meeting->movement, part);
    if (status)
        keep_error(meeting, status);
}

static void over(struct cohort__crew *crew)
{
    cohort__meeting_over(COHORT_CONTAINER_OF(crew, struct cohort__meeting, crew));
}

/* Inputs that are read after they may have been overwritten are read from a copy. */
static cohort_status copy_inputs(struct cohort__meeting *meeting)
{
    struct cohort__movement *movement = &meeting->movement;
    size_t bytes = cohort__meeting_in_bytes(meeting);
    uint32_t num_in_place = 0;
    for (uint32_t rank = 0; rank < movement->num_sites; rank++)
        num_in_place += movement->in[rank] && movement->in[rank] == movement->out[rank];
    if (num_in_place == 0 || bytes == 0)
        return COHORT_OK;
    if (num_in_place * bytes > meeting->copies_bytes) {
        free(meeting->copies);
        meeting->copies = malloc(num_in_place * bytes);
        meeting->copies_bytes = meeting->copies ? num_in_place * bytes : 0;
    }
    unsigned char *copy = meeting->copies;
    if (!copy)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the input of %u sites in place",
                           num_in_place);
    for (uint32_t rank = 0; rank < movement->num_sites; rank++) {
        if (!movement->in[rank] || movement->in[rank] != movement->out[rank])
            continue;
        memcpy(copy, movement->in[rank], bytes);
        movement->in[rank] = copy;
        copy += bytes;
    }
    return COHORT_OK;
}

void cohort__meeting_move(struct cohort__meeting *meeting)
{
    const struct cohort__movement *movement = &meeting->movement;
    bool is_users = movement->op && !cohort__op_is_builtin(movement->op);
    uint64_t num_parts = cohort__movement_num_parts(meeting->kind, movement);
    atomic_store_explicit(&meeting->has_error, false, memory_order_relaxed);
    if (meeting->are_shares_made) {
        cohort__meeting_collect(meeting);
        return;
    }
    bool is_on_board = meeting->far.is_posted; /* then the inputs are read on the board */
    bool copies = meeting->kind->reads_late && !is_on_board;
    cohort_status status = copies ? copy_inputs(meeting) : COHORT_OK;
    if (status)
        keep_error(meeting, status);
    else if (num_parts > 0 && (is_users || cohort__movement_bytes(meeting->kind, movement) >
                                               COHORT__MEETING_ON_THE_SPOT)) {
        cohort__crew_start(&meeting->crew, meeting->meetings->group->commons,
                           is_users ? cohort__work_post : cohort__chore_post, num_parts, perform,
                           over);
        return;
    }
    for (uint64_t part = 0; !status && part < num_parts; part++)
        cohort__movement_perform(meeting->kind, movement, part);
    cohort__meeting_over(meeting);
}
