/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/scoped_calls.h"

#include "collectives/comm/operation.h"
#include "collectives/comm/verdict.h"
#include "runtime/base/container.h"
#include "runtime/base/log.h"
#include "runtime/base/slab.h"
#include "runtime/task/scope.h"

/* So many runs that are new, or as many as there were at the last time, let the endpoint drop those
 * that have ended. */
enum { MOST_ADDED = 64 };

struct cohort__scoped_run {
    struct cohort__scope_watch watch;
    struct cohort__item item;
    struct cohort__list link; /* in the endpoint's list, under the group's lock */
    const cohort_scope *scope;
    uint64_t first;
    _Atomic uint64_t last;    /* the caller's */
    _Atomic uint32_t refs;    /* one until the watch is released, one while the item is posted */
    pthread_mutex_t lock;     /* of `comm` */
    struct cohort_comm *comm; /* NULL: it is dropped */
};

static void put(struct cohort__scoped_run *run)
{
    if (atomic_fetch_sub_explicit(&run->refs, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&run->lock);
    cohort__slab_free(run);
}

static void on_release(struct cohort__scope_watch *watch)
{
    put(COHORT_CONTAINER_OF(watch, struct cohort__scoped_run, watch));
}

/* Any thread. An endpoint that has not left has its group. */
static void on_cancel(struct cohort__scope_watch *watch)
{
    struct cohort__scoped_run *run = COHORT_CONTAINER_OF(watch, struct cohort__scoped_run, watch);
    pthread_mutex_lock(&run->lock);
    struct cohort_comm *comm = run->comm;
    struct cohort__group *group = comm ? comm->group : NULL;
    if (group) {
        cohort__group_ref(group);
        atomic_fetch_add(&run->refs, 1);
    }
    pthread_mutex_unlock(&run->lock);
    if (!group)
        return;
    cohort__endpoint_post(comm, &run->item);
    cohort__group_unref(group);
}

/* In the endpoint's turn -------------------------------------------------------------------- */

/* The first generation from GENERATION on, of a run that ends with LAST, whose call is in flight or
 * waits. Beyond LAST: there is none. Those that wait are the latest ones, and a run leaves none
 * out. */
static uint64_t next_open(const struct cohort_comm *comm, uint64_t generation, uint64_t last)
{
    const struct cohort__operation *waiting = cohort__endpoint_first_waiting(comm);
    uint64_t next = waiting ? waiting->generation : last + 1;
    if (next < generation)
        next = generation;
    for (uint32_t i = 0; i < COHORT__WINDOW && next > generation; i++) {
        const struct cohort__operation *operation = comm->window[i].in_flight;
        if (operation && operation->generation >= generation && operation->generation < next)
            next = operation->generation;
    }
    return next;
}

/* A call may not have come to the endpoint's turn yet. */
static bool is_over(const struct cohort_comm *comm, const struct cohort__scoped_run *run)
{
    const uint64_t last = atomic_load(&run->last);
    return last <= comm->history.last && next_open(comm, run->first, last) > last;
}

/* Any thread that is sure that the group exists. Without memory for it, the next tick asks. */
static void ask(struct cohort_comm *comm, uint64_t generation)
{
    const struct cohort__plea plea = {.kind = COHORT__PLEA_SCOPE, .site = comm->this_site};
    if (!cohort__verdict_ask(comm->group, generation, &plea))
        return;
    cohort__log(COHORT__LOG_WARN, "a scope is cancelled, but: %s", cohort_error_message());
    atomic_store(&comm->asks_again, true);
}

/* RUN's scope is cancelled. */
static void ask_all(struct cohort_comm *comm, const struct cohort__scoped_run *run)
{
    const uint64_t last = atomic_load(&run->last);
    for (uint64_t generation = run->first; (generation = next_open(comm, generation, last)) <= last;
         generation++)
        ask(comm, generation);
}

static void run_cancelled(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort__scoped_run *run = COHORT_CONTAINER_OF(item, struct cohort__scoped_run, item);
    atomic_thread_fence(memory_order_seq_cst); /* see cohort__scoped_calls_add */
    ask_all(cohort__endpoint_of(actor), run);
    put(run);
}

static struct cohort__scoped_run *next_run(const struct cohort_comm *comm,
                                           const struct cohort__list *after)
{
    pthread_mutex_lock(&comm->group->lock);
    struct cohort__list *link = after->next;
    pthread_mutex_unlock(&comm->group->lock);
    return link == &comm->scoped ? NULL
                                 : COHORT_CONTAINER_OF(link, struct cohort__scoped_run, link);
}

/* Runs are taken out of the list in the endpoint's turn only. */
void cohort__scoped_calls_tick(struct cohort_comm *comm)
{
    struct cohort__list *after = &comm->scoped;
    if (!atomic_load_explicit(&comm->asks_again, memory_order_relaxed))
        return;
    atomic_store(&comm->asks_again, false);
    for (struct cohort__scoped_run *run; (run = next_run(comm, after)); after = &run->link)
        if (cohort_future_ready(run->watch.cancelled))
            ask_all(comm, run);
}

/* RUN is not in the list any more. */
static void drop(struct cohort__scoped_run *run)
{
    pthread_mutex_lock(&run->lock);
    run->comm = NULL;
    pthread_mutex_unlock(&run->lock);
    cohort__scope_unwatch(&run->watch);
}

/* Drops those that have ended, but not the latest one, which the caller may go on with; or all. */
static void drop_ended(struct cohort_comm *comm, bool all)
{
    struct cohort__list dropped, *link, *next;
    uint32_t num_left = 0;
    cohort__list_init(&dropped);
    pthread_mutex_lock(&comm->group->lock);
    for (link = comm->scoped.next; link != &comm->scoped; link = next) {
        struct cohort__scoped_run *run = COHORT_CONTAINER_OF(link, struct cohort__scoped_run, link);
        next = link->next;
        if (!all && (next == &comm->scoped || !is_over(comm, run))) {
            num_left++;
            continue;
        }
        cohort__list_remove(link);
        cohort__list_push_back(&dropped, link);
    }
    pthread_mutex_unlock(&comm->group->lock);
    atomic_store_explicit(&comm->num_scoped_left, num_left, memory_order_relaxed);
    while ((link = cohort__list_pop_front(&dropped)))
        drop(COHORT_CONTAINER_OF(link, struct cohort__scoped_run, link));
}

static void run_prune(struct cohort__actor *actor, struct cohort__item *item)
{
    (void)item;
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    atomic_store(&comm->scoped_prune.is_posted, false);
    drop_ended(comm, false);
}

void cohort__scoped_calls_leave(struct cohort_comm *comm)
{
    drop_ended(comm, true);
}

/* By the caller ------------------------------------------------------------------------------ */

void cohort__scoped_calls_init(struct cohort_comm *comm)
{
    cohort__list_init(&comm->scoped);
    comm->scoped_prune.item.run = run_prune;
}

static struct cohort__scoped_run *create(struct cohort_comm *comm, uint64_t generation)
{
    struct cohort__scoped_run *run = cohort__slab_alloc(sizeof(*run));
    if (!run)
        return NULL;
    *run = (struct cohort__scoped_run){
        .watch = {.cancel = on_cancel, .release = on_release},
        .item.run = run_cancelled,
        .scope = cohort__scope_current(),
        .first = generation,
        .comm = comm,
    };
    atomic_init(&run->last, generation);
    atomic_init(&run->refs, 1);
    pthread_mutex_init(&run->lock, NULL);
    return run;
}

/* A scope that has ended may be another one at the same place by now, so a run goes on only where
 * its scope has neither ended nor is cancelled. */
static bool goes_on(const struct cohort__scoped_run *run, uint64_t generation)
{
    return run && run->scope == cohort__scope_current() &&
           atomic_load_explicit(&run->last, memory_order_relaxed) + 1 == generation &&
           !cohort_future_ready(run->watch.cancelled);
}

cohort_status cohort__scoped_calls_prepare(struct cohort_comm *comm, uint64_t generation,
                                           struct cohort__scoped_run **ret_run)
{
    struct cohort__scoped_run *run = NULL;
    if (!goes_on(comm->latest_scoped, generation) && !(run = create(comm, generation)))
        return COHORT_ERR_NO_MEMORY;
    *ret_run = run;
    return COHORT_OK;
}

void cohort__scoped_calls_add(struct cohort_comm *comm, struct cohort__scoped_run *run,
                              uint64_t generation)
{
    if (!run) {
        run = comm->latest_scoped;
        atomic_store(&run->last, generation);
        atomic_thread_fence(memory_order_seq_cst);
        if (cohort_future_ready(run->watch.cancelled))
            ask(comm, generation); /* whoever has cancelled it may not have seen this call */
        return;
    }
    comm->latest_scoped = run;
    cohort__scope_watch(cohort__scope_current(), &run->watch);
    pthread_mutex_lock(&comm->group->lock);
    cohort__list_push_back(&comm->scoped, &run->link);
    pthread_mutex_unlock(&comm->group->lock);
    uint32_t num_left = atomic_load_explicit(&comm->num_scoped_left, memory_order_relaxed);
    if (++comm->num_scoped < MOST_ADDED || comm->num_scoped < num_left ||
        atomic_exchange(&comm->scoped_prune.is_posted, true))
        return;
    comm->num_scoped = 0;
    cohort__endpoint_post(comm, &comm->scoped_prune.item);
}
