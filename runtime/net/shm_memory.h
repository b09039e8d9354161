/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_SHM_MEMORY_H
#define COHORT_RUNTIME_NET_SHM_MEMORY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* The layout of a hub's memory: a head, a slot for each locality, a board for each communicator
 * (runtime/net/board.h), for each ordered pair of localities a ring for messages and a ring for
 * bulk: the pieces of what is fetched; notes for each communicator (runtime/net/notes.h); and a
 * heap for each locality (runtime/net/heap.h). The file has the size of all of that, but only pages
 * that were ever touched take memory. What was never written is zero.
 *
 * There are no locks here. Each word has one writer, except `sleeping`, `writer_waits` and
 * `callers`. These change by single atomic operations. So a process that is killed between any two
 * instructions leaves nothing behind that others would wait for. */
enum {
    COHORT__SHM_LINE = 64,
    COHORT__SHM_RING_BYTES = 128 * 1024,
    /* The size of a bulk ring is between LEAST and MOST. It is as large as possible while all bulk
     * rings together stay within TOTAL. */
    COHORT__SHM_BULK_LEAST = 128 * 1024,
    COHORT__SHM_BULK_MOST = 2 * 1024 * 1024,
    COHORT__SHM_BULK_TOTAL = 64 * 1024 * 1024,
    COHORT__SHM_MAX_SLOTS = 4096,
    COHORT__SHM_NUM_COMMS = 1 << 20, /* communicators that have boards or notes at the same time */
};

struct cohort__shm_head {
    uint32_t magic;
    uint32_t size;       /* slots */
    uint64_t id;         /* random; localities with the same id share this memory */
    uint64_t heap_bytes; /* of each locality's heap */
};

enum { COHORT__SHM_MAGIC = 0x6d687344 };

/* A locality writes its own slot before the others know where it is. */
struct cohort__shm_slot {
    /* 1: the locality wants its doorbell rung when something is sent to it. Cleared by the process
     * that rings. */
    _Alignas(COHORT__SHM_LINE) _Atomic uint32_t sleeping;
    _Alignas(COHORT__SHM_LINE) int32_t pid;
    uint64_t pid_space;            /* the pid namespace in which `pid` is valid */
    _Atomic uint32_t is_heap_gone; /* others have given its memory back, see cohort__shm_heap_end */
    /* A bit for each slot whose ring to this one has just begun. */
    _Alignas(COHORT__SHM_LINE) _Atomic uint64_t callers[COHORT__SHM_MAX_SLOTS / 64];
};

/* The size of the memory. HEAP_BYTES is as in the head. */
size_t cohort__shm_memory_bytes(uint32_t size, uint64_t heap_bytes);

/* Of the heap of slot SLOT. */
size_t cohort__shm_heap_offset(uint32_t size, uint64_t heap_bytes, uint32_t slot);

/* The size of head and slots, which every locality maps, and the offsets of slot SLOT, and of the
 * ring FROM -> TO. */
size_t cohort__shm_common_bytes(uint32_t size);
size_t cohort__shm_slot_offset(uint32_t slot);
size_t cohort__shm_ring_offset(uint32_t size, uint32_t from, uint32_t to);

/* The offset of the bulk ring FROM -> TO, and the size of each one, in whole pages. */
size_t cohort__shm_bulk_offset(uint32_t size, uint32_t from, uint32_t to);
size_t cohort__shm_bulk_bytes(uint32_t size);

/* The offset of the board of communicator NUMBER, and the size of each one, in whole pages. */
size_t cohort__shm_board_offset(uint32_t size, uint32_t number);
size_t cohort__shm_board_bytes(uint32_t size);

/* The offset of the notes of communicator NUMBER, see cohort__notes_bytes. */
size_t cohort__shm_notes_offset(uint32_t size, uint32_t number);

#endif
