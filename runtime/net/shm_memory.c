/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/shm_memory.h"

#include "runtime/net/board.h"
#include "runtime/net/heap.h"
#include "runtime/net/notes.h"

/* Rings begin at page boundaries, for any usual page size. */
enum { PAGE = 65536 };

_Static_assert(sizeof(struct cohort__shm_head) <= COHORT__SHM_LINE, "the slots are behind it");

_Static_assert(COHORT__SHM_RING_BYTES % PAGE == 0 && COHORT__SHM_BULK_LEAST % PAGE == 0 &&
                   COHORT__SHM_BULK_MOST % PAGE == 0,
               "rings are mapped one by one");

size_t cohort__shm_slot_offset(uint32_t slot)
{
    return COHORT__SHM_LINE + slot * sizeof(struct cohort__shm_slot);
}

static size_t pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

size_t cohort__shm_common_bytes(uint32_t size)
{
    return pages(cohort__shm_slot_offset(size));
}

size_t cohort__shm_board_bytes(uint32_t size)
{
    return pages(cohort__board_bytes(size));
}

size_t cohort__shm_board_offset(uint32_t size, uint32_t number)
{
    return cohort__shm_common_bytes(size) + number * cohort__shm_board_bytes(size);
}

size_t cohort__shm_ring_offset(uint32_t size, uint32_t from, uint32_t to)
{
    return cohort__shm_board_offset(size, COHORT__SHM_NUM_COMMS) +
           ((size_t)from * size + to) * (size_t)COHORT__SHM_RING_BYTES;
}

size_t cohort__shm_bulk_bytes(uint32_t size)
{
    size_t pairs = size > 1 ? (size_t)size * (size - 1) : 1;
    size_t share = COHORT__SHM_BULK_TOTAL / pairs / PAGE * PAGE;
    if (share < COHORT__SHM_BULK_LEAST)
        return COHORT__SHM_BULK_LEAST;
    return share < COHORT__SHM_BULK_MOST ? share : COHORT__SHM_BULK_MOST;
}

size_t cohort__shm_bulk_offset(uint32_t size, uint32_t from, uint32_t to)
{
    return cohort__shm_ring_offset(size, size, 0) +
           ((size_t)from * size + to) * cohort__shm_bulk_bytes(size);
}

size_t cohort__shm_notes_offset(uint32_t size, uint32_t number)
{
    return cohort__shm_bulk_offset(size, size, 0) + number * cohort__notes_bytes(size);
}

/* Huge pages are such parts of the file. */
size_t cohort__shm_heap_offset(uint32_t size, uint64_t heap_bytes, uint32_t slot)
{
    size_t begin = cohort__shm_notes_offset(size, COHORT__SHM_NUM_COMMS);
    begin = (begin + COHORT__HEAP_HUGE - 1) / COHORT__HEAP_HUGE * COHORT__HEAP_HUGE;
    return begin + slot * heap_bytes;
}

size_t cohort__shm_memory_bytes(uint32_t size, uint64_t heap_bytes)
{
    return cohort__shm_heap_offset(size, heap_bytes, size);
}
