/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_SHM_MEMORY_H
#define COHORT_RUNTIME_NET_SHM_MEMORY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* The layout of a hub's memory: a head, a slot for each locality, boards (runtime/net/board.h), and
 * for each ordered pair a ring for messages and one for bulk, the pieces of what is fetched.
 * It is as large as that, and takes what of it was ever touched; what nobody has written is zero.
 *
 * Nothing here is ever locked. Each word has one writer, but for `sleeping`, `writer_waits` and
 * `callers`, which change by atomic operations that are whole in themselves: so a process that is
 * killed between any two instructions leaves nothing behind that others would wait for. */
enum {
    COHORT__SHM_LINE = 64,
    COHORT__SHM_RING_BYTES = 128 * 1024,
    /* A bulk ring is as large as helps, as long as all of them together stay below the last. */
    COHORT__SHM_BULK_LEAST = 128 * 1024,
    COHORT__SHM_BULK_MOST = 2 * 1024 * 1024,
    COHORT__SHM_BULK_TOTAL = 64 * 1024 * 1024,
    COHORT__SHM_MAX_SLOTS = 4096,
    COHORT__SHM_NUM_BOARDS = 64,
};

struct cohort__shm_head {
    uint32_t magic;
    uint32_t size;                 /* slots */
    uint64_t id;                   /* random: two localities with the same one share this memory */
    _Atomic uint64_t boards_taken; /* a bit for each */
};

enum { COHORT__SHM_MAGIC = 0x6d687343 };

/* Written by its locality before the others know where it is. */
struct cohort__shm_slot {
    /* 1: rings its doorbell after what it is sent. Cleared by who rings. */
    _Alignas(COHORT__SHM_LINE) _Atomic uint32_t sleeping;
    _Alignas(COHORT__SHM_LINE) int32_t pid;
    uint64_t pid_space; /* in which that is its id */
    /* A bit for each slot whose ring to this one has just begun. */
    _Alignas(COHORT__SHM_LINE) _Atomic uint64_t callers[COHORT__SHM_MAX_SLOTS / 64];
};

/* Bytes of the whole. */
size_t cohort__shm_memory_bytes(uint32_t size);

/* Bytes of head and slots, which everybody maps, and where slot SLOT and the ring FROM -> TO are.
 */
size_t cohort__shm_common_bytes(uint32_t size);
size_t cohort__shm_slot_offset(uint32_t slot);
size_t cohort__shm_ring_offset(uint32_t size, uint32_t from, uint32_t to);

/* Where the bulk ring FROM -> TO is, and the bytes of each, which are whole pages. */
size_t cohort__shm_bulk_offset(uint32_t size, uint32_t from, uint32_t to);
size_t cohort__shm_bulk_bytes(uint32_t size);

/* Where board NUMBER is, and its bytes, which are whole pages. */
size_t cohort__shm_board_offset(uint32_t size, uint32_t number);
size_t cohort__shm_board_bytes(uint32_t size);

#endif
