/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/slab.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/sanitizer.h"

/* A cache belongs to one thread at a time. Its memory comes in chunks, each with objects of one
 * size. A chunk begins at a multiple of CHUNK_BYTES, with a header that names its cache and its
 * size class. So from the address of an object one finds its chunk, and there its size and the
 * cache to which it has to return. Objects of a chunk are aligned to 32. Objects from malloc are
 * deliberately not, so bit 4 of an address tells which of the two it is. */
enum {
    CHUNK_BYTES = 64 * 1024,
    CHUNK_HEADER_BYTES = 64,
    REGION_CHUNKS = 16, /* mapped at one time */
    ALIGNMENT = 32,
    MALLOC_BIT = 16,
    NUM_CLASSES = 12,
    CACHE_LINE = 64,
};

static const uint16_t class_bytes[NUM_CLASSES] = {32,  64,  96,  128,  192,  256,
                                                  384, 512, 768, 1024, 1536, 2048};

struct object {
    struct object *next;
};

struct size_class {
    struct object *free;
    char *fresh; /* memory of the newest chunk that was never used, up to fresh_end */
    char *fresh_end;
};

struct cache {
    struct size_class classes[NUM_CLASSES];
    struct cache *next_unowned;
    /* Objects of all sizes that other threads have freed. */
    struct object *_Atomic remote __attribute__((aligned(CACHE_LINE)));
};

