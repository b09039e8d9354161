/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/plan_cache.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/comm/commons.h"
#include "tests/support/test.h"

enum { ENTRIES = 32 }; /* the capacity of a cache */

static struct cohort__plan_memory memory; /* of all caches */

static struct cohort__plan_cache *cache_create(void)
{
    struct cohort__plan_cache *cache = NULL;
    CHECK_OK(cohort__plan_cache_create(&cache, &memory));
    return cache;
}

static void cache_destroy(struct cohort__plan_cache *cache)
{
    cohort__plan_cache_destroy(cache);
    CHECK_INT(memory.bytes, 0);
    CHECK_INT(memory.num_caches, 0);
}

static struct cohort__plan_key key_of(uint64_t number)
{
    return (struct cohort__plan_key){.request = {1, number}, .flags = COHORT__PLAN_RAGGED};
}

/* Adds a plan of NUMBER + 1 sites, so that plans can be told apart. */
static struct cohort__plan_entry *add_key(struct cohort__plan_cache *cache,
                                          const struct cohort__plan_key *key, const void *tail,
                                          uint32_t number)
{
    struct cohort__plan_builder *builder;
    struct cohort__plan *plan;
    struct cohort__plan_entry *entry = NULL;
    CHECK_OK(cohort__plan_builder_create(&builder, "test", number + 1, 0));
    cohort__plan_join(builder, 1);
    CHECK_OK(cohort__plan_finish(builder, &plan));
    CHECK_OK(cohort__plan_cache_add(cache, key, tail, plan, 100 + number, &entry));
    return entry;
}

static struct cohort__plan_entry *add(struct cohort__plan_cache *cache, uint32_t number)
{
    struct cohort__plan_key key = key_of(number);
    return add_key(cache, &key, NULL, number);
}

static struct cohort__plan_entry *find(struct cohort__plan_cache *cache, uint32_t number)
{
    struct cohort__plan_key key = key_of(number);
    return cohort__plan_cache_find(cache, &key, NULL);
}

static void check_found(struct cohort__plan_cache *cache, uint32_t number)
{
    struct cohort__plan_entry *entry = find(cache, number);
    CHECK(entry);
    CHECK_INT(entry->plan->num_sites, number + 1);
    CHECK_INT(entry->row, 100 + number);
    cohort__plan_entry_unref(entry);
}

TEST(hit)
{
    struct cohort__plan_cache *cache = cache_create();
    CHECK(!find(cache, 0));
    for (uint32_t i = 0; i < ENTRIES; i++) {
        cohort__plan_entry_unref(add(cache, i));
        CHECK(!find(cache, i + 1));
    }
    for (uint32_t i = 0; i < ENTRIES; i++) {
        check_found(cache, i);
        check_found(cache, i); /* once more, now as the last one found */
    }
    cache_destroy(cache);
    cohort__plan_cache_destroy(NULL);
}

#define TEST_CACHE(name)                                                                           \
    TEST_WITH(name, struct cohort__plan_cache *, cache, cache_create(), cache_destroy(cache))

/* Every field of the key matters. */
TEST_CACHE(key)
{
    cohort__plan_entry_unref(add(cache, 8));
    enum { NUM = COHORT__PLAN_REQUEST_WORDS + 3 };
    struct cohort__plan_key keys[NUM];
    for (int i = 0; i < NUM; i++) {
        keys[i] = key_of(8);
        if (i < COHORT__PLAN_REQUEST_WORDS)
            keys[i].request[i]++;
    }
    keys[NUM - 3].flags = 0;
    keys[NUM - 2].row++;
    keys[NUM - 1].tail_bytes = 4;
    for (int i = 0; i < NUM; i++)
        CHECK(!cohort__plan_cache_find(cache, &keys[i], "tail"));
    check_found(cache, 8);
}

/* The tail is copied, and compared as a whole. */
TEST_CACHE(tail)
{
    struct cohort__plan_key key = key_of(8);
    char *tail = cohort__plan_cache_scratch(cache, 6);
    CHECK(tail == cohort__plan_cache_scratch(cache, 3)); /* the scratch memory only grows */
    memcpy(tail, "seven", 6);
    key.tail_bytes = 6;
    struct cohort__plan_entry *entry = add_key(cache, &key, tail, 7);
    memcpy(tail, "eight", 6);
    CHECK(!cohort__plan_cache_find(cache, &key, tail));
    CHECK_TEXT(entry->tail, "seven");
    cohort__plan_entry_unref(entry);
    entry = cohort__plan_cache_find(cache, &key, "seven");
    CHECK(entry && entry->row == 107);
    cohort__plan_entry_unref(entry);
}

/* The oldest entry is evicted. An execution that still uses it keeps it. */
TEST_CACHE(eviction)
{
    struct cohort__plan_entry *first = add(cache, 0);
    CHECK_INT(atomic_load(&first->refs), 2);
    for (uint32_t i = 1; i < ENTRIES + 5; i++)
        cohort__plan_entry_unref(add(cache, i));
    for (uint32_t i = 0; i < 5; i++)
        CHECK(!find(cache, i));
    for (uint32_t i = 5; i < ENTRIES + 5; i++)
        check_found(cache, i);
    CHECK_INT(atomic_load(&first->refs), 1);
    CHECK_INT(first->plan->num_sites, 1);
    cohort__plan_entry_unref(first);
}

