/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_PLAN_CACHE_H
#define COHORT_COLLECTIVES_EXEC_PLAN_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collectives/plan/plan.h"

/* The plans that an endpoint has used lately, each with the memory of an execution that has ended:
 * repeating a call builds nothing and allocates nothing. Used by the caller's side, but for the
 * spare executions, which come back from the endpoint's turn. */
struct cohort__plan_cache;
struct cohort__execution;

/* Whatever decides what the plan of this endpoint looks like. No padding: compared as bytes. */
struct cohort__plan_key {
    uint64_t collective;
    uint64_t bytes;
    uint64_t commutative;
};

struct cohort__plan_entry {
    struct cohort__plan_key key;
    struct cohort__plan *plan;
    uint32_t row; /* of the algorithm that was chosen */
    struct cohort__execution *_Atomic spare;
    _Atomic uint32_t refs; /* the cache's and one for each execution */
};

cohort_status cohort__plan_cache_create(struct cohort__plan_cache **ret_cache);
void cohort__plan_cache_destroy(struct cohort__plan_cache *cache); /* NULL is fine */

/* A reference to the entry, or NULL. */
struct cohort__plan_entry *cohort__plan_cache_find(struct cohort__plan_cache *cache,
                                                   const struct cohort__plan_key *key);

/* Adds PLAN, which it takes; the oldest entry may have to go. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__plan_cache_add(struct cohort__plan_cache *cache,
                                     const struct cohort__plan_key *key, struct cohort__plan *plan,
                                     uint32_t row, struct cohort__plan_entry **ret_entry);

void cohort__plan_entry_unref(struct cohort__plan_entry *entry);

#endif
