/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/join.h"

#include <stdint.h>

#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/inputs.h"

/* Whether this was the last one. */
static bool arrive(struct cohort__join *join)
{
    return atomic_fetch_sub_explicit(&join->num_pending, 1, memory_order_acq_rel) == 1;
}

static struct cohort__join *join_of(struct cohort__waiter *waiter)
{
    return COHORT_CONTAINER_OF(waiter, struct cohort__join_member, waiter)->join;
}

static void follow(struct cohort__waiter *waiter)
{
    struct cohort__join *join = join_of(waiter);
    join->complete(join);
}

static void notify(struct cohort__waiter *waiter)
{
    if (arrive(join_of(waiter)))
        cohort__waiter_follow(waiter, follow);
}

struct cohort__join *cohort__join_create(cohort_future *const *futures, size_t count,
                                         bool is_forgetful)
{
    struct cohort__join *join = NULL;
    if (count < SIZE_MAX / 2 / sizeof(struct cohort__join_member))
        join = cohort__slab_alloc(sizeof(*join) + count * sizeof(struct cohort__join_member));
    if (!join)
        return NULL;
    atomic_init(&join->num_pending, count + 1);
    atomic_init(&join->users, is_forgetful ? 2 : 1);
    cohort__inputs_init(&join->inputs);
    join->num_seen_done = 0;
    join->count = count;
    for (size_t i = 0; i < count; i++)
        join->members[i] =
            (struct cohort__join_member){.waiter = {.notify = notify, .is_holder = !is_forgetful},
                                         .join = join,
                                         .future = futures[i]};
    return join;
}

static void describe(struct cohort__inputs *inputs, uint64_t since)
{
    struct cohort__join *join = COHORT_CONTAINER_OF(inputs, struct cohort__join, inputs);
    const size_t num = atomic_load_explicit(&join->num_pending, memory_order_relaxed);
    struct cohort__inputs_line line = {.since = since, .num = num, .wanted = num};
    cohort__inputs_set_of(&line, join->owner);
    cohort__inputs_add_pending(&line, &join->members[0].future, sizeof(join->members[0]),
                               join->count, &join->num_seen_done);
    cohort__inputs_tell(&line);
}

void cohort__join_start(struct cohort__join *join, const char *function, const void *caller)
{
    for (size_t i = 0; i < join->count; i++)
        if (!cohort__future_hold_with(join->members[i].future, &join->members[i].waiter, function,
                                      caller))
            (void)arrive(join);
    if (atomic_load_explicit(&join->num_pending, memory_order_relaxed) > 1)
        cohort__inputs_begin(&join->inputs, describe);
    if (arrive(join))
        join->complete(join);
}

const cohort_future *cohort__join_failed(const struct cohort__join *join)
{
    for (size_t i = 0; i < join->count; i++)
        if (cohort__future_status(join->members[i].future) != COHORT_OK)
            return join->members[i].future;
    return NULL;
}

void cohort__join_over(struct cohort__join *join)
{
    if (atomic_load_explicit(&join->users, memory_order_acquire) == 1 ||
        atomic_fetch_sub_explicit(&join->users, 1, memory_order_acq_rel) == 1)
        cohort__slab_free(join);
}

void cohort__join_destroy(struct cohort__join *join)
{
    for (size_t i = 0; i < join->count; i++)
        cohort_future_unref(join->members[i].future);
    cohort__join_over(join);
}

void cohort__join_give_up(struct cohort__join *join)
{
    for (size_t i = 0; i < join->count; i++)
        if (!cohort__future_is_complete(join->members[i].future))
            cohort__future_forget(join->members[i].future, &join->members[i].waiter);
    cohort__join_destroy(join);
}

/* The owner of the join is the future that cohort_when_all has returned. */
static void complete(struct cohort__join *join)
{
    struct cohort__error error = {0};
    cohort_future *result = join->owner;
    cohort__inputs_end(&join->inputs);
    const cohort_future *failed = cohort__join_failed(join);
    if (failed)
        cohort__future_error(failed, &error);
    cohort__join_destroy(join);
    cohort__future_complete(result, error.status, &error);
    cohort__error_fini(&error);
}

cohort_future *cohort_when_all(cohort_future *const *futures, size_t count)
{
    if (count == 0)
        return cohort_future_of_value(NULL);
    const char *name = "cohort_when_all";
    const void *caller = __builtin_return_address(0);
    cohort_future *refused = cohort__futures_check(futures, count, name, caller);
    if (refused)
        return refused;
    cohort_future *result = cohort__future_create_about(COHORT__WAIT_SEVERAL);
    struct cohort__join *join = result ? cohort__join_create(futures, count, false) : NULL;
    if (!join) {
        cohort_future_unref(result); /* the completer's reference */
        cohort_future_unref(result);
        cohort__futures_unref(futures, count);
        return cohort__future_no_memory();
    }
    join->complete = complete;
    join->owner = result;
    cohort__join_start(join, name, caller);
    return result;
}
