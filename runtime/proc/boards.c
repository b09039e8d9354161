/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/boards.h"

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
    if (near && cohort__shm_board_take(near, &name.number))
        name.hub = cohort__shm_hub_id(near);
    return name;
}

void cohort__boards_give_back(struct cohort__process *process, struct cohort__board_name name)
{
    if (cohort__boards_has(process, name))
        cohort__shm_board_give_back(near_of(process), name.number);
}

void cohort__boards_leave(struct cohort__process *process, struct cohort__board_name name,
                          uint32_t num)
{
    struct cohort__board board;
    if (cohort__boards_open(process, name, &board))
        return; /* the board is lost, as if this locality had died */
    uint32_t num_gone = atomic_fetch_add(&cohort__board_head(&board)->num_gone, 1) + 1;
    if (num_gone == num)
        cohort__shm_board_free_all(&board);
    cohort__boards_close(&board);
    if (num_gone == num)
        cohort__boards_give_back(process, name);
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

void cohort__boards_alert(struct cohort__process *process, const uint32_t *slots, uint32_t num)
{
    cohort__shm_alert(near_of(process), slots, num);
}
