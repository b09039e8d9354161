/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_BOARDS_H
#define COHORT_RUNTIME_PROC_BOARDS_H

#include <stdbool.h>

#include "runtime/net/board.h"
#include "runtime/net/notes.h"
#include "runtime/proc/process.h"

/* The memory that a locality shares with others of its host, for each communicator: a board
 * (runtime/net/board.h) or notes (runtime/net/notes.h), by the number that the home of names has
 * lent to it (runtime/names/numbers.h). A locality clears what it has written before it gives the
 * number back. Any thread. */

/* Locality RANK has ended, and the job goes on: it writes nothing any more, and the memory of its
 * heap goes back to the system. */
void cohort__boards_peer_died(struct cohort__process *process, uint32_t rank);

/* Whether locality RANK shares memory with this one, or has done so until it died: that is the same
 * for all of a host. */
bool cohort__boards_shares(const struct cohort__process *process, uint32_t rank);

/* Whether locality RANK has died in a job that goes on: so it has ended, and the others do what it
 * would have done. */
bool cohort__boards_is_dead(struct cohort__process *process, uint32_t rank);

/* Maps the board of communicator NUMBER. This locality must share memory with others. */
cohort_status cohort__boards_open(struct cohort__process *process, uint32_t number,
                                  struct cohort__board *ret_board);
void cohort__boards_close(struct cohort__board *board);

/* Makes SLOT's posts zero, and what it has passed, and gives the memory of its arena back. */
void cohort__boards_clear(const struct cohort__board *board, uint32_t slot);

/* Gives the memory of the first BYTES of SLOT's arena back to the system, except for a part of a
 * page at both ends. What was there is zero after that. False: the system does not take it. */
bool cohort__boards_free(const struct cohort__board *board, uint32_t slot, size_t bytes);

/* The slot of locality RANK. False: it doesn't share memory with this one. */
bool cohort__boards_slot_of(struct cohort__process *process, uint32_t rank, uint32_t *ret_slot);

/* The same of notes. */
cohort_status cohort__boards_open_notes(struct cohort__process *process, uint32_t number,
                                        struct cohort__notes *ret_notes);
void cohort__boards_close_notes(struct cohort__notes *notes);

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
