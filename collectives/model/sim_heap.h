/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_SIM_HEAP_H
#define COHORT_COLLECTIVES_MODEL_SIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A binary heap: the entry with the lowest key comes out first, and among equal keys the one with
 * the lowest value. A heap with all bytes zero is empty. */
struct cohort__sim_entry {
    double key;
    uint64_t value;
};

struct cohort__sim_heap {
    struct cohort__sim_entry *entries;
    size_t count;
    size_t capacity;
};

/* False where memory ran out. */
bool cohort__sim_heap_push(struct cohort__sim_heap *heap, double key, uint64_t value);

/* To be called only if count > 0. */
struct cohort__sim_entry cohort__sim_heap_pop(struct cohort__sim_heap *heap);

void cohort__sim_heap_fini(struct cohort__sim_heap *heap);

#endif