TEST(outlives_the_cache)
{
    struct cohort__plan_cache *cache = cache_create();
    struct cohort__plan_entry *entry = add(cache, 3);
    struct cohort__plan_entry *again = find(cache, 3);
    CHECK(again == entry);
    CHECK_INT(atomic_load(&entry->refs), 3);
    cache_destroy(cache);
    CHECK_INT(atomic_load(&entry->refs), 2);
    CHECK_INT(entry->plan->num_sites, 4);
    cohort__plan_entry_unref(again);
    cohort__plan_entry_unref(entry);
    cohort__plan_entry_unref(NULL);
}

/* An entry's spare memory is freed with the entry, wherever that happens. The sanitizer detects
 * leaks. */
TEST(spare)
{
    struct cohort__plan_cache *cache = cache_create();
    struct cohort__plan_entry *kept = add(cache, 0);
    for (uint32_t i = 0; i < 2 * ENTRIES; i++) {
        struct cohort__plan_entry *entry = add(cache, i);
        CHECK(atomic_load(&entry->spare) == NULL);
        atomic_store(&entry->spare, malloc(64));
        cohort__plan_entry_unref(entry);
    }
    atomic_store(&kept->spare, malloc(64));
    cache_destroy(cache);
    cohort__plan_entry_unref(kept);
}

/* The memo is empty at first. It keeps its entry as long as entries are only searched. It forgets
 * the entry when another one is added, since that may evict the entry. */
TEST(memo)
{
    struct cohort__plan_cache *cache = cache_create();
    struct cohort__plan_memo *memo = cohort__plan_cache_memo(cache);
    CHECK(!memo->function);
    struct cohort__plan_entry *known = add(cache, 0);
    for (uint32_t i = 1; i < 2 * ENTRIES; i++) {
        *memo = (struct cohort__plan_memo){.function = "call", .q = i, .call.entry = known};
        check_found(cache, i - 1);
        CHECK(!find(cache, i));
        CHECK(cohort__plan_cache_memo(cache) == memo);
        CHECK_TEXT(memo->function, "call");
        CHECK_INT(memo->q, i);
        CHECK(memo->call.entry == known);
        cohort__plan_entry_unref(known); /* the cache's reference is enough */
        known = add(cache, i);
        CHECK(!memo->function);
    }
    cohort__plan_entry_unref(known);
    *memo = (struct cohort__plan_memo){.function = "call", .call.entry = known};
    cache_destroy(cache); /* the memo has no reference to release */
}

enum { MIB = 1 << 20, LARGE = 8 * MIB, NUM_LARGE = COHORT__PLANS_MOST / LARGE };

static void add_large(struct cohort__plan_cache *cache, uint32_t number)
{
    struct cohort__plan_entry *entry = add(cache, number);
    cohort__plan_cache_charge(cache, entry, LARGE);
    cohort__plan_entry_unref(entry);
}

static bool is_there(struct cohort__plan_cache *cache, uint32_t number)
{
    struct cohort__plan_entry *entry = find(cache, number);
    cohort__plan_entry_unref(entry);
    return entry;
}

/* Calls that never come again keep no more than is allowed, and leave alone what comes again. */
TEST_CACHE(bytes)
{
    uint32_t num;
    size_t bytes;
    for (uint32_t i = 0; i < 5 * NUM_LARGE; i++) {
        add_large(cache, i);
        cohort__plan_cache_look(cache, &num, &bytes);
        CHECK_INT(num, i < NUM_LARGE - 1 ? i + 1 : NUM_LARGE - 1);
        CHECK(bytes >= num * (size_t)LARGE && bytes < COHORT__PLANS_MOST);
        CHECK_INT(memory.bytes, bytes);
        CHECK(is_there(cache, 0));
    }
    CHECK(is_there(cache, 5 * NUM_LARGE - 1) && !is_there(cache, 1));
}

/* One that is too large alone is kept, without others. So is a staging, which grows. */
TEST_CACHE(larger_than_all)
{
    cohort__plan_entry_unref(add(cache, 0));
    struct cohort__plan_entry *entry = add(cache, 1);
    cohort__plan_cache_charge_staging(cache, entry, COHORT__PLANS_MOST / 2);
    cohort__plan_cache_charge_staging(cache, entry, LARGE);
    CHECK(is_there(cache, 0) && memory.bytes < COHORT__PLANS_MOST);
    cohort__plan_cache_charge_staging(cache, entry, COHORT__PLANS_MOST);
    cohort__plan_entry_unref(entry);
    CHECK(!is_there(cache, 0) && is_there(cache, 1));
    cohort__plan_entry_unref(add(cache, 2));
    CHECK(!is_there(cache, 1) && is_there(cache, 2));
}

/* An endpoint that comes later gets its part of what is allowed, and the first one goes back to its
 * own. What is small stays in any case. */
TEST(parts)
{
    struct cohort__plan_cache *cache = cache_create(), *other = cache_create();
    uint32_t num;
    size_t bytes;
    for (uint32_t i = 0; i < NUM_LARGE; i++)
        add_large(cache, i);
    for (uint32_t i = 0; i < NUM_LARGE; i++)
        add_large(other, i);
    cohort__plan_cache_look(other, &num, &bytes);
    CHECK_INT(num, NUM_LARGE / 2 - 1);
    add_large(cache, NUM_LARGE);
    cohort__plan_cache_look(cache, &num, &bytes);
    CHECK_INT(num, NUM_LARGE / 2); /* so both together have less than is allowed */
    struct cohort__plan_cache *small = cache_create();
    for (uint32_t i = 0; i < ENTRIES; i++)
        cohort__plan_entry_unref(add(small, i));
    cohort__plan_cache_look(small, &num, &bytes);
    CHECK_INT(num, ENTRIES);
    cohort__plan_cache_destroy(other);
    cohort__plan_cache_destroy(small);
    cache_destroy(cache);
}
