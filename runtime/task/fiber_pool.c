/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/fiber_pool.h"

#include "runtime/base/clock.h"

/* To give a stack back takes about 2 us, and to take it again two, so that a program that needs
 * many every now and then loses little. */
enum { UNUSED_NANOSECONDS = 1000000000 };

/* Finds out how many stacks were here all the time since the last look. */
static void look(struct cohort__fiber_pool *pool)
{
    uint64_t now = cohort__clock_ticks();
    if (now < pool->look_at)
        return;
    if (pool->look_at > 0)
        pool->num_surplus = pool->least > pool->num_kept ? pool->least - pool->num_kept : 0;
    pool->least = pool->num;
    pool->look_at = now + cohort__clock_ticks_of(UNUSED_NANOSECONDS);
}

bool cohort__fiber_pool_has_surplus(const struct cohort__fiber_pool *pool)
{
    return pool->num > pool->num_kept;
}

bool cohort__fiber_pool_must_trim(const struct cohort__fiber_pool *pool)
{
    return cohort__fiber_pool_has_surplus(pool) &&
           (pool->num_surplus > 0 || cohort__clock_ticks() >= pool->look_at);
}

void cohort__fiber_pool_trim(struct cohort__fiber_pool *pool, size_t most)
{
    look(pool);
    for (; most > 0 && pool->num_surplus > 0 && cohort__fiber_pool_has_surplus(pool); most--) {
        cohort__fiber_destroy(cohort__fiber_pool_take(pool));
        pool->num_surplus--;
    }
}

void cohort__fiber_pool_fini(struct cohort__fiber_pool *pool)
{
    while (pool->first)
        cohort__fiber_destroy(cohort__fiber_pool_take(pool));
}
