/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_NOTES_H
#define COHORT_RUNTIME_NET_NOTES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shared memory in which the localities of a host leave each other notes: parts of what a
 * communicator's calls move, in calls that also send messages to other hosts. (Calls that stay on
 * one host have boards, see board.h.)
 *
 * A note has a place of its own for each locality (its slot), for each of the generations that may
 * be in flight, and for each of the notes of one call. So notes are left and read in any order, as
 * calls may end in any order. A note is there when its `generation` is that of the call. Short ones
 * are in it, longer ones in a cell of the slot. Before a place is used for a later generation,
 * those whom the earlier note was for must have *passed* it: each says so in a word of its own slot
 * for each place. Each word has one writer, except the head. */
enum {
    COHORT__NOTES_GENERATIONS = 64,
    COHORT__NOTES_OF_CALL = 6,
    COHORT__NUM_NOTES = COHORT__NOTES_GENERATIONS * COHORT__NOTES_OF_CALL, /* of a slot */
    COHORT__NOTE_LINE = 64,
    COHORT__NOTE_INLINE = 40, /* bytes that fit into the note itself */
    /* The most bytes of a note, which is the size of a cell. A slot has a cell for each note, so
     * there is always one free for a note that has a place. Not measured. */
    COHORT__NOTE_BYTES = 64 * 1024,
};

struct cohort__note {
    _Alignas(COHORT__NOTE_LINE) _Atomic uint64_t generation; /* 0: none yet */
    _Atomic uint64_t fingerprint;
    _Atomic uint32_t bytes;
    _Atomic uint32_t cell; /* of a longer one */
    unsigned char data[COHORT__NOTE_INLINE];
};

/* The notes of all slots, for one communicator. */
struct cohort__notes {
    uint32_t size; /* slots */
    unsigned char *memory;
};

/* How many bytes the notes of SIZE slots take, and those of one slot, which is in whole pages. */
size_t cohort__notes_bytes(uint32_t size);
size_t cohort__notes_slot_bytes(void);
unsigned char *cohort__notes_slot(const struct cohort__notes *notes, uint32_t slot);
/* Of these, from the beginning: what has to be zero before anybody uses the notes. */
size_t cohort__notes_clear_bytes(void);

/* The number of localities that wait for a place, and want to be woken when one has passed. */
_Atomic uint32_t *cohort__notes_num_waiting(const struct cohort__notes *notes);

/* The place of a note. NUMBER is below COHORT__NOTES_OF_CALL. */
struct cohort__note *cohort__notes_at(const struct cohort__notes *notes, uint32_t slot,
                                      uint64_t generation, uint32_t number);

/* The latest generation that SLOT has passed at that place, of whichever slot the note is. */
_Atomic uint64_t *cohort__notes_passed(const struct cohort__notes *notes, uint32_t slot,
                                       uint64_t generation, uint32_t number);

/* CELL is below COHORT__NUM_NOTES. */
unsigned char *cohort__notes_cell(const struct cohort__notes *notes, uint32_t slot, uint32_t cell);

/* Where the data of NOTE is, of SLOT, which has to be there, and how many bytes: only *RET_BYTES
 * fits, since another process may go on writing. NULL: it makes no sense. */
const unsigned char *cohort__notes_data(const struct cohort__notes *notes, uint32_t slot,
                                        const struct cohort__note *note, uint32_t *ret_bytes);

#endif
