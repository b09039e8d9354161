/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/sim_heap.h"

#include <stdlib.h>

static bool is_before(struct cohort__sim_entry a, struct cohort__sim_entry b)
{
    return a.key < b.key || (a.key <= b.key && a.value < b.value);
}

bool cohort__sim_heap_push(struct cohort__sim_heap *heap, double key, uint64_t value)
{
    if (heap->count == heap->capacity) {
        size_t capacity = 2 * heap->capacity + 64;
        void *entries = realloc(heap->entries, capacity * sizeof(*heap->entries));
        if (!entries)
            return false;
        heap->entries = entries;
        heap->capacity = capacity;
    }
    struct cohort__sim_entry entry = {key, value};
    size_t at = heap->count++;
    for (; at > 0 && is_before(entry, heap->entries[(at - 1) / 2]); at = (at - 1) / 2)
        heap->entries[at] = heap->entries[(at - 1) / 2];
    heap->entries[at] = entry;
    return true;
}

struct cohort__sim_entry cohort__sim_heap_pop(struct cohort__sim_heap *heap)
{
    struct cohort__sim_entry first = heap->entries[0];
    struct cohort__sim_entry last = heap->entries[--heap->count];
    size_t at = 0;
    for (size_t next = 1; next < heap->count; next = 2 * at + 1) {
        if (next + 1 < heap->count && is_before(heap->entries[next + 1], heap->entries[next]))
            next++;
        if (!is_before(heap->entries[next], last))
            break;
        heap->entries[at] = heap->entries[next];
        at = next;
    }
    heap->entries[at] = last;
    return first;
}

void cohort__sim_heap_fini(struct cohort__sim_heap *heap)
{
    free(heap->entries);
}
