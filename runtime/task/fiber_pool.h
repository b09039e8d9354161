/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_FIBER_POOL_H
#define COHORT_RUNTIME_TASK_FIBER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/task/fiber.h"

/* The stacks of a worker that hold only a loop (see worker.h). Those that are not used for a while
 * are given back to the system, but for the first ones. One thread. All zero: empty, and keeps
 * none. */
struct cohort__fiber_pool {
    struct cohort__fiber *first;
    struct cohort__fiber *own; /* the thread's own stack if it is here. It is taken last, since */
                               /* tasks that may move can't run on it */
    size_t num;                /* the others */
    size_t num_kept;           /* so many stay */
    size_t least;              /* fewest since the last look */
    size_t num_surplus; /* that have not been used for a while, and are still to be given back */
    uint64_t look_at;   /* when to look next, in ticks of the clock */
};

/* Gives up to MOST stacks back to the system, if so many have not been used for a while. */
void cohort__fiber_pool_trim(struct cohort__fiber_pool *pool, size_t most);

/* Whether there is something to trim now. */
bool cohort__fiber_pool_must_trim(const struct cohort__fiber_pool *pool);

/* Whether POOL has more stacks than it keeps, so that some may have to be given back later. */
bool cohort__fiber_pool_has_surplus(const struct cohort__fiber_pool *pool);

/* Gives all stacks back, except the thread's own one. */
void cohort__fiber_pool_fini(struct cohort__fiber_pool *pool);

static inline void cohort__fiber_pool_put(struct cohort__fiber_pool *pool,
                                          struct cohort__fiber *fiber)
{
    if (cohort__fiber_is_threads_own(fiber)) {
        pool->own = fiber;
        return;
    }
    fiber->next = pool->first;
    pool->first = fiber;
    pool->num++;
}

/* NULL: it is not here. */
static inline struct cohort__fiber *cohort__fiber_pool_take_own(struct cohort__fiber_pool *pool)
{
    struct cohort__fiber *own = pool->own;
    pool->own = NULL;
    return own;
}

/* NULL: POOL is empty. */
static inline struct cohort__fiber *cohort__fiber_pool_take(struct cohort__fiber_pool *pool)
{
    struct cohort__fiber *fiber = pool->first;
    if (!fiber)
        return cohort__fiber_pool_take_own(pool);
    pool->first = fiber->next;
    if (--pool->num < pool->least)
        pool->least = pool->num;
    return fiber;
}

#endif
