/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/plan_cache.h"

#include <stdlib.h>
#include <string.h>

/* More than the different calls of one loop, few enough to be looked through one by one, which is
 * how they are found. Not measured. */
enum { ENTRIES = 32 };

struct cohort__plan_cache {
    struct cohort__plan_memo memo;
    struct cohort__plan_entry *entries[ENTRIES];
    uint32_t next; /* the entry to be replaced next */
    uint32_t last; /* the entry that was found last, which is tried first */
    void *scratch;
    size_t scratch_bytes;
};

cohort_status cohort__plan_cache_create(struct cohort__plan_cache **ret_cache)
{
    struct cohort__plan_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a cache of plans");
    *ret_cache = cache;
    return COHORT_OK;
}

void cohort__plan_cache_destroy(struct cohort__plan_cache *cache)
{
    if (!cache)
        return;
    for (uint32_t i = 0; i < ENTRIES; i++)
        cohort__plan_entry_unref(cache->entries[i]);
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
    atomic_fetch_add_explicit(&cache->entries[i]->refs, 1, memory_order_relaxed);
    return cache->entries[i];
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
    cache->memo.function = NULL;
    cohort__plan_entry_unref(cache->entries[cache->next]);
    cache->entries[cache->next] = entry;
    cache->last = cache->next;
    cache->next = (cache->next + 1) % ENTRIES;
    *ret_entry = entry;
    return COHORT_OK;
}
