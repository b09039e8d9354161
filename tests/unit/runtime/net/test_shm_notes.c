/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/mman.h>

#include "runtime/net/shm_end.h"
#include "runtime/net/shm_memory.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/net/shm_ends.h"

enum { NUM = 3, NUMBER = 7, GENERATION = 12 };

/* The linker redirects all calls of madvise to __wrap_madvise. */
int __real_madvise(void *address, size_t bytes, int advice);

static bool refuses_advice;

int __wrap_madvise(void *address, size_t bytes, int advice)
{
    return refuses_advice ? -1 : __real_madvise(address, bytes, advice);
}

static struct cohort__notes notes_open(uint32_t end, uint32_t number)
{
    struct cohort__notes notes;
    CHECK_OK(cohort__shm_notes_open(shm_stations[end].net, number, &notes));
    CHECK_INT(notes.size, NUM);
    return notes;
}

/* All ends see the same notes, from the first number to the last, and those of one number are not
 * those of another. */
TEST(shared)
{
    static const uint32_t numbers[] = {0, 1, NUMBER, COHORT__SHM_NUM_COMMS - 1};
    enum { NUM_NUMBERS = NUM_OF(numbers) };
    shm_ends_open(NUM, COHORT__SHM_STREAM);
    for (uint32_t i = 0; i < NUM_NUMBERS; i++) {
        struct cohort__notes notes = notes_open(i % NUM, numbers[i]);
        *cohort__notes_num_waiting(&notes) = i + 1;
        for (uint32_t slot = 0; slot < NUM; slot++) {
            cohort__notes_at(&notes, slot, GENERATION, 1)->generation = 10 * i + slot;
            *cohort__notes_passed(&notes, slot, GENERATION, 2) = 100 * i + slot;
            cohort__notes_cell(&notes, slot, COHORT__NUM_NOTES - 1)[COHORT__NOTE_BYTES - 1] =
                (unsigned char)(50 * i + slot);
        }
        cohort__shm_notes_close(&notes);
        CHECK(!notes.memory);
        cohort__shm_notes_close(&notes); /* does nothing */
    }
    for (uint32_t i = 0; i < NUM_NUMBERS; i++)
        for (uint32_t end = 0; end < NUM; end++) {
            struct cohort__notes notes = notes_open(end, numbers[i]);
            CHECK_INT(*cohort__notes_num_waiting(&notes), i + 1);
            for (uint32_t slot = 0; slot < NUM; slot++) {
                const unsigned char *cell = cohort__notes_cell(&notes, slot, COHORT__NUM_NOTES - 1);
                CHECK_INT((long long)cohort__notes_at(&notes, slot, GENERATION, 1)->generation,
                          10 * i + slot);
                CHECK_INT((long long)*cohort__notes_passed(&notes, slot, GENERATION, 2),
                          100 * i + slot);
                CHECK_INT(cell[COHORT__NOTE_BYTES - 1], 50 * i + slot);
            }
            cohort__shm_notes_close(&notes);
        }
    shm_ends_close();
}

/* A slot is cleared, but none of the others, and not the head: others may wait. The same if the
 * system does not take memory back; then the cells, which need not be cleared, stay. */
static void check_clear(void)
{
    shm_ends_open(NUM, COHORT__SHM_STREAM);
    struct cohort__notes notes = notes_open(0, NUMBER), seen = notes_open(2, NUMBER);
    for (uint32_t slot = 0; slot < NUM; slot++)
        memset(cohort__notes_slot(&notes, slot), 0xab, cohort__notes_slot_bytes());
    *cohort__notes_num_waiting(&notes) = 3;
    cohort__shm_notes_clear(&notes, 1);
    for (uint32_t slot = 0; slot < NUM; slot++) {
        const unsigned char *own = cohort__notes_slot(&seen, slot);
        for (size_t i = 0; i < cohort__notes_clear_bytes(); i++)
            CHECK_INT(own[i], slot == 1 ? 0 : 0xab);
        CHECK_INT(own[cohort__notes_slot_bytes() - 1], slot == 1 && !refuses_advice ? 0 : 0xab);
    }
    CHECK_INT(*cohort__notes_num_waiting(&seen), 3);
    cohort__shm_notes_close(&notes);
    cohort__shm_notes_close(&seen);
    shm_ends_close();
}

TEST(clear)
{
    check_clear();
    refuses_advice = true;
    check_clear();
    refuses_advice = false;
}
