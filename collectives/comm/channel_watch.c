/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/channel_watch.h"

#include "collectives/comm/channel_count.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/scope.h"

/* Who is first says what happens: the scope, whose item then runs, or the owner. */
enum state {
    WATCHING,
    CANCELLED, /* the item is posted, or will be at once */
    OVER,      /* nothing will be posted */
};

struct cohort__channel_watch {
    struct cohort__scope_watch scope;
    struct cohort__item item;
    struct cohort_comm *comm;
    void (*cancel)(void *owner);
    void *owner; /* NULL: it is over. In the turn */
    bool is_told;
    _Atomic int state;
    _Atomic int users; /* `scope`, and the owner or the item, whichever is over last */
};

static void put(struct cohort__channel_watch *watch)
{
    if (atomic_fetch_sub_explicit(&watch->users, 1, memory_order_acq_rel) == 1)
        cohort__slab_free(watch);
}

static void release(struct cohort__scope_watch *scope)
{
    put(COHORT_CONTAINER_OF(scope, struct cohort__channel_watch, scope));
}

static void on_cancel(struct cohort__scope_watch *scope)
{
    struct cohort__channel_watch *watch =
        COHORT_CONTAINER_OF(scope, struct cohort__channel_watch, scope);
    int expected = WATCHING;
    if (atomic_compare_exchange_strong(&watch->state, &expected, CANCELLED))
        cohort__endpoint_post(watch->comm, &watch->item);
}

static void run(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort__channel_watch *watch =
        COHORT_CONTAINER_OF(item, struct cohort__channel_watch, item);
    watch->is_told = true;
    if (watch->owner) {
        watch->cancel(watch->owner);
        return; /* the owner may be over now, and WATCH freed */
    }
    put(watch);
    cohort__channels_over(cohort__endpoint_of(actor));
}

bool cohort__channel_watch_create(struct cohort_comm *comm, void (*cancel)(void *owner),
                                  void *owner, struct cohort__channel_watch **ret_watch)
{
    *ret_watch = NULL;
    if (!cohort__scope_current())
        return true;
    struct cohort__channel_watch *watch = cohort__slab_alloc(sizeof(*watch));
    if (!watch)
        return false;
    watch->scope.cancel = on_cancel;
    watch->scope.release = release;
    watch->item.run = run;
    watch->comm = comm;
    watch->cancel = cancel;
    watch->owner = owner;
    watch->is_told = false;
    atomic_init(&watch->state, WATCHING);
    atomic_init(&watch->users, 2);
    *ret_watch = watch;
    return true;
}

void cohort__channel_watch_start(struct cohort__channel_watch *watch)
{
    if (watch)
        cohort__scope_watch(cohort__scope_current(), &watch->scope);
}

void cohort__channel_watch_over(struct cohort__channel_watch *watch, struct cohort_comm *comm)
{
    bool is_awaited = false;
    if (watch) {
        int before = atomic_exchange(&watch->state, OVER);
        is_awaited = before == CANCELLED && !watch->is_told;
        watch->owner = NULL;
        cohort__scope_unwatch(&watch->scope);
        if (!is_awaited)
            put(watch);
    }
    if (!is_awaited)
        cohort__channels_over(comm);
}
