/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/shm_memory.h"

#include "runtime/net/board.h"
#include "runtime/net/heap.h"
#include "runtime/net/notes.h"

/* Rings begin at page boundaries, for any usual page size. */
enum { PAGE = 65536 };

enum { HEAD_BYTES = COHORT__SHM_LINE + COHORT__SHM_NUM_BOARDS * (int)sizeof(uint64_t) };

_Static_assert(sizeof(struct cohort__shm_head) <= COHORT__SHM_LINE, "the holders are behind it");

_Static_assert(COHORT__SHM_RING_BYTES % PAGE == 0 && COHORT__SHM_BULK_LEAST % PAGE == 0 &&
                   COHORT__SHM_BULK_MOST % PAGE == 0,
               "rings are mapped one by one");

size_t cohort__shm_holder_offset(uint32_t number)
{
    return COHORT__SHM_LINE + number * sizeof(uint64_t);
}

size_t cohort__shm_slot_offset(uint32_t slot)
{
    return HEAD_BYTES + slot * sizeof(struct cohort__shm_slot);
}

/* The seats of a board are in lines of their own. */
size_t cohort__shm_seat_offset(uint32_t size, uint32_t number, uint32_t slot)
{
    const size_t in_line = COHORT__SHM_LINE / sizeof(uint64_t);
    const size_t row = (size + in_line - 1) / in_line * in_line;
    return cohort__shm_slot_offset(size) + (number * row + slot) * sizeof(uint64_t);
}

static size_t pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

size_t cohort__shm_common_bytes(uint32_t size)
{
    return pages(cohort__shm_seat_offset(size, COHORT__SHM_NUM_BOARDS, 0));
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
    return cohort__shm_board_offset(size, COHORT__SHM_NUM_BOARDS) +
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
    size_t begin = cohort__shm_notes_offset(size, COHORT__SHM_NUM_NOTES);
    begin = (begin + COHORT__HEAP_HUGE - 1) / COHORT__HEAP_HUGE * COHORT__HEAP_HUGE;
    return begin + slot * heap_bytes;
}

size_t cohort__shm_memory_bytes(uint32_t size, uint64_t heap_bytes)
{
    return cohort__shm_heap_offset(size, heap_bytes, size);
}
