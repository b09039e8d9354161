/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/blocks.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/base/container.h"

struct block {
    struct cohort__tree_node by_address;
    struct cohort__map_node by_id; /* if it has an id */
    unsigned char *memory;
    size_t bytes;
    uint64_t id;            /* 0: it was not shared */
    _Atomic uint64_t *word; /* or NULL */
};

static uint64_t key_of(const void *memory)
{
    return ~(uint64_t)(uintptr_t)memory;
}

void cohort__blocks_init(struct cohort__blocks *blocks)
{
    *blocks = (struct cohort__blocks){0};
    pthread_mutex_init(&blocks->lock, NULL);
    cohort__map_init(&blocks->by_id);
}

void cohort__blocks_close(struct cohort__blocks *blocks)
{
    pthread_mutex_lock(&blocks->lock);
    struct cohort__map *map = &blocks->by_id;
    for (struct cohort__map_node *node = cohort__map_first(map); node;
         node = cohort__map_next(map, node))
        COHORT_CONTAINER_OF(node, struct block, by_id)->word = NULL;
    if (blocks->heap)
        (void)cohort__heap_free(blocks->heap, (void *)blocks->words);
    blocks->heap = NULL;
    pthread_mutex_unlock(&blocks->lock);
}

void cohort__blocks_fini(struct cohort__blocks *blocks)
{
    struct cohort__tree_node *node;
    while ((node = blocks->by_address.root)) {
        cohort__tree_remove(&blocks->by_address, node);
        free(COHORT_CONTAINER_OF(node, struct block, by_address));
    }
    cohort__map_fini(&blocks->by_id);
    pthread_mutex_destroy(&blocks->lock);
}

bool cohort__blocks_add(struct cohort__blocks *blocks, void *memory, size_t bytes)
{
    struct block *block = calloc(1, sizeof(*block));
    if (!block)
        return false;
    block->memory = memory;
    block->bytes = bytes;
    pthread_mutex_lock(&blocks->lock);
    cohort__tree_insert(&blocks->by_address, &block->by_address, key_of(memory));
    pthread_mutex_unlock(&blocks->lock);
    return true;
}

bool cohort__blocks_remove(struct cohort__blocks *blocks, const void *memory)
{
    pthread_mutex_lock(&blocks->lock);
    struct cohort__tree_node *node = cohort__tree_find(&blocks->by_address, key_of(memory));
    struct block *block = node ? COHORT_CONTAINER_OF(node, struct block, by_address) : NULL;
    if (block) {
        cohort__tree_remove(&blocks->by_address, node);
        if (block->id)
            cohort__map_remove(&blocks->by_id, &block->by_id);
        if (block->word)
            atomic_store(block->word, 0);
    }
    pthread_mutex_unlock(&blocks->lock);
    free(block);
    return block;
}

/* With the lock held. The words need no other place in the memory of the host than a block has. */
static void open_words(struct cohort__blocks *blocks, struct cohort__heap *heap)
{
    void *memory;
    if (blocks->heap ||
        cohort__heap_alloc(heap, &memory, COHORT__BLOCKS_NUM_WORDS * sizeof(*blocks->words)))
        return;
    blocks->words = memory;
    blocks->heap = heap;
    (void)cohort__heap_has(heap, memory, &blocks->words_offset);
}

/* With the lock held. NULL: all are taken. */
static _Atomic uint64_t *take_word(struct cohort__blocks *blocks, uint64_t id)
{
    for (uint32_t i = 0; blocks->heap && i < COHORT__BLOCKS_NUM_WORDS; i++) {
        _Atomic uint64_t *word = &blocks->words[blocks->next_word++ % COHORT__BLOCKS_NUM_WORDS];
        if (atomic_load(word) == 0) {
            atomic_store(word, id);
            return word;
        }
    }
    return NULL;
}

/* With the lock held: BLOCK has an id from now on. OFFSET: in the HEAP, or it is NULL. */
static void share(struct cohort__blocks *blocks, struct block *block, struct cohort__heap *heap)
{
    block->id = ++blocks->last_id;
    cohort__map_insert(&blocks->by_id, &block->by_id, block->id);
    if (heap) {
        open_words(blocks, heap);
        block->word = take_word(blocks, block->id);
    }
}

/* With the lock held. NULL: BYTES from MEMORY on are not of one block. */
static struct block *block_of(const struct cohort__blocks *blocks, const void *memory, size_t bytes)
{
    struct cohort__tree_node *node = cohort__tree_find_from(&blocks->by_address, key_of(memory));
    struct block *block = node ? COHORT_CONTAINER_OF(node, struct block, by_address) : NULL;
    if (!block)
        return NULL;
    size_t offset = (uintptr_t)memory - (uintptr_t)block->memory;
    return offset < block->bytes && bytes <= block->bytes - offset ? block : NULL;
}

bool cohort__blocks_share(struct cohort__blocks *blocks, struct cohort__heap *heap,
                          const void *memory, size_t bytes, struct cohort__block_name *ret_name)
{
    uint64_t in_heap = 0;
    bool is_in_heap = heap && cohort__heap_has(heap, memory, &in_heap);
    pthread_mutex_lock(&blocks->lock);
    struct block *block = block_of(blocks, memory, bytes);
    if (block && !block->id)
        share(blocks, block, is_in_heap ? heap : NULL);
    if (block)
        *ret_name = (struct cohort__block_name){
            .id = block->id,
            .offset = (uintptr_t)memory - (uintptr_t)block->memory,
            .in_heap = in_heap,
            .word = block->word ? blocks->words_offset + (uint64_t)((unsigned char *)block->word -
                                                                    (unsigned char *)blocks->words)
                                : COHORT__BLOCKS_NO_WORD,
        };
    pthread_mutex_unlock(&blocks->lock);
    return block;
}

void *cohort__blocks_find(struct cohort__blocks *blocks, uint64_t id, uint64_t offset, size_t bytes)
{
    void *memory = NULL;
    pthread_mutex_lock(&blocks->lock);
    struct cohort__map_node *node = cohort__map_find(&blocks->by_id, id, NULL, NULL);
    if (node) {
        const struct block *block = COHORT_CONTAINER_OF(node, struct block, by_id);
        if (offset <= block->bytes && bytes <= block->bytes - offset)
            memory = block->memory + offset;
    }
    pthread_mutex_unlock(&blocks->lock);
    return memory;
}
