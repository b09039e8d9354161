/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_HEAP_H
#define COHORT_RUNTIME_NET_HEAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/base/tree.h"

/* A range of a file of memory (runtime/base/memory_file.h), cut into blocks that one process uses,
 * and that others may map, too. Its addresses are one range, so that a pointer into it is known by
 * one comparison. A block has whole pages. Where there is none, there is no access: who uses memory
 * that was given back gets a signal. Any thread. */
struct cohort__heap {
    pthread_mutex_t lock;
    int memory;          /* the file */
    uint64_t file_begin; /* where its range begins there */
    size_t bytes;        /* of the range: of addresses, too */
    size_t limit;        /* of what all blocks together may have */
    size_t used;
    unsigned char *reserved;        /* address space */
    _Atomic(unsigned char *) base;  /* in it, aligned; NULL: no block was allocated yet */
    struct cohort__list blocks;     /* by address, without gaps */
    struct cohort__tree free;       /* of these, by size */
    struct cohort__map used_blocks; /* the others, by offset */
};

/* Blocks of at least that many bytes begin at multiples of it, and may be huge pages. */
enum { COHORT__HEAP_HUGE = 2 << 20 };

/* A heap in the range of the file MEMORY, which stays open, that has BYTES from FILE_BEGIN on. Of
 * these it uses at most twice what the blocks may have, since gaps between them may be too small.
 */
void cohort__heap_init(struct cohort__heap *heap, int memory, uint64_t file_begin, size_t bytes,
                       size_t limit);

/* Gives everything back. Returns how many blocks there still were. */
size_t cohort__heap_fini(struct cohort__heap *heap);

/* A block of at least BYTES, more than 0. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__heap_alloc(struct cohort__heap *heap, void **ret_memory, size_t bytes);

/* Gives back the block that begins at MEMORY, and its pages to the system. False: there is none. */
bool cohort__heap_free(struct cohort__heap *heap, void *memory);

/* Whether MEMORY is in the range of addresses. *RET_OFFSET is how far behind FILE_BEGIN it is. */
static inline bool cohort__heap_has(const struct cohort__heap *heap, const void *memory,
                                    uint64_t *ret_offset)
{
    uintptr_t base = (uintptr_t)atomic_load_explicit(&heap->base, memory_order_relaxed);
    *ret_offset = (uint64_t)((uintptr_t)memory - base);
    return base && *ret_offset < heap->bytes;
}

#endif
