/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/notes.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"
#include "tests/support/thread.h"

enum { MAX_SIZE = 3, PAGE = 65536, FIRST = 1000 };

static struct cohort__notes notes_create(uint32_t size)
{
    size_t bytes = cohort__notes_bytes(size);
    struct cohort__notes notes = {size, aligned_alloc(PAGE, bytes)};
    CHECK(notes.memory);
    memset(notes.memory, 0, bytes);
    return notes;
}

/* Claims bytes of the notes. They must be inside and not claimed before. */
static void claim(const struct cohort__notes *notes, const void *from, size_t bytes)
{
    size_t offset = (size_t)((const unsigned char *)from - notes->memory);
    CHECK(offset < cohort__notes_bytes(notes->size));
    CHECK(bytes <= cohort__notes_bytes(notes->size) - offset);
    CHECK(!memchr(notes->memory + offset, 1, bytes));
    memset(notes->memory + offset, 1, bytes);
}

/* Neither do words, notes and cells of any slots overlap, nor is any outside. */
TEST(no_overlap)
{
    for (uint32_t size = 1; size <= MAX_SIZE; size++) {
        struct cohort__notes notes = notes_create(size);
        claim(&notes, cohort__notes_num_waiting(&notes), sizeof(uint32_t));
        for (uint32_t slot = 0; slot < size; slot++) {
            for (uint64_t i = FIRST; i < FIRST + COHORT__NOTES_GENERATIONS; i++)
                for (uint32_t number = 0; number < COHORT__NOTES_OF_CALL; number++) {
                    claim(&notes, cohort__notes_at(&notes, slot, i, number),
                          sizeof(struct cohort__note));
                    claim(&notes, cohort__notes_passed(&notes, slot, i, number), sizeof(uint64_t));
                }
            for (uint32_t cell = 0; cell < COHORT__NUM_NOTES; cell++)
                claim(&notes, cohort__notes_cell(&notes, slot, cell), COHORT__NOTE_BYTES);
        }
        free(notes.memory);
    }
}

/* Slots are whole pages, so that one can be given back without the others. What has to be zero is
 * at the beginning: all but the cells. */
TEST(slots)
{
    struct cohort__notes notes = {MAX_SIZE, NULL};
    notes.memory = aligned_alloc(PAGE, PAGE); /* is only compared */
    CHECK(notes.memory);
    CHECK_INT((long long)(cohort__notes_slot_bytes() % PAGE), 0);
    for (uint32_t slot = 0; slot < MAX_SIZE; slot++) {
        const unsigned char *own = cohort__notes_slot(&notes, slot);
        const unsigned char *clear_end = own + cohort__notes_clear_bytes();
        const unsigned char *end = own + cohort__notes_slot_bytes();
        CHECK_INT((long long)((size_t)(own - notes.memory) % PAGE), 0);
        CHECK(end == (slot + 1 < MAX_SIZE ? cohort__notes_slot(&notes, slot + 1)
                                          : notes.memory + cohort__notes_bytes(MAX_SIZE)));
        for (uint64_t i = 0; i < COHORT__NOTES_GENERATIONS; i++)
            for (uint32_t number = 0; number < COHORT__NOTES_OF_CALL; number++) {
                const struct cohort__note *note = cohort__notes_at(&notes, slot, i, number);
                const void *word = cohort__notes_passed(&notes, slot, i, number);
                CHECK((const unsigned char *)note >= own);
                CHECK((const unsigned char *)(note + 1) <= clear_end);
                CHECK((const unsigned char *)word + sizeof(uint64_t) <= clear_end);
            }
        for (uint32_t cell = 0; cell < COHORT__NUM_NOTES; cell++) {
            const unsigned char *data = cohort__notes_cell(&notes, slot, cell);
            CHECK(data >= clear_end && data + COHORT__NOTE_BYTES <= end);
            CHECK_INT((long long)((size_t)(data - notes.memory) % COHORT__NOTE_LINE), 0);
        }
    }
    free(notes.memory);
}

