/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/join.h"

#include <stdint.h>

#include "runtime/base/container.h"
#include "runtime/base/slab.h"

static void arrive(struct cohort__join *join)
{
    if (atomic_fetch_sub_explicit(&join->num_pending, 1, memory_order_acq_rel) == 1)
        join->complete(join);
}

static void notify(struct cohort__waiter *waiter)
{
    arrive(COHORT_CONTAINER_OF(waiter, struct cohort__join_member, waiter)->join);
}

struct cohort__join *cohort__join_create(cohort_future *const *futures, size_t count)
{
    struct cohort__join *join = NULL;
    if (count < SIZE_MAX / 2 / sizeof(struct cohort__join_member))
        join = cohort__slab_alloc(sizeof(*join) + count * sizeof(struct cohort__join_member));
    if (!join)
        return NULL;
    atomic_init(&join->num_pending, count + 1);
    join->count = count;
    for (size_t i = 0; i < count; i++)
        join->members[i] = (struct cohort__join_member){
            .waiter = {.notify = notify, .is_holder = true}, .join = join, .future = futures[i]};
    return join;
}

void cohort__join_start(struct cohort__join *join, const char *function, const void *caller)
{
    for (size_t i = 0; i < join->count; i++)
        if (!cohort__future_hold_with(join->members[i].future, &join->members[i].waiter, function,
                                      caller))
            arrive(join);
    arrive(join);
}

const cohort_future *cohort__join_failed(const struct cohort__join *join)
{
    for (size_t i = 0; i < join->count; i++)
        if (cohort__future_status(join->members[i].future) != COHORT_OK)
            return join->members[i].future;
    return NULL;
}

void cohort__join_destroy(struct cohort__join *join)
{
    for (size_t i = 0; i < join->count; i++)
        cohort_future_unref(join->members[i].future);
    cohort__slab_free(join);
}
