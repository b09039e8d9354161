/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/shm_memory.h"

#include "runtime/net/ring.h"
#include "runtime/net/shm_end.h"
#include "tests/support/test.h"

enum { PAGE = 65536, HEAP = 3 * COHORT__HEAP_HUGE };

static const uint32_t sizes[] = {1,  2,  3,  5,  6,  7,    8,
                                 12, 16, 23, 24, 64, 1000, COHORT__SHM_MAX_SLOTS};
enum { NUM_SIZES = sizeof sizes / sizeof sizes[0] };

/* Each part begins at a page, where the part before it ends. */
TEST(layout)
{
    for (size_t i = 0; i < NUM_SIZES; i++) {
        uint32_t size = sizes[i];
        size_t bulk = cohort__shm_bulk_bytes(size), slots = (size_t)size * size;
        CHECK(cohort__shm_common_bytes(size) >= cohort__shm_slot_offset(size));
        CHECK_INT(cohort__shm_board_offset(size, 0), (long long)cohort__shm_common_bytes(size));
        CHECK_INT(cohort__shm_ring_offset(size, 0, 0),
                  (long long)cohort__shm_board_offset(size, COHORT__SHM_NUM_COMMS));
        CHECK_INT(
            cohort__shm_bulk_offset(size, 0, 0),
            (long long)(cohort__shm_ring_offset(size, 0, 0) + slots * COHORT__SHM_RING_BYTES));
        CHECK_INT(cohort__shm_bulk_offset(size, size - 1, size - 1),
                  (long long)(cohort__shm_bulk_offset(size, 0, 0) + (slots - 1) * bulk));
        CHECK_INT(cohort__shm_notes_offset(size, 0),
                  (long long)(cohort__shm_bulk_offset(size, 0, 0) + slots * bulk));
        CHECK(cohort__shm_heap_offset(size, HEAP, 0) >=
              cohort__shm_notes_offset(size, COHORT__SHM_NUM_COMMS));
        CHECK_INT(cohort__shm_heap_offset(size, HEAP, 0) % COHORT__HEAP_HUGE, 0);
        CHECK_INT(cohort__shm_memory_bytes(size, HEAP),
                  (long long)(cohort__shm_heap_offset(size, HEAP, size - 1) + HEAP));
        CHECK_INT(cohort__shm_notes_offset(size, 1) % PAGE, 0);
        CHECK_INT(cohort__shm_board_offset(size, 1) % PAGE, 0);
        CHECK_INT(cohort__shm_ring_offset(size, 0, 0) % PAGE, 0);
        CHECK_INT(bulk % PAGE, 0);
    }
}

/* The bulk memory that can ever be used is bounded. But the minimum is enough for several pieces.
 */
TEST(bulk)
{
    size_t before = COHORT__SHM_BULK_MOST;
    CHECK_INT(cohort__shm_bulk_bytes(2), COHORT__SHM_BULK_MOST);
    for (size_t i = 0; i < NUM_SIZES; i++) {
        uint32_t size = sizes[i];
        size_t bulk = cohort__shm_bulk_bytes(size), pairs = (size_t)size * (size - 1);
        CHECK(bulk <= before);
        CHECK(bulk == COHORT__SHM_BULK_LEAST || bulk * pairs <= COHORT__SHM_BULK_TOTAL);
        CHECK(cohort__ring_max_data(bulk) >= COHORT__SHM_CHUNK);
        before = bulk;
    }
    CHECK(cohort__shm_bulk_bytes(8) > COHORT__SHM_BULK_LEAST);
    CHECK_INT(cohort__shm_bulk_bytes(64), COHORT__SHM_BULK_LEAST);
}
