/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_BOARDS_H
#define COHORT_RUNTIME_PROC_BOARDS_H

#include <stdbool.h>

#include "runtime/names/limits.h"
#include "runtime/net/board.h"
#include "runtime/net/notes.h"
#include "runtime/proc/process.h"

/* The boards that a locality shares with others of its host, see runtime/net/board.h. Any
 * thread. */

/* How many boards there are, numbered from 0. Those that are never used take no memory. A
 * communicator that gets no board uses messages. */
enum { COHORT__NUM_BOARDS = 4096 };

/* Names a board in the whole job, for one communicator. All zero: none. */
struct cohort__board_name {
    uint64_t hub; /* the id of the hub whose memory it is in */
    uint32_t number;
    uint64_t ticket; /* no other communicator has it */
};

/* Reserves an empty board, if this locality shares memory with others and a board is left.
 * Otherwise returns none. */
struct cohort__board_name cohort__boards_take(struct cohort__process *process);

/* This locality begins to use NAME, as one of the NUM localities RANKS, each of which does so;
 * before it hears of a death that was told after all of them are known. *RET_BEGUN: whether it may,
 * and is to say when it leaves. Either all may, or one of them can't reach it, or it was given back
 * for a death, or a revocation, that concerns all. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__boards_begin(struct cohort__process *process, struct cohort__board_name name,
                                   const uint32_t *ranks, uint32_t num, bool *ret_begun);

/* This locality doesn't use NAME any more, which it has taken or begun to use; or it will not begin
 * to. The last one gives it back, and the memory of its arenas to the system. None is fine, and so
 * is a second time. */
void cohort__boards_leave(struct cohort__process *process, struct cohort__board_name name);

/* Locality RANK has ended, and the job goes on: it doesn't use any board any more, and the memory
 * of its heap goes back to the system. */
void cohort__boards_peer_died(struct cohort__process *process, uint32_t rank);

/* Whether NAME is a board in memory that this locality shares. */
bool cohort__boards_has(const struct cohort__process *process, struct cohort__board_name name);

/* Maps it. */
cohort_status cohort__boards_open(struct cohort__process *process, struct cohort__board_name name,
                                  struct cohort__board *ret_board);
void cohort__boards_close(struct cohort__board *board);

/* Gives the memory of the first BYTES of SLOT's arena back to the system, except for a part of a
 * page at both ends. What was there is zero after that. False: the system does not take it. */
bool cohort__boards_free(const struct cohort__board *board, uint32_t slot, size_t bytes);

/* The slot of locality RANK. False: it doesn't share memory with this one. */
bool cohort__boards_slot_of(struct cohort__process *process, uint32_t rank, uint32_t *ret_slot);

/* Maps the notes of communicator NUMBER. This locality must share memory with others. */
cohort_status cohort__boards_open_notes(struct cohort__process *process, uint32_t number,
                                        struct cohort__notes *ret_notes);
void cohort__boards_close_notes(struct cohort__notes *notes);

/* Makes SLOT's notes zero, and what it has passed. To be done before they are used for another
 * communicator. */
void cohort__boards_clear_notes(const struct cohort__notes *notes, uint32_t slot);

/* Whether MEMORY is to be lent: it is in this locality's heap (cohort/memory.h), where the others
 * of its host can read it, *RET_OFFSET bytes behind its beginning. Not where localities take turns
 * on their cores: to wait for the others takes a turn of each of them. */
bool cohort__boards_can_lend(struct cohort__process *process, const void *memory,
                             uint64_t *ret_offset);

/* Where this locality can read the BYTES there of SLOT's heap. NULL with the error set, see
 * cohort__shm_heap_read. */
const unsigned char *cohort__boards_lent(struct cohort__process *process, uint32_t slot,
                                         uint64_t offset, size_t bytes);

/* Whether what SLOT has lent is gone with it. To be asked behind a fence when it has been read. */
bool cohort__boards_is_gone(const struct cohort__process *process, uint32_t slot);

/* Wakes those of the NUM slots that sleep, so that they look at what this thread has written before
 * the call. */
void cohort__boards_alert(struct cohort__process *process, const uint32_t *slots, uint32_t num);

#endif