/* The generation one window later has the same place, and none in between has. */
TEST(places)
{
    struct cohort__notes notes = notes_create(2);
    static const uint64_t firsts[] = {1, FIRST, UINT64_MAX - 2 * COHORT__NOTES_GENERATIONS};
    for (size_t i = 0; i < NUM_OF(firsts); i++)
        for (uint64_t first = firsts[i]; first < firsts[i] + 3; first++)
            for (uint64_t later = 0; later <= COHORT__NOTES_GENERATIONS; later++)
                for (uint32_t number = 0; number < COHORT__NOTES_OF_CALL; number++) {
                    bool is_same = later % COHORT__NOTES_GENERATIONS == 0 && number == 2;
                    CHECK_INT(cohort__notes_at(&notes, 1, first, 2) ==
                                  cohort__notes_at(&notes, 1, first + later, number),
                              is_same);
                    CHECK_INT(cohort__notes_passed(&notes, 1, first, 2) ==
                                  cohort__notes_passed(&notes, 1, first + later, number),
                              is_same);
                }
    free(notes.memory);
}

/* Up to a certain size the data is in the note, else in the cell that it names. A length or a cell
 * that can't be is not believed. */
TEST(data)
{
    static const uint32_t lengths[] = {0,
                                       1,
                                       COHORT__NOTE_INLINE,
                                       COHORT__NOTE_INLINE + 1,
                                       COHORT__NOTE_BYTES,
                                       COHORT__NOTE_BYTES + 1,
                                       UINT32_MAX};
    static const uint32_t cells[] = {0, 1, COHORT__NUM_NOTES - 1, COHORT__NUM_NOTES, UINT32_MAX};
    struct cohort__notes notes = notes_create(2);
    struct cohort__note *note = cohort__notes_at(&notes, 1, 5, 3);
    for (size_t i = 0; i < NUM_OF(lengths); i++)
        for (size_t k = 0; k < NUM_OF(cells); k++) {
            uint32_t bytes = 77;
            note->bytes = lengths[i];
            note->cell = cells[k];
            const unsigned char *data = cohort__notes_data(&notes, 1, note, &bytes);
            CHECK_INT(bytes, lengths[i]);
            if (lengths[i] <= COHORT__NOTE_INLINE)
                CHECK(data == note->data);
            else if (lengths[i] <= COHORT__NOTE_BYTES && cells[k] < COHORT__NUM_NOTES)
                CHECK(data == cohort__notes_cell(&notes, 1, cells[k]));
            else
                CHECK(!data);
        }
    free(notes.memory);
}

struct mad {
    struct cohort__note *note;
    atomic_bool is_over;
};

static void *write_anything(void *arg)
{
    struct mad *mad = arg;
    for (uint32_t i = 0; !mad->is_over; i++) {
        mad->note->bytes = i % 2 ? COHORT__NOTE_BYTES : COHORT__NOTE_INLINE;
        mad->note->cell = i % 3 ? UINT32_MAX : 0;
    }
    return NULL;
}

/* What another process writes is read once, and so it fits together, whatever is there later. */
TEST(mad)
{
    enum { LOOKS = 300000 };
    struct cohort__notes notes = notes_create(1);
    struct mad mad = {.note = cohort__notes_at(&notes, 0, 5, 0)};
    pthread_t thread = new_thread(write_anything, &mad);
    for (int i = 0; i < LOOKS; i++) {
        uint32_t bytes;
        const unsigned char *data = cohort__notes_data(&notes, 0, mad.note, &bytes);
        CHECK(!data || data == (bytes <= COHORT__NOTE_INLINE ? mad.note->data
                                                             : cohort__notes_cell(&notes, 0, 0)));
    }
    mad.is_over = true;
    end_thread(thread);
    free(notes.memory);
}
