/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_BOARDS_H
#define COHORT_RUNTIME_PROC_BOARDS_H

#include <stdbool.h>

#include "runtime/net/board.h"
#include "runtime/proc/process.h"

/* What a locality has in common with others of its host, besides what is sent: boards, see
 * runtime/net/board.h. Any thread. */

/* Boards that there are, by number from 0: the bits of the one word that says which are taken. A
 * communicator that gets none works by messages. */
enum { COHORT__NUM_BOARDS = 64 };

/* Names a board in the whole job. All zero: none. */
struct cohort__board_name {
    uint64_t hub; /* of those that share the memory in which it is */
    uint32_t number;
};

/* Reserves an empty board, if this locality shares memory with others and one is left; else none.
 */
struct cohort__board_name cohort__boards_take(struct cohort__process *process);

/* NAME, taken by this locality, has never been used. None is fine. */
void cohort__boards_give_back(struct cohort__process *process, struct cohort__board_name name);

/* This locality, one of NUM that use NAME, does so no more. The last one gives it back; so a board
 * is lost to the job where one of them has died. */
void cohort__boards_leave(struct cohort__process *process, struct cohort__board_name name,
                          uint32_t num);

/* Whether NAME is a board in memory that this locality has. */
bool cohort__boards_has(const struct cohort__process *process, struct cohort__board_name name);

/* Maps it. */
cohort_status cohort__boards_open(struct cohort__process *process, struct cohort__board_name name,
                                  struct cohort__board *ret_board);
void cohort__boards_close(struct cohort__board *board);

/* The slot of locality RANK; false: it doesn't share memory with this one. */
bool cohort__boards_slot_of(struct cohort__process *process, uint32_t rank, uint32_t *ret_slot);

/* Those of the NUM slots that sleep are woken to look, at what this thread has written before. */
void cohort__boards_alert(struct cohort__process *process, const uint32_t *slots, uint32_t num);

#endif
