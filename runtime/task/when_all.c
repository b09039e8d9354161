/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/future.h"

struct when_all;
struct member {
    struct cohort__waiter waiter;
    struct when_all *all;
    cohort_future *future;
};
struct when_all {
    cohort_future *result;
    _Atomic size_t num_pending; /* plus one until all waiters are registered */
    size_t count;
    struct member members[];
};

/* All futures are complete, and nobody else uses ALL any more. */
static void complete(struct when_all *all)
{
    struct cohort__error error = {0};
    for (size_t i = 0; i < all->count; i++) {
        cohort_future *future = all->members[i].future;
        if (error.status == COHORT_OK && cohort__future_status(future) != COHORT_OK)
            cohort__future_error(future, &error);
        cohort_future_unref(future);
    }
    cohort_future *result = all->result;
    cohort__slab_free(all);
    cohort__future_complete(result, error.status, &error);
    cohort__error_fini(&error);
}

static void arrive(struct when_all *all)
{
    if (atomic_fetch_sub_explicit(&all->num_pending, 1, memory_order_acq_rel) == 1)
        complete(all);
}

static void notify(struct cohort__waiter *waiter)
{
    arrive(COHORT_CONTAINER_OF(waiter, struct member, waiter)->all);
}

static struct when_all *create(cohort_future *const *futures, size_t count)
{
    struct when_all *all = NULL;
    if (count < SIZE_MAX / 2 / sizeof(struct member))
        all = cohort__slab_alloc(sizeof(*all) + count * sizeof(struct member));
    if (!all)
        return NULL;
    all->result = cohort__future_create();
    if (!all->result) {
        cohort__slab_free(all);
        return NULL;
    }
    atomic_init(&all->num_pending, count + 1);
    all->count = count;
    for (size_t i = 0; i < count; i++)
        all->members[i] = (struct member){
            .waiter = {.notify = notify, .is_holder = true}, .all = all, .future = futures[i]};
    return all;
}

cohort_future *cohort_when_all(cohort_future *const *futures, size_t count)
{
    if (count == 0)
        return cohort_future_of_value(NULL);
    cohort_future *refused = cohort__futures_check(futures, count, "cohort_when_all");
    if (refused)
        return refused;
    struct when_all *all = create(futures, count);
    if (!all) {
        cohort__futures_unref(futures, count);
        return cohort__future_no_memory();
    }
    cohort_future *result = all->result;
    for (size_t i = 0; i < count; i++)
        if (!cohort__future_wait_with(futures[i], &all->members[i].waiter))
            arrive(all);
    arrive(all);
    return result;
}
