/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/future.h"

/* The first future that completes wins. After that, and once all waiters are registered, the other
 * futures forget their waiters. Otherwise they would pile up in a future that takes part in one
 * when_any after another. Each registered waiter holds a reference to this object, which is given
 * back when the waiter is notified. One more reference is held until forget_all is through. */

struct when_any;
struct member {
    struct cohort__waiter waiter;
    struct when_any *any;
    cohort_future *future;
};
enum { REGISTERED = 1, WON = 2 };
struct when_any {
    cohort_future *result;
    size_t *ret_index;
    _Atomic size_t refs;
    atomic_uint progress; /* REGISTERED and WON: the second one to be set calls forget_all */
    atomic_bool is_won;
    size_t count;
    size_t num_registered;
    struct member members[];
};

static void unref(struct when_any *any)
{
    if (atomic_fetch_sub_explicit(&any->refs, 1, memory_order_acq_rel) == 1)
        cohort__slab_free(any);
}

/* From now on, a notification finds the race decided, and does not look at its future. */
static void forget_all(struct when_any *any)
{
    for (size_t i = 0; i < any->count; i++) {
        if (i < any->num_registered && !cohort_future_ready(any->members[i].future))
            cohort__future_forget(any->members[i].future, &any->members[i].waiter);
        cohort_future_unref(any->members[i].future);
    }
    unref(any);
}

static void advance(struct when_any *any, unsigned step)
{
    if (atomic_fetch_or(&any->progress, step) != 0)
        forget_all(any);
}

/* MEMBER's future is complete. */
static void finish(struct member *member)
{
    struct when_any *any = member->any;
    if (atomic_exchange(&any->is_won, true))
        return;
    if (any->ret_index)
        *any->ret_index = (size_t)(member - any->members);
    struct cohort__error error = {0};
    cohort_future *winner = member->future;
    if (cohort__future_status(winner) == COHORT_OK) {
        cohort__future_fulfil(any->result, cohort__future_value(winner));
    } else {
        cohort__future_error(winner, &error);
        cohort__future_complete(any->result, error.status, &error);
        cohort__error_fini(&error);
    }
    advance(any, WON);
}

static void notify(struct cohort__waiter *waiter)
{
    struct member *member = COHORT_CONTAINER_OF(waiter, struct member, waiter);
    struct when_any *any = member->any;
    finish(member);
    unref(any);
}

static struct when_any *create(cohort_future *const *futures, size_t count, size_t *ret_index)
{
    struct when_any *any = NULL;
    if (count < SIZE_MAX / 2 / sizeof(struct member))
        any = cohort__slab_alloc(sizeof(*any) + count * sizeof(struct member));
    if (!any)
        return NULL;
    any->result = cohort__future_create();
    if (!any->result) {
        cohort__slab_free(any);
        return NULL;
    }
    any->ret_index = ret_index;
    atomic_init(&any->refs, 2); /* one until forget_all, one while registering */
    atomic_init(&any->progress, 0);
    atomic_init(&any->is_won, false);
    any->count = count;
    any->num_registered = 0;
    for (size_t i = 0; i < count; i++)
        any->members[i] =
            (struct member){.waiter = {.notify = notify}, .any = any, .future = futures[i]};
    return any;
}

static void register_all(struct when_any *any)
{
    for (size_t i = 0; i < any->count && !atomic_load(&any->is_won); i++) {
        atomic_fetch_add_explicit(&any->refs, 1, memory_order_relaxed);
        if (!cohort__future_wait_with(any->members[i].future, &any->members[i].waiter)) {
            finish(&any->members[i]);
            unref(any);
            break;
        }
        any->num_registered++;
    }
    advance(any, REGISTERED);
    unref(any);
}

cohort_future *cohort_when_any(cohort_future *const *futures, size_t count, size_t *ret_index)
{
    if (count == 0)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "cohort_when_any: no futures");
    cohort_future *refused = cohort__futures_check(futures, count, "cohort_when_any");
    if (refused)
        return refused;
    struct when_any *any = create(futures, count, ret_index);
    if (!any) {
        cohort__futures_unref(futures, count);
        return cohort__future_no_memory();
    }
    cohort_future *result = any->result;
    register_all(any);
    return result;
}
