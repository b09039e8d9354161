/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/container.h"
#include "runtime/base/error.h"

struct block {
    struct cohort__list link;      /* in `blocks` */
    struct cohort__tree_node free; /* in `free`, if it is free */
    struct cohort__map_node node;
    size_t offset;
    size_t bytes;
    bool is_free;
};

void cohort__heap_init(struct cohort__heap *heap, int memory, uint64_t file_begin, size_t bytes,
                       size_t limit)
{
    const size_t enough = 2 * limit + COHORT__HEAP_HUGE;
    *heap = (struct cohort__heap){.memory = memory,
                                  .file_begin = file_begin,
                                  .bytes = bytes < enough ? bytes : enough,
                                  .limit = limit};
    pthread_mutex_init(&heap->lock, NULL);
    cohort__list_init(&heap->blocks);
    cohort__map_init(&heap->used_blocks);
}

static struct block *block_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct block, link);
}

/* No access. False: no address space. */
static void *reserve(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void set_free(struct cohort__heap *heap, struct block *block)
{
    block->is_free = true;
    cohort__tree_insert(&heap->free, &block->free, block->bytes);
}

/* BLOCK, which is free, is not any more, or gets another size. */
static void set_taken(struct cohort__heap *heap, struct block *block)
{
    block->is_free = false;
    cohort__tree_remove(&heap->free, &block->free);
}

/* Reserves the addresses, which are one free block then. */
static bool open_range(struct cohort__heap *heap)
{
    if (heap->reserved)
        return true;
    struct block *block = calloc(1, sizeof(*block));
    unsigned char *reserved = block ? reserve(heap->bytes + COHORT__HEAP_HUGE) : NULL;
    if (!reserved) {
        free(block);
        return false;
    }
    size_t behind = (uintptr_t)reserved % COHORT__HEAP_HUGE;
    heap->reserved = reserved;
    atomic_store(&heap->base, reserved + (behind ? COHORT__HEAP_HUGE - behind : 0));
    block->bytes = heap->bytes;
    cohort__list_push_back(&heap->blocks, &block->link);
    set_free(heap, block);
    return true;
}

/* Cuts what is behind the first BYTES of BLOCK, which is in use, off as a free block. False: no
 * memory for it. */
static bool cut(struct cohort__heap *heap, struct block *block, size_t bytes)
{
    if (bytes == block->bytes)
        return true;
    struct block *rest = calloc(1, sizeof(*rest));
    if (!rest)
        return false;
    rest->offset = block->offset + bytes;
    rest->bytes = block->bytes - bytes;
    block->bytes = bytes;
    cohort__list_insert_after(&block->link, &rest->link);
    set_free(heap, rest);
    return true;
}

/* If LINK is a free block, which follows BLOCK or which BLOCK follows: makes it a part of BLOCK. */
static void join(struct cohort__heap *heap, struct block *block, struct cohort__list *link)
{
    struct block *other = block_of(link);
    if (link == &heap->blocks || !other->is_free)
        return;
    set_taken(heap, other);
    if (other->offset < block->offset)
        block->offset = other->offset;
    block->bytes += other->bytes;
    cohort__list_remove(&other->link);
    free(other);
}

/* BLOCK, which is in use, is free from now on. */
static void release(struct cohort__heap *heap, struct block *block)
{
    join(heap, block, block->link.next);
    join(heap, block, block->link.prev);
    set_free(heap, block);
}

/* The smallest free block that has room for BYTES, wherever it begins. */
static struct block *take(struct cohort__heap *heap, size_t bytes)
{
    const size_t align = bytes < COHORT__HEAP_HUGE ? 1 : COHORT__HEAP_HUGE;
    struct cohort__tree_node *node = cohort__tree_find_from(&heap->free, bytes + align - 1);
    if (!node)
        return NULL;
    struct block *block = COHORT_CONTAINER_OF(node, struct block, free);
    size_t before = (align - block->offset % align) % align;
    set_taken(heap, block);
    if (before > 0 && cut(heap, block, before)) {
        struct block *rest = block_of(block->link.next);
        set_taken(heap, rest);
        set_free(heap, block);
        block = rest;
    }
    if (block->offset % align == 0 && cut(heap, block, bytes))
        return block;
    release(heap, block);
    return NULL;
}

static bool map_block(const struct cohort__heap *heap, const struct block *block)
{
    void *memory = atomic_load(&heap->base) + block->offset;
    if (mmap(memory, block->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, heap->memory,
             (off_t)(heap->file_begin + block->offset)) == MAP_FAILED)
        return false;
    if (block->bytes >= COHORT__HEAP_HUGE)
        (void)madvise(memory, block->bytes, MADV_HUGEPAGE); /* where the system has them */
    return true;
}

/* Takes access away. False: the kernel has no memory for that. Then what was mapped there may be
 * gone, and the addresses anybody's. */
static bool unmap_block(const struct cohort__heap *heap, const struct block *block)
{
    return mmap(atomic_load(&heap->base) + block->offset, block->bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

/* Others may have mapped the pages, too, and the program may have locked them, so it is the file
 * that gives them back. */
static void empty_block(const struct cohort__heap *heap, const struct block *block)
{
    (void)fallocate(heap->memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    (off_t)(heap->file_begin + block->offset), (off_t)block->bytes);
}

static cohort_status allocate(struct cohort__heap *heap, void **ret_memory, size_t bytes)
{
    if (bytes > heap->limit - heap->used)
        return cohort_fail(COHORT_ERR_NO_MEMORY,
                           "%zu bytes, beside %zu that are in use, are more than the %zu that a "
                           "locality may have here (COHORT_MEMORY_MIB)",
                           bytes, heap->used, heap->limit);
    struct block *block = open_range(heap) ? take(heap, bytes) : NULL;
    if (!block)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no room for %zu bytes among %zu that are in use",
                           bytes, heap->used);
    if (!map_block(heap, block)) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "mapping %zu bytes: %s", bytes, strerror(errno));
        if (unmap_block(heap, block)) /* else it is used no more */
            release(heap, block);
        return COHORT_ERR_NO_MEMORY;
    }
    cohort__map_insert(&heap->used_blocks, &block->node, block->offset);
    heap->used += block->bytes;
    *ret_memory = atomic_load(&heap->base) + block->offset;
    return COHORT_OK;
}