struct chunk {
    struct cache *cache;
    unsigned size_class;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the next four variables */
static char *region;
static size_t region_chunks_left;
static struct cache *unowned;
static bool key_exists;

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool uses_malloc; /* see cohort__slab_use_malloc */
static _Atomic size_t num_chunks;
static _Atomic size_t num_caches;
static _Thread_local struct cache *own_cache __attribute__((tls_model("initial-exec")));

/* The size class for each size, in units of ALIGNMENT, rounded up. */
static const unsigned char classes[COHORT__SLAB_MAX_BYTES / ALIGNMENT + 1] = {
    0,                                                              /* also for 0 bytes */
    0,  1,  2,  3,  4,  4,  5,  5,  6,  6,  6,  6,  7,  7,  7,  7,  /* up to 512 */
    8,  8,  8,  8,  8,  8,  8,  8,  9,  9,  9,  9,  9,  9,  9,  9,  /* up to 1024 */
    10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, /* up to 1536 */
    11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, /* up to 2048 */
};

static unsigned class_of(size_t bytes)
{
    return classes[(bytes + ALIGNMENT - 1) / ALIGNMENT];
}

static struct chunk *chunk_of(void *object)
{
    return (struct chunk *)((uintptr_t)object & ~(uintptr_t)(CHUNK_BYTES - 1));
}

static void cache_abandon(void *cache)
{
    own_cache = NULL;
    pthread_mutex_lock(&mutex);
    ((struct cache *)cache)->next_unowned = unowned;
    unowned = cache;
    pthread_mutex_unlock(&mutex);
}

static void key_init(void)
{
    key_exists = pthread_key_create(&key, cache_abandon) == 0;
}

static struct cache *cache_adopt(void)
{
    pthread_mutex_lock(&mutex);
    struct cache *cache = unowned;
    if (cache)
        unowned = cache->next_unowned;
    pthread_mutex_unlock(&mutex);
    return cache;
}

static struct cache *cache_get(void)
{
    pthread_once(&key_once, key_init);
    struct cache *cache = cache_adopt();
    if (!cache) {
        if (posix_memalign((void **)&cache, CACHE_LINE, sizeof(*cache)) != 0)
            return NULL;
        memset(cache, 0, sizeof(*cache));
        atomic_fetch_add_explicit(&num_caches, 1, memory_order_relaxed);
    }
    if (key_exists)
        pthread_setspecific(key, cache);
    own_cache = cache;
    return cache;
}

static bool region_map(void)
{
    size_t bytes = (size_t)REGION_CHUNKS * CHUNK_BYTES;
    char *mapping =
        mmap(NULL, bytes + CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
        return false;
    size_t before = -(uintptr_t)mapping & (CHUNK_BYTES - 1);
    if (before > 0)
        munmap(mapping, before);
    munmap(mapping + before + bytes, CHUNK_BYTES - before);
    region = mapping + before;
    region_chunks_left = REGION_CHUNKS;
    return true;
}

static void *chunk_map(void)
{
    char *chunk = NULL;
    pthread_mutex_lock(&mutex);
    if (region_chunks_left > 0 || region_map()) {
        chunk = region;
        region += CHUNK_BYTES;
        region_chunks_left--;
    }
    pthread_mutex_unlock(&mutex);
    return chunk;
}

static bool cache_add_chunk(struct cache *cache, unsigned size_class)
{
    char *start = chunk_map();
    if (!start)
        return false;
    atomic_fetch_add_explicit(&num_chunks, 1, memory_order_relaxed);
    *(struct chunk *)start = (struct chunk){cache, size_class};
    size_t bytes = class_bytes[size_class];
    size_t num_objects = (CHUNK_BYTES - CHUNK_HEADER_BYTES) / bytes;
    struct size_class *class = &cache->classes[size_class];
    class->fresh = start + CHUNK_HEADER_BYTES;
    class->fresh_end = class->fresh + num_objects * bytes;
    return true;
}

static void cache_put(struct cache *cache, struct object *object)
{
    struct size_class *class = &cache->classes[chunk_of(object)->size_class];
    object->next = class->free;
    class->free = object;
}

static void cache_collect(struct cache *cache)
{
    if (!atomic_load_explicit(&cache->remote, memory_order_relaxed))
        return;
    struct object *object = atomic_exchange_explicit(&cache->remote, NULL, memory_order_acquire);
    while (object) {
        struct object *next = object->next;
        cache_put(cache, object);
        object = next;
    }
}

static void *object_take(struct size_class *class)
{
    struct object *object = class->free;
    if (object)
        class->free = object->next;
    return object;
}

/* For objects that are too large for a chunk, and for any size when there is no memory for a new
 * chunk. In that case malloc may still have the few bytes that are needed, say, for an error
 * message. */
static void *large_alloc(size_t bytes)
{
    if (bytes > SIZE_MAX - 2 * ALIGNMENT)
        return NULL;
    char *memory = malloc(bytes + 2 * ALIGNMENT);
    if (!memory)
        return NULL;
    char *object = memory + sizeof(void *);
    object += (MALLOC_BIT - (uintptr_t)object) & (ALIGNMENT - 1);
    ((void **)object)[-1] = memory;
    return object;
}

static void large_free(void *object)
{
    free(((void **)object)[-1]);
}

/* Called when the free list is empty. This and all rare paths below are out of line, so that the
 * usual path saves no registers. */
static __attribute__((noinline)) void *object_refill(struct cache *cache, struct size_class *class)
{
    unsigned size_class = (unsigned)(class - cache->classes);
    cache_collect(cache);
    void *object = object_take(class);
    if (object)
        return object;
    if (class->fresh == class->fresh_end && !cache_add_chunk(cache, size_class))
        return large_alloc(class_bytes[size_class]);
    object = class->fresh;
    class->fresh += class_bytes[size_class];
    return object;
}

/* Called when this thread has no cache yet, or when BYTES is too large for a cache. */
static __attribute__((noinline)) void *alloc_rarely(size_t bytes)
{
    if (COHORT__ASAN)
        return malloc(bytes > 0 ? bytes : 1);
    if (uses_malloc || bytes > COHORT__SLAB_MAX_BYTES)
        return large_alloc(bytes);
    struct cache *cache = cache_get();
    return cache ? object_refill(cache, &cache->classes[class_of(bytes)]) : large_alloc(bytes);
}

void *cohort__slab_alloc(size_t bytes)
{
    struct cache *cache = own_cache;
    if (COHORT__ASAN || __builtin_expect(!cache || bytes > COHORT__SLAB_MAX_BYTES, 0))
        return alloc_rarely(bytes);
    struct size_class *class = &cache->classes[class_of(bytes)];
    void *object = object_take(class);
    return __builtin_expect(object != NULL, 1) ? object : object_refill(cache, class);
}

void *cohort__slab_alloc_zero(size_t bytes)
{
    void *object = cohort__slab_alloc(bytes);
    return object ? memset(object, 0, bytes) : NULL;
}

/* CACHE belongs to another thread. */
static __attribute__((noinline)) void free_elsewhere(struct cache *cache, struct object *object)
{
    object->next = atomic_load_explicit(&cache->remote, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&cache->remote, &object->next, object,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

void cohort__slab_free(void *object)
{
    if (COHORT__ASAN) {
        free(object);
        return;
    }
    if (!object)
        return;
    if (__builtin_expect((uintptr_t)object & MALLOC_BIT, 0)) {
        large_free(object);
        return;
    }
    struct cache *cache = chunk_of(object)->cache;
    if (cache == own_cache) {
        cache_put(cache, object);
        return;
    }
    free_elsewhere(cache, object);
}

/* A thread without a cache always takes the rare path, so the usual one has nothing to ask. */
void cohort__slab_use_malloc(void)
{
    uses_malloc = true;
    own_cache = NULL;
}

void cohort__slab_stats_get(struct cohort__slab_stats *ret_stats)
{
    ret_stats->num_chunks = atomic_load_explicit(&num_chunks, memory_order_relaxed);
    ret_stats->num_caches = atomic_load_explicit(&num_caches, memory_order_relaxed);
}
