/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/boards.h"

#include "runtime/names/limits.h"
#include "runtime/net/shm.h"
#include "runtime/net/shm_memory.h"
#include "runtime/proc/peer.h"

_Static_assert((int)COHORT__NUM_NUMBERS == (int)COHORT__SHM_NUM_COMMS, "the same numbers");

static struct cohort__net *near_of(const struct cohort__process *process)
{
    return process->net ? process->net->near : NULL;
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

bool cohort__boards_shares(const struct cohort__process *process, uint32_t rank)
{
    uint32_t slot;
    return near_of(process) &&
           (rank == process->options.rank || cohort__shm_slot_ever(near_of(process), rank, &slot));
}

bool cohort__boards_is_dead(struct cohort__process *process, uint32_t rank)
{
    struct cohort__death death;
    return cohort__process_keeps_going(process) && cohort__process_any_dead(process) &&
           cohort__process_death_of(process, rank, &death);
}

cohort_status cohort__boards_open(struct cohort__process *process, uint32_t number,
                                  struct cohort__board *ret_board)
{
    return cohort__shm_board_open(near_of(process), number, ret_board);
}

void cohort__boards_close(struct cohort__board *board)
{
    cohort__shm_board_close(board);
}

bool cohort__boards_free(const struct cohort__board *board, uint32_t slot, size_t bytes)
{
    return cohort__shm_board_free(board, slot, bytes);
}

void cohort__boards_clear(const struct cohort__board *board, uint32_t slot)
{
    cohort__board_clear(board, slot);
    (void)cohort__shm_board_free(board, slot, COHORT__BOARD_ARENA);
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