cohort_status cohort__heap_alloc(struct cohort__heap *heap, void **ret_memory, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t rounded = bytes > SIZE_MAX - page ? SIZE_MAX : (bytes + page - 1) / page * page;
    pthread_mutex_lock(&heap->lock);
    cohort_status status = allocate(heap, ret_memory, rounded);
    pthread_mutex_unlock(&heap->lock);
    return status;
}

bool cohort__heap_free(struct cohort__heap *heap, void *memory)
{
    uint64_t offset;
    struct cohort__map_node *node = NULL;
    pthread_mutex_lock(&heap->lock);
    if (cohort__heap_has(heap, memory, &offset))
        node = cohort__map_find(&heap->used_blocks, offset, NULL, NULL);
    if (node) {
        struct block *block = COHORT_CONTAINER_OF(node, struct block, node);
        cohort__map_remove(&heap->used_blocks, node);
        empty_block(heap, block);
        heap->used -= block->bytes;
        if (unmap_block(heap, block)) /* else it is used no more */
            release(heap, block);
    }
    pthread_mutex_unlock(&heap->lock);
    return node;
}

size_t cohort__heap_fini(struct cohort__heap *heap)
{
    size_t num = heap->used_blocks.num_nodes;
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&heap->blocks))) {
        struct block *block = block_of(link);
        if (!block->is_free)
            empty_block(heap, block);
        free(block);
    }
    if (heap->reserved)
        munmap(heap->reserved, heap->bytes + COHORT__HEAP_HUGE);
    cohort__map_fini(&heap->used_blocks);
    pthread_mutex_destroy(&heap->lock);
    return num;
}
