/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/idle.h"

#include "collectives/comm/endpoint_misuse.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"

/* Something that ends outside of the endpoint's turn. */
struct open {
    struct cohort__waiter waiter; /* of its future */
    struct cohort__item item;
    struct cohort_comm *comm;
};

/* A cohort_comm_idle that waits. */
struct cohort__idle_waiter {
    struct cohort__item item;
    struct cohort__idle_waiter *next;
    cohort_future *future;
};

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

void cohort__endpoint_when_idle(struct cohort_comm *comm)
{
    struct cohort__idle_waiter *waiter;
    while ((waiter = comm->idle_waiters)) {
        comm->idle_waiters = waiter->next;
        cohort__future_fulfil(waiter->future, NULL);
        cohort__slab_free(waiter);
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
    struct cohort__idle_waiter *waiter =
        COHORT_CONTAINER_OF(item, struct cohort__idle_waiter, item);
    struct cohort__idle_waiter **end = &comm->idle_waiters;
    while (*end)
        end = &(*end)->next;
    *end = waiter;
    if (cohort__endpoint_is_idle(comm))
        cohort__endpoint_when_idle(comm);
}

cohort_future *cohort_comm_idle(cohort_comm *comm)
{
    cohort__endpoint_check(comm, "cohort_comm_idle");
    if (!comm)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER,
                                      "cohort_comm_idle: no communicator");
    if (cohort__fork_is_child())
        return cohort__fork_refused("cohort_comm_idle");
    struct cohort__idle_waiter *waiter = cohort__slab_alloc(sizeof(*waiter));
    cohort_future *future = waiter ? cohort__future_create() : NULL;
    if (!future) {
        cohort__slab_free(waiter);
        return cohort__future_no_memory();
    }
    waiter->item.run = run_idle;
    waiter->next = NULL;
    waiter->future = future;
    cohort__endpoint_post(comm, &waiter->item);
    return future;
}
