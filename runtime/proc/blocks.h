/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_BLOCKS_H
#define COHORT_RUNTIME_PROC_BLOCKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/map.h"
#include "runtime/base/tree.h"
#include "runtime/net/heap.h"

/* The blocks of cohort_memory_alloc of one locality, in its heap or in ordinary memory. One that is
 * shared has an id, which no other block of the locality ever has. While it is there the id is also
 * in a word of the heap, if the block is: so those of the same host see for themselves whether it
 * was given back. Any thread. */
struct cohort__blocks {
    pthread_mutex_t lock;
    struct cohort__tree by_address; /* by the complement, so that the next one lies before */
    struct cohort__map by_id;       /* those that are shared */
    uint64_t last_id;
    struct cohort__heap *heap; /* that the words are in; NULL: there are none yet */
    _Atomic uint64_t *words;   /* 0: of no block */
    uint64_t words_offset;     /* in the heap */
    uint32_t next_word;        /* where to look for one that is free */
};

enum { COHORT__BLOCKS_NUM_WORDS = 8192 };

/* How others name what was shared. */
struct cohort__block_name {
    uint64_t id;
    uint64_t offset; /* in the block */
    uint64_t in_heap;
    uint64_t word; /* its offset in the heap; COHORT__BLOCKS_NO_WORD: only the owner knows of it */
};

#define COHORT__BLOCKS_NO_WORD UINT64_MAX

void cohort__blocks_init(struct cohort__blocks *blocks);

/* Gives the words back to the heap. From then on no block has one. */
void cohort__blocks_close(struct cohort__blocks *blocks);
void cohort__blocks_fini(struct cohort__blocks *blocks);

/* A block of BYTES begins at MEMORY from now on. False: no memory. */
bool cohort__blocks_add(struct cohort__blocks *blocks, void *memory, size_t bytes);

/* To be called before its memory is given back. False: no block begins at MEMORY. */
bool cohort__blocks_remove(struct cohort__blocks *blocks, const void *memory);

/* Names BYTES from MEMORY on, which are of one block. HEAP may be NULL. False: they are not. */
bool cohort__blocks_share(struct cohort__blocks *blocks, struct cohort__heap *heap,
                          const void *memory, size_t bytes, struct cohort__block_name *ret_name);

/* Where BYTES at OFFSET of block ID are. NULL: it was given back, or has no such bytes. */
void *cohort__blocks_find(struct cohort__blocks *blocks, uint64_t id, uint64_t offset,
                          size_t bytes);

#endif
