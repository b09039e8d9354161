/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/idle.h"

#include "collectives/comm/endpoint.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"
#include "runtime/task/scope.h"

/* Something that ends outside of the endpoint's turn. */
struct open {
    struct cohort__waiter waiter; /* of its future */
    struct cohort__item item;
    struct cohort_comm *comm;
};

/* A cohort_comm_idle that waits. If its scope is cancelled, its future is complete at once, and the
 * endpoint finds that out later. */
struct waiter {
    struct cohort__list link; /* in idle_waiters, the oldest first */
    struct cohort__item item;
    cohort_future *future;
    bool is_scoped;
    struct cohort__scope_watch scope;
    atomic_bool is_over;
    _Atomic int users; /* the endpoint, and the scope if there is one */
};

/* Whether the caller is the one to complete the future. */
static bool end(struct waiter *waiter)
{
    return !atomic_exchange(&waiter->is_over, true);
}

static void put(struct waiter *waiter)
{
    if (atomic_fetch_sub_explicit(&waiter->users, 1, memory_order_acq_rel) == 1)
        cohort__slab_free(waiter);
}

static void release(struct cohort__scope_watch *scope)
{
    put(COHORT_CONTAINER_OF(scope, struct waiter, scope));
}

static void cancel(struct cohort__scope_watch *scope)
{
    struct waiter *waiter = COHORT_CONTAINER_OF(scope, struct waiter, scope);
    if (end(waiter))
        cohort__future_fail(waiter->future, COHORT_ERR_CANCELLED,
                            "cohort_comm_idle: its scope was cancelled");
}

/* The endpoint has nothing more to do with WAITER. */
static void forget(struct waiter *waiter)
{
    if (waiter->is_scoped)
        cohort__scope_unwatch(&waiter->scope);
    put(waiter);
}

static void run_over(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    cohort__slab_free(COHORT_CONTAINER_OF(item, struct open, item));
    atomic_fetch_sub(&comm->num_open, 1);
    cohort__endpoint_over(comm);
}

/* The future is complete. The endpoint, which counts it, is there. */
static void notify(struct cohort__waiter *waiter)
{
    struct open *open = COHORT_CONTAINER_OF(waiter, struct open, waiter);
    cohort__endpoint_post(open->comm, &open->item);
}

cohort_future *cohort__endpoint_begin(struct cohort_comm *comm, enum cohort__wait_kind about)
{
    struct open *open = cohort__slab_alloc(sizeof(*open));
    cohort_future *future = open ? cohort__future_create_about(about) : NULL;
    if (!future) {
        cohort__slab_free(open);
        return NULL;
    }
    *open = (struct open){.waiter.notify = notify, .item.run = run_over, .comm = comm};
    atomic_fetch_add(&comm->num_open, 1);
    (void)cohort__future_wait_with(future, &open->waiter); /* it is pending */
    return future;
}

static struct waiter *waiter_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct waiter, link);
}

void cohort__endpoint_when_idle(struct cohort_comm *comm)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&comm->idle_waiters))) {
        struct waiter *waiter = waiter_of(link);
        if (end(waiter))
            cohort__future_fulfil(waiter->future, NULL);
        forget(waiter);
    }
    if (!comm->has_left)
        return;
    if (comm->plans)
        comm->plans_destroy(comm->plans);
    comm->plans = NULL;
    atomic_store(&comm->finished, true);
}

bool cohort__endpoint_is_idle(const struct cohort_comm *comm)
{
    return atomic_load_explicit(&comm->num_in_flight, memory_order_relaxed) == 0 &&
           atomic_load(&comm->num_open) == 0 && cohort__list_is_empty(&comm->waiting) &&
           cohort__channels_are_idle(&comm->channels);
}

static void run_idle(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    struct waiter *waiter = COHORT_CONTAINER_OF(item, struct waiter, item);
    struct cohort__list *waiters = &comm->idle_waiters;
    /* An endpoint that is never idle keeps none that are over. */
    while (!cohort__list_is_empty(waiters) && atomic_load(&waiter_of(waiters->next)->is_over))
        forget(waiter_of(cohort__list_pop_front(waiters)));
    cohort__list_push_back(waiters, &waiter->link);
    if (cohort__endpoint_is_idle(comm))
        cohort__endpoint_when_idle(comm);
}

cohort_future *cohort_comm_idle(cohort_comm *comm)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_comm_idle");
    if (!comm)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER,
                                      "cohort_comm_idle: no communicator");
    if (cohort__fork_is_child())
        return cohort__fork_refused("cohort_comm_idle");
    struct waiter *waiter = cohort__slab_alloc(sizeof(*waiter));
    cohort_future *future = waiter ? cohort__future_create() : NULL;
    if (!future) {
        cohort__slab_free(waiter);
        return cohort__future_no_memory();
    }
    cohort_scope *scope = cohort__scope_current();
    waiter->item.run = run_idle;
    waiter->future = future;
    waiter->is_scoped = scope != NULL;
    atomic_init(&waiter->is_over, false);
    atomic_init(&waiter->users, scope ? 2 : 1);
    if (scope) {
        waiter->scope.cancel = cancel;
        waiter->scope.release = release;
        cohort__scope_watch(scope, &waiter->scope);
    }
    cohort__endpoint_post(comm, &waiter->item);
    return future;
}
