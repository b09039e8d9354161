/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/plan_cache.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/comm/commons.h"

/* More than the different calls of one loop, few enough to be looked through one by one, which is
 * how they are found. Not measured. */
enum { ENTRIES = 32 };

struct cohort__plan_cache {
    struct cohort__plan_memo memo;
    struct cohort__plan_entry *entries[ENTRIES];
    uint32_t hand; /* the entry that is looked at next if one has to go */
    uint32_t last; /* the entry that was found last, which is tried first */
    struct cohort__plan_memory *memory;
    _Atomic uint32_t num; /* of entries, and what they keep; written by the caller's side only */
    _Atomic size_t bytes;
    void *scratch;
    size_t scratch_bytes;
};

cohort_status cohort__plan_cache_create(struct cohort__plan_cache **ret_cache,
                                        struct cohort__plan_memory *memory)
{
    struct cohort__plan_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a cache of plans");
    cache->memory = memory;
    atomic_fetch_add(&memory->num_caches, 1);
    *ret_cache = cache;
    return COHORT_OK;
}

static void count(struct cohort__plan_cache *cache, struct cohort__plan_entry *entry, size_t bytes)
{
    entry->bytes += bytes;
    atomic_store_explicit(&cache->bytes, cache->bytes + bytes, memory_order_relaxed);
    atomic_fetch_add(&cache->memory->bytes, bytes);
}

/* The place is free then. */
static void drop(struct cohort__plan_cache *cache, uint32_t place)
{
    struct cohort__plan_entry *entry = cache->entries[place];
    if (!entry)
        return;
    count(cache, entry, -entry->bytes);
    atomic_store_explicit(&cache->num, cache->num - 1, memory_order_relaxed);
    cache->entries[place] = NULL;
    cache->memo.function = NULL;
    cohort__plan_entry_unref(entry);
}

void cohort__plan_cache_destroy(struct cohort__plan_cache *cache)
{
    if (!cache)
        return;
    for (uint32_t i = 0; i < ENTRIES; i++)
        drop(cache, i);
    atomic_fetch_sub(&cache->memory->num_caches, 1);
    free(cache->scratch);
    free(cache);
}

void cohort__plan_entry_ref(struct cohort__plan_entry *entry)
{
    atomic_fetch_add_explicit(&entry->refs, 1, memory_order_relaxed);
}

struct cohort__plan_memo *cohort__plan_cache_memo(struct cohort__plan_cache *cache)
{
    return &cache->memo;
}

void cohort__plan_entry_unref(struct cohort__plan_entry *entry)
{
    if (!entry || atomic_fetch_sub_explicit(&entry->refs, 1, memory_order_acq_rel) != 1)
        return;
    free(atomic_load(&entry->spare)); /* one block, which holds nothing else */
    free(atomic_load(&entry->spare_staging));
    cohort__plan_unref(entry->plan);
    free(entry);
}

void *cohort__plan_cache_scratch(struct cohort__plan_cache *cache, size_t bytes)
{
    if (bytes > cache->scratch_bytes) {
        void *scratch = realloc(cache->scratch, bytes);
        if (!scratch) {
            cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for describing the blocks of a call");
            return NULL;
        }
        cache->scratch = scratch;
        cache->scratch_bytes = bytes;
    }
    return cache->scratch;
}

static bool matches(const struct cohort__plan_entry *entry, const struct cohort__plan_key *key,
                    const void *tail)
{
    return entry && memcmp(&entry->key, key, sizeof(*key)) == 0 &&
           (key->tail_bytes == 0 || memcmp(entry->tail, tail, key->tail_bytes) == 0);
}

