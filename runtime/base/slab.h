/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_SLAB_H
#define COHORT_RUNTIME_BASE_SLAB_H

#include <stddef.h>

/* Memory for small objects that live for a short time. Each thread allocates from its own cache and
 * frees into it without locks or atomics. An object that another thread frees goes back to the
 * cache that it came from, through a lock-free list. A thread that ends leaves its cache to the
 * next one that starts. Chunks are never given back to the system. malloc is used instead for
 * objects above COHORT__SLAB_MAX_BYTES, when the system gives no chunk, and always in builds with
 * the address sanitizer. */
enum { COHORT__SLAB_MAX_BYTES = 2048 };

/* At least BYTES bytes, aligned to 16, not cleared. NULL if there is no memory (no message is set).
 * Any thread. */
void *cohort__slab_alloc(size_t bytes) __attribute__((malloc, warn_unused_result));

/* The same, cleared. */
void *cohort__slab_alloc_zero(size_t bytes) __attribute__((malloc, warn_unused_result));

/* Any thread. NULL is fine. */
void cohort__slab_free(void *object);

/* From now on all objects come from malloc, so that COHORT_FAULT can let each of them fail. To be
 * called by the first thread, before others allocate. */
void cohort__slab_use_malloc(void);

/* For tests and statistics. */
struct cohort__slab_stats {
    size_t num_chunks; /* mapped from the system since the start */
    size_t num_caches; /* created since the start */
};
void cohort__slab_stats_get(struct cohort__slab_stats *ret_stats);

#endif
