/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of events and of jobs that wait returns its entries in order. */
#include "collectives/model/sim_steps.h"
#include "runtime/base/random.h"
#include "tests/support/test.h"

enum { NUM = 500 };

TEST(heap)
{
    struct cohort__sim_heap heap = {0};
    struct cohort__random random = cohort__random_seeded(7);
    for (unsigned i = 0; i < NUM; i++)
        CHECK(cohort__sim_heap_push(&heap, (double)cohort__random_below(&random, 50), i));
    struct cohort__sim_entry last = {-1, 0};
    for (unsigned i = 0; i < NUM; i++) {
        CHECK_INT(heap.count, NUM - i);
        struct cohort__sim_entry entry = cohort__sim_heap_pop(&heap);
        CHECK(entry.key > last.key || (entry.key >= last.key && entry.value > last.value));
        last = entry;
    }
    cohort__sim_heap_fini(&heap);
}

/* What is added and removed at random: the lowest one is always removed. */
TEST(mixed)
{
    struct cohort__sim_heap heap = {0};
    bool is_in[NUM] = {false};
    struct cohort__random random = cohort__random_seeded(8);
    for (unsigned round = 0; round < 20000; round++) {
        uint32_t key = (uint32_t)cohort__random_below(&random, NUM), lowest = 0;
        if (!is_in[key]) {
            CHECK(cohort__sim_heap_push(&heap, key, 2 * key));
            is_in[key] = true;
            continue;
        }
        while (!is_in[lowest])
            lowest++;
        CHECK_INT(cohort__sim_heap_pop(&heap).value, 2 * lowest);
        is_in[lowest] = false;
    }
    cohort__sim_heap_fini(&heap);
}
