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

/* Names a board in the whole job. All zero: none. */
struct cohort__board_name {
    uint64_t hub; /* the id of the hub whose memory it is in */
    uint32_t number;
};

/* Reserves an empty board, if this locality shares memory with others and a board is left.
 * Otherwise returns none. */
struct cohort__board_name cohort__boards_take(struct cohort__process *process);

/* Gives back NAME, which this locality has taken, and which was never used. None is fine. */
void cohort__boards_give_back(struct cohort__process *process, struct cohort__board_name name);

/* This locality, one of NUM that use NAME, doesn't use it any more. The last one of them gives it
 * back, and the memory of its arenas to the system. So if one of them has died, the board is lost
 * for the rest of the job. */
void cohort__boards_leave(struct cohort__process *process, struct cohort__board_name name,
                          uint32_t num);

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

/* Wakes those of the NUM slots that sleep, so that they look at what this thread has written before
 * the call. */
void cohort__boards_alert(struct cohort__process *process, const uint32_t *slots, uint32_t num);

#endif
