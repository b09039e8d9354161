/* SPDX-License-Identifier: Apache-2.0 */

/* Boards in the memory that this end shares with others. */
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/net/shm_end.h"

static struct cohort__shm *shm_of(const struct cohort__net *net)
{
    return (struct cohort__shm *)net;
}

static struct cohort__shm_head *head_of(const struct cohort__shm *shm)
{
    return (struct cohort__shm_head *)(void *)shm->common;
}

uint64_t cohort__shm_hub_id(const struct cohort__net *net)
{
    return head_of(shm_of(net))->id;
}

bool cohort__shm_slot_of(struct cohort__net *net, uint32_t number, uint32_t *ret_slot)
{
    struct cohort__shm *shm = shm_of(net);
    pthread_mutex_lock(&shm->lock);
    uint32_t slot = number < shm->num_numbers ? shm->slots[number] : COHORT__SHM_NONE;
    pthread_mutex_unlock(&shm->lock);
    if (slot == COHORT__SHM_NONE)
        return false;
    *ret_slot = slot;
    return true;
}

bool cohort__shm_slot_ever(struct cohort__net *net, uint32_t number, uint32_t *ret_slot)
{
    const struct cohort__shm *shm = shm_of(net);
    if (cohort__shm_slot_of(net, number, ret_slot))
        return true;
    pthread_mutex_lock(&shm_of(net)->lock);
    uint32_t slot = 0;
    while (slot < shm->hub->size && shm->numbers[slot] != number)
        slot++;
    pthread_mutex_unlock(&shm_of(net)->lock);
    if (slot == shm->hub->size)
        return false;
    *ret_slot = slot;
    return true;
}

uint32_t cohort__shm_own_slot(const struct cohort__net *net)
{
    return shm_of(net)->slot;
}

cohort_status cohort__shm_board_open(struct cohort__net *net, uint32_t number,
                                     struct cohort__board *ret_board)
{
    struct cohort__shm *shm = shm_of(net);
    uint32_t size = shm->hub->size;
    void *memory =
        cohort__shm_map(shm, cohort__shm_board_offset(size, number), cohort__shm_board_bytes(size));
    if (!memory)
        return cohort__error_slot()->status;
    *ret_board = (struct cohort__board){size, memory};
    return COHORT_OK;
}

void cohort__shm_board_close(struct cohort__board *board)
{
    if (board->memory)
        munmap(board->memory, cohort__shm_board_bytes(board->size));
    board->memory = NULL;
}

static bool free_pages(unsigned char *begin, const unsigned char *end)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)begin + page - 1) / page * page;
    uintptr_t last = (uintptr_t)end / page * page;
    return first >= last ||
           madvise(begin + (first - (uintptr_t)begin), last - first, MADV_REMOVE) == 0;
}

bool cohort__shm_board_free(const struct cohort__board *board, uint32_t slot, size_t bytes)
{
    unsigned char *arena = cohort__board_arena(board, slot);
    return free_pages(arena, arena + (bytes < COHORT__BOARD_ARENA ? bytes : COHORT__BOARD_ARENA));
}

bool cohort__shm_board_free_all(const struct cohort__board *board)
{
    return free_pages(cohort__board_arena(board, 0),
                      board->memory + cohort__shm_board_bytes(board->size));
}

void cohort__shm_alert(struct cohort__net *net, const uint32_t *slots, uint32_t num)
{
    const struct cohort__shm *shm = shm_of(net);
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < num; i++)
        cohort__shm_rouse(shm, slots[i]);
}

/* Notes in the memory that this end shares with others. */
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/error.h"
#include "runtime/net/shm_end.h"

cohort_status cohort__shm_notes_open(struct cohort__net *net, uint32_t number,
                                     struct cohort__notes *ret_notes)
{
    struct cohort__shm *shm = (struct cohort__shm *)net;
    uint32_t size = shm->hub->size;
    void *memory =
        cohort__shm_map(shm, cohort__shm_notes_offset(size, number), cohort__notes_bytes(size));
    if (!memory)
        return cohort__error_slot()->status;
    *ret_notes = (struct cohort__notes){size, memory};
    return COHORT_OK;
}

void cohort__shm_notes_close(struct cohort__notes *notes)
{
    if (notes->memory)
        munmap(notes->memory, cohort__notes_bytes(notes->size));
    notes->memory = NULL;
}

void cohort__shm_notes_clear(const struct cohort__notes *notes, uint32_t slot)
{
    unsigned char *own = cohort__notes_slot(notes, slot);
    if (madvise(own, cohort__notes_slot_bytes(), MADV_REMOVE) != 0)
        memset(own, 0, cohort__notes_clear_bytes());
}
