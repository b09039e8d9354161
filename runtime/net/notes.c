/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/notes.h"

/* The layout: a page with the head, then the slots: each has its notes, what it has passed, and
 * cells. Cells begin one line later each time, so that those of one number, which are read
 * together, don't compete for the same few cache sets. */
enum {
    PAGE = 65536,
    WORDS_OFFSET = COHORT__NUM_NOTES * COHORT__NOTE_LINE,
    CELLS_OFFSET = WORDS_OFFSET + COHORT__NUM_NOTES * 8,
    CELL_STRIDE = COHORT__NOTE_BYTES + COHORT__NOTE_LINE,
    SLOT_BYTES = (CELLS_OFFSET + COHORT__NUM_NOTES * CELL_STRIDE + PAGE - 1) / PAGE * PAGE,
};

_Static_assert(sizeof(struct cohort__note) == COHORT__NOTE_LINE, "one line each");

size_t cohort__notes_slot_bytes(void)
{
    return SLOT_BYTES;
}

size_t cohort__notes_clear_bytes(void)
{
    return CELLS_OFFSET;
}

size_t cohort__notes_bytes(uint32_t size)
{
    return PAGE + (size_t)size * SLOT_BYTES;
}

unsigned char *cohort__notes_slot(const struct cohort__notes *notes, uint32_t slot)
{
    return notes->memory + PAGE + (size_t)slot * SLOT_BYTES;
}

_Atomic uint32_t *cohort__notes_num_waiting(const struct cohort__notes *notes)
{
    return (_Atomic uint32_t *)(void *)notes->memory;
}

static uint32_t place_of(uint64_t generation, uint32_t number)
{
    return (uint32_t)(generation % COHORT__NOTES_GENERATIONS) * COHORT__NOTES_OF_CALL + number;
}

struct cohort__note *cohort__notes_at(const struct cohort__notes *notes, uint32_t slot,
                                      uint64_t generation, uint32_t number)
{
    return (struct cohort__note *)(void *)(cohort__notes_slot(notes, slot) +
                                           (size_t)place_of(generation, number) *
                                               COHORT__NOTE_LINE);
}

_Atomic uint64_t *cohort__notes_passed(const struct cohort__notes *notes, uint32_t slot,
                                       uint64_t generation, uint32_t number)
{
    return (_Atomic uint64_t *)(void *)(cohort__notes_slot(notes, slot) + WORDS_OFFSET) +
           place_of(generation, number);
}

unsigned char *cohort__notes_cell(const struct cohort__notes *notes, uint32_t slot, uint32_t cell)
{
    return cohort__notes_slot(notes, slot) + CELLS_OFFSET + (size_t)cell * CELL_STRIDE;
}

const unsigned char *cohort__notes_data(const struct cohort__notes *notes, uint32_t slot,
                                        const struct cohort__note *note, uint32_t *ret_bytes)
{
    uint32_t bytes = atomic_load_explicit(&note->bytes, memory_order_relaxed);
    uint32_t cell = atomic_load_explicit(&note->cell, memory_order_relaxed);
    *ret_bytes = bytes;
    if (bytes <= COHORT__NOTE_INLINE)
        return note->data;
    if (bytes > COHORT__NOTE_BYTES || cell >= COHORT__NUM_NOTES)
        return NULL;
    return cohort__notes_cell(notes, slot, cell);
}