struct cohort__plan_entry *cohort__plan_cache_find(struct cohort__plan_cache *cache,
                                                   const struct cohort__plan_key *key,
                                                   const void *tail)
{
    uint32_t i = cache->last;
    if (!matches(cache->entries[i], key, tail))
        for (i = 0; i < ENTRIES && !matches(cache->entries[i], key, tail);)
            i++;
    if (i == ENTRIES)
        return NULL;
    cache->last = i;
    cache->entries[i]->is_used = true;
    atomic_fetch_add_explicit(&cache->entries[i]->refs, 1, memory_order_relaxed);
    return cache->entries[i];
}

/* The entry that has to go if one other than KEPT has to: the next one that has not been used since
 * the hand has passed it. ENTRIES: there is no other. */
static uint32_t find_victim(struct cohort__plan_cache *cache, const struct cohort__plan_entry *kept)
{
    for (uint32_t i = 0; i < 2 * ENTRIES; i++) {
        const uint32_t place = cache->hand;
        struct cohort__plan_entry *entry = cache->entries[place];
        cache->hand = (place + 1) % ENTRIES;
        if (!entry || entry == kept)
            continue;
        if (!entry->is_used)
            return place;
        entry->is_used = false;
    }
    return ENTRIES;
}

static uint32_t place_for(struct cohort__plan_cache *cache)
{
    for (uint32_t place = 0; place < ENTRIES; place++)
        if (!cache->entries[place])
            return place;
    return find_victim(cache, NULL);
}

/* The others in the locality keep so much that this endpoint has to look at its part. */
static bool has_too_much(const struct cohort__plan_cache *cache)
{
    const struct cohort__plan_memory *memory = cache->memory;
    const size_t part = COHORT__PLANS_MOST / atomic_load(&memory->num_caches);
    return atomic_load(&memory->bytes) > COHORT__PLANS_MOST && cache->bytes > part &&
           cache->bytes > COHORT__PLANS_LEAST;
}

void cohort__plan_cache_charge(struct cohort__plan_cache *cache, struct cohort__plan_entry *entry,
                               size_t bytes)
{
    uint32_t victim;
    count(cache, entry, bytes);
    while (has_too_much(cache) && (victim = find_victim(cache, entry)) < ENTRIES)
        drop(cache, victim);
}

void cohort__plan_cache_charge_staging(struct cohort__plan_cache *cache,
                                       struct cohort__plan_entry *entry, size_t bytes)
{
    if (bytes <= entry->staging_bytes)
        return;
    const size_t more = bytes - entry->staging_bytes;
    entry->staging_bytes = bytes;
    cohort__plan_cache_charge(cache, entry, more);
}

void cohort__plan_cache_look(const struct cohort__plan_cache *cache, uint32_t *ret_num,
                             size_t *ret_bytes)
{
    *ret_num = atomic_load_explicit(&cache->num, memory_order_relaxed);
    *ret_bytes = atomic_load_explicit(&cache->bytes, memory_order_relaxed);
}

cohort_status cohort__plan_cache_add(struct cohort__plan_cache *cache,
                                     const struct cohort__plan_key *key, const void *tail,
                                     struct cohort__plan *plan, uint32_t row,
                                     struct cohort__plan_entry **ret_entry)
{
    struct cohort__plan_entry *entry = calloc(1, sizeof(*entry) + key->tail_bytes);
    if (!entry) {
        cohort__plan_unref(plan);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for keeping a plan");
    }
    entry->key = *key;
    entry->tail = entry + 1;
    if (key->tail_bytes > 0)
        memcpy(entry + 1, tail, key->tail_bytes);
    entry->plan = plan;
    entry->row = row;
    atomic_init(&entry->refs, 2);
    const uint32_t place = place_for(cache);
    drop(cache, place);
    cache->memo.function = NULL;
    cache->entries[place] = entry;
    cache->last = place;
    atomic_store_explicit(&cache->num, cache->num + 1, memory_order_relaxed);
    cohort__plan_cache_charge(
        cache, entry, sizeof(*entry) + key->tail_bytes + (plan ? cohort__plan_bytes(plan) : 0));
    *ret_entry = entry;
    return COHORT_OK;
}
