/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/boards.h"

#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/net/shm.h"
#include "runtime/net/shm_memory.h"
#include "runtime/proc/peer.h"

_Static_assert((int)COHORT__NUM_BOARDS == (int)COHORT__SHM_NUM_BOARDS, "the same boards");
_Static_assert((int)COHORT__NUM_NOTICEBOARDS == (int)COHORT__SHM_NUM_NOTES, "the same notes");

static struct cohort__net *near_of(const struct cohort__process *process)
{
    return process->net ? process->net->near : NULL;
}

struct cohort__board_name cohort__boards_take(struct cohort__process *process)
{
    struct cohort__net *near = near_of(process);
    struct cohort__board_name name = {0};
    if (near && cohort__shm_board_take(near, &name.number, &name.ticket))
        name.hub = cohort__shm_hub_id(near);
    return name;
}

/* The slot that RANK has, or had. */
static bool find_slot(const struct cohort__process *process, uint32_t rank, uint32_t *ret_slot)
{
    if (rank != process->options.rank)
        return cohort__shm_slot_ever(near_of(process), rank, ret_slot);
    *ret_slot = cohort__shm_own_slot(near_of(process));
    return true;
}

static bool find_slots(const struct cohort__process *process, const uint32_t *ranks, uint32_t num,
                       uint32_t *ret_slots)
{
    for (uint32_t i = 0; i < num; i++)
        if (!find_slot(process, ranks[i], &ret_slots[i]))
            return false;
    return true;
}

cohort_status cohort__boards_begin(struct cohort__process *process, struct cohort__board_name name,
                                   const uint32_t *ranks, uint32_t num, bool *ret_begun)
{
    *ret_begun = false;
    if (!cohort__boards_has(process, name))
        return COHORT_OK;
    uint32_t *slots = malloc(num * sizeof(*slots));
    if (!slots)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the board of %u localities", num);
    *ret_begun = find_slots(process, ranks, num, slots) &&
                 cohort__shm_board_begin(near_of(process), name.number, name.ticket, slots, num);
    free(slots);
    return COHORT_OK;
}

void cohort__boards_leave(struct cohort__process *process, struct cohort__board_name name)
{
    if (cohort__boards_has(process, name))
        cohort__shm_board_end(near_of(process), name.number, name.ticket,
                              cohort__shm_own_slot(near_of(process)));
}

void cohort__boards_peer_died(struct cohort__process *process, uint32_t rank)
{
    struct cohort__net *near = near_of(process);
    uint32_t slot;
    if (!near || !cohort__shm_slot_ever(near, rank, &slot))
        return;
    cohort__shm_died(near, slot);
    cohort__shm_heap_end(near, slot);
}

bool cohort__boards_has(const struct cohort__process *process, struct cohort__board_name name)
{
    struct cohort__net *near = near_of(process);
    return near && name.hub != 0 && name.hub == cohort__shm_hub_id(near) &&
           name.number < COHORT__NUM_BOARDS;
}

cohort_status cohort__boards_open(struct cohort__process *process, struct cohort__board_name name,
                                  struct cohort__board *ret_board)
{
    return cohort__shm_board_open(near_of(process), name.number, ret_board);
}

void cohort__boards_close(struct cohort__board *board)
{
    cohort__shm_board_close(board);
}

bool cohort__boards_free(const struct cohort__board *board, uint32_t slot, size_t bytes)
{
    return cohort__shm_board_free(board, slot, bytes);
}

cohort_status cohort__boards_open_notes(struct cohort__process *process, uint32_t number,
                                        struct cohort__notes *ret_notes)
{
    return cohort__shm_notes_open(near_of(process), number, ret_notes);
}

void cohort__boards_close_notes(struct cohort__notes *notes)
{
    cohort__shm_notes_close(notes);
}

void cohort__boards_clear_notes(const struct cohort__notes *notes, uint32_t slot)
{
    cohort__shm_notes_clear(notes, slot);
}

bool cohort__boards_slot_of(struct cohort__process *process, uint32_t rank, uint32_t *ret_slot)
{
    struct cohort__net *near = near_of(process);
    if (near && rank == process->options.rank)
        *ret_slot = cohort__shm_own_slot(near);
    else if (!near || !cohort__shm_slot_of(near, rank, ret_slot))
        return false;
    return true;
}

bool cohort__boards_can_lend(struct cohort__process *process, const void *memory,
                             uint64_t *ret_offset)
{
    struct cohort__net *near = near_of(process);
    return cohort__shm_has_cores(near) &&
           cohort__heap_has(cohort__shm_heap(near), memory, ret_offset);
}

const unsigned char *cohort__boards_lent(struct cohort__process *process, uint32_t slot,
                                         uint64_t offset, size_t bytes)
{
    return cohort__shm_heap_read(near_of(process), slot, offset, bytes);
}

bool cohort__boards_is_gone(const struct cohort__process *process, uint32_t slot)
{
    return cohort__shm_heap_is_gone(near_of(process), slot);
}

void cohort__boards_alert(struct cohort__process *process, const uint32_t *slots, uint32_t num)
{
    cohort__shm_alert(near_of(process), slots, num);
}
