/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/slab.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "runtime/base/random.h"
#include "runtime/base/sanitizer.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"

enum { NUM_OBJECTS = 5000 };

static size_t num_chunks(void)
{
    struct cohort__slab_stats stats;
    cohort__slab_stats_get(&stats);
    return stats.num_chunks;
}

static size_t num_caches(void)
{
    struct cohort__slab_stats stats;
    cohort__slab_stats_get(&stats);
    return stats.num_caches;
}

TEST(sizes_are_usable_and_apart)
{
    unsigned char *objects[200];
    for (size_t size = 0; size < 5000; size = size * 5 / 4 + 1) {
        for (int i = 0; i < 200; i++) {
            objects[i] = cohort__slab_alloc(size);
            CHECK(objects[i] && (uintptr_t)objects[i] % 16 == 0);
            memset(objects[i], i, size);
        }
        for (int i = 0; i < 200; i++) {
            for (size_t byte = 0; byte < size; byte++)
                CHECK_INT(objects[i][byte], i);
            cohort__slab_free(objects[i]);
        }
    }
    cohort__slab_free(NULL);
}

TEST(zeroed)
{
    unsigned char *object = cohort__slab_alloc(100);
    memset(object, 0xff, 100);
    cohort__slab_free(object);
    object = cohort__slab_alloc_zero(100);
    for (int i = 0; i < 100; i++)
        CHECK_INT(object[i], 0);
    cohort__slab_free(object);
}

TEST(absurd_sizes)
{
    volatile size_t absurd = SIZE_MAX - 10;
    if (!COHORT__ASAN && !COHORT__TSAN) /* these sanitizers end the program on such a request */
        CHECK(!cohort__slab_alloc(absurd));
}

TEST(memory_is_used_again)
{
    static void *objects[NUM_OBJECTS];
    size_t before = 0;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < NUM_OBJECTS; i++)
            objects[i] = cohort__slab_alloc(64);
        for (int i = 0; i < NUM_OBJECTS; i++)
            cohort__slab_free(objects[i]);
        if (round == 0)
            before = num_chunks();
    }
    CHECK_INT(num_chunks(), before);
    CHECK(COHORT__ASAN || before > 0);
}

static void *free_all(void *objects)
{
    for (int i = 0; i < NUM_OBJECTS; i++)
        cohort__slab_free(((void **)objects)[i]);
    return NULL;
}

TEST(freed_elsewhere_comes_home)
{
    static void *objects[NUM_OBJECTS];
    size_t before = 0;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < NUM_OBJECTS; i++) {
            objects[i] = cohort__slab_alloc(200);
            memset(objects[i], round, 200);
        }
        pthread_t thread = new_thread(free_all, objects);
        end_thread(thread);
        if (round == 0)
            before = num_chunks();
    }
    CHECK_INT(num_chunks(), before);
}

static void *use_a_little(void *arg)
{
    void *object = cohort__slab_alloc(1000);
    memset(object, 1, 1000);
    cohort__slab_free(object);
    return arg;
}

TEST(caches_are_handed_on)
{
    size_t after_first = 0;
    size_t chunks = 0;
    for (int i = 0; i < 20; i++) {
        pthread_t thread = new_thread(use_a_little, NULL);
        end_thread(thread);
        if (i == 0) {
            after_first = num_caches();
            chunks = num_chunks();
        }
    }
    CHECK_INT(num_caches(), after_first);
    CHECK_INT(num_chunks(), chunks);
}

enum { NUM_THREADS = 4, NUM_SLOTS = 512, NUM_STEPS = 100000 };
static void *_Atomic slots[NUM_SLOTS];

/* Puts objects into slots that all threads share, and frees the objects that were there. */
static void *exchange_objects(void *seed)
{
    struct cohort__random random = cohort__random_seeded((uintptr_t)seed);
    for (int i = 0; i < NUM_STEPS; i++) {
        size_t size = 16 + cohort__random_below(&random, 300);
        unsigned char *object = cohort__slab_alloc(size);
        size_t slot = cohort__random_below(&random, NUM_SLOTS);
        memset(object, (int)size, size);
        memcpy(object, &size, sizeof(size));
        object = __atomic_exchange_n((void **)&slots[slot], object, __ATOMIC_ACQ_REL);
        if (!object)
            continue;
        memcpy(&size, object, sizeof(size));
        for (size_t byte = sizeof(size); byte < size; byte++)
            CHECK_INT(object[byte], (unsigned char)size);
        cohort__slab_free(object);
    }
    return NULL;
}

TEST(threads_exchange_objects)
{
    pthread_t threads[NUM_THREADS];
    for (uintptr_t i = 0; i < NUM_THREADS; i++)
        threads[i] = new_thread(exchange_objects, (void *)(i + 1));
    for (int i = 0; i < NUM_THREADS; i++)
        end_thread(threads[i]);
    for (int i = 0; i < NUM_SLOTS; i++)
        cohort__slab_free(slots[i]);
}

enum { LIMITED_BYTES = 512 };

/* The system gives no more memory, but malloc has some that was freed before. */
TEST(no_chunk)
{
    static void *objects[NUM_OBJECTS], *kept[NUM_OBJECTS];
    struct rlimit before, none = {0};
    if (COHORT__ASAN || COHORT__TSAN)
        return; /* the sanitizers need memory of their own */
    for (int i = 0; i < NUM_OBJECTS; i++)
        CHECK(kept[i] = malloc(2 * LIMITED_BYTES));
    CHECK_INT(getrlimit(RLIMIT_AS, &before), 0);
    none.rlim_max = before.rlim_max;
    CHECK_INT(setrlimit(RLIMIT_AS, &none), 0);
    for (int i = 0; i < NUM_OBJECTS - 1; i++) /* the last one keeps the heap from shrinking */
        free(kept[i]);
    size_t chunks = num_chunks();
    for (int i = 0; i < NUM_OBJECTS; i++) {
        objects[i] = cohort__slab_alloc(LIMITED_BYTES);
        CHECK(objects[i] && (uintptr_t)objects[i] % 16 == 0);
        memset(objects[i], i, LIMITED_BYTES);
    }
    CHECK_INT(setrlimit(RLIMIT_AS, &before), 0);
    CHECK(num_chunks() - chunks < NUM_OBJECTS * LIMITED_BYTES / (64 << 10));
    for (int i = 0; i < NUM_OBJECTS; i++)
        cohort__slab_free(objects[i]);
    free(kept[NUM_OBJECTS - 1]);
}
