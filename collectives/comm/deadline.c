/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/deadline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "collectives/comm/operation.h"
#include "collectives/comm/verdict.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/log.h"
#include "runtime/base/slab.h"
#include "runtime/task/scheduler.h"

enum {
    SHARE = 16,
    LEAST_PERIOD = 1000000,
    MOST_PERIOD = 25000000,
    /* When so many calls have come, or as many as there were at the last time, those that have
     * ended are dropped. So their memory has a limit, whatever the period is. */
    MOST_ADDED = 128,
    /* Shorter times are all in one bin. */
    FIRST_BIN_BITS = 20,
    NUM_BINS = 32,
};

struct cohort__deadline {
    struct cohort__deadline *next; /* among those that were added */
    struct cohort__list bin;       /* once it has been seen */
    uint64_t generation;
    uint64_t nanoseconds;
    uint64_t due; /* 0: not seen yet */
    uint64_t look_at;
};

struct cohort__deadlines {
    struct cohort__timer timer;
    struct cohort__item look, prune;
    _Atomic uint32_t refs;    /* one of the endpoint, one of the timer while it runs */
    atomic_bool is_armed;     /* the timer runs, or its look is to come */
    atomic_bool is_pruned;    /* `prune` is posted */
    pthread_mutex_t lock;     /* of `comm` */
    struct cohort_comm *comm; /* NULL: it has left */
    struct cohort__deadline *_Atomic added; /* by the caller; the latest first */
    uint32_t num_added;                     /* the caller's, since the last prune */
    _Atomic uint32_t num_left;              /* by the last prune */

    /* The actor's side. A bin has those for which at least 2^(its number + FIRST_BIN_BITS) ns were
     * left when they came there. So they are to be looked at in the order in which they came, after
     * that time, when each of them is over or goes to a lower bin. */
    struct cohort__list bins[NUM_BINS];
    uint32_t num_seen;
};

static void put(struct cohort__deadlines *deadlines)
{
    if (atomic_fetch_sub_explicit(&deadlines->refs, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&deadlines->lock);
    free(deadlines);
}

static uint64_t period_of(uint64_t nanoseconds)
{
    uint64_t period = nanoseconds / SHARE;
    return period < LEAST_PERIOD ? LEAST_PERIOD : period > MOST_PERIOD ? MOST_PERIOD : period;
}

/* `is_armed` has just been set. */
static void arm(struct cohort__deadlines *deadlines, uint64_t period)
{
    atomic_fetch_add_explicit(&deadlines->refs, 1, memory_order_relaxed);
    if (!cohort__scheduler_timer(&deadlines->timer, cohort__clock_after(period)))
        put(deadlines); /* the job is over */
}

/* By the thread that turns the event loop. An endpoint that has not left has its group. */
static void on_expired(struct cohort__timer *timer)
{
    struct cohort__deadlines *deadlines =
        COHORT_CONTAINER_OF(timer, struct cohort__deadlines, timer);
    pthread_mutex_lock(&deadlines->lock);
    struct cohort_comm *comm = deadlines->comm;
    struct cohort__group *group = comm ? comm->group : NULL;
    if (group)
        cohort__group_ref(group);
    pthread_mutex_unlock(&deadlines->lock);
    if (group)
        cohort__endpoint_post(comm, &deadlines->look);
    cohort__group_unref(group);
    put(deadlines);
}

/* In the endpoint's turn -------------------------------------------------------------------- */

static struct cohort__deadline *deadline_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct cohort__deadline, bin);
}

static uint64_t least_of_bin(uint32_t bin)
{
    return UINT64_C(1) << (bin + FIRST_BIN_BITS);
}

/* Those in the lowest bin are looked at each time. */
static void put_in_bin(struct cohort__deadlines *deadlines, struct cohort__deadline *deadline,
                       uint64_t now)
{
    uint64_t left = deadline->due > now ? deadline->due - now : 0;
    uint32_t bits = 63 - (uint32_t)__builtin_clzll(left | least_of_bin(0));
    uint32_t bin = bits < FIRST_BIN_BITS + NUM_BINS ? bits - FIRST_BIN_BITS : NUM_BINS - 1;
    deadline->look_at = now + (bin > 0 ? least_of_bin(bin) : 1);
    cohort__list_push_back(&deadlines->bins[bin], &deadline->bin);
}

/* The call has been called, if perhaps not in a turn yet, and has not ended. */
static bool is_open(struct cohort_comm *comm, uint64_t generation)
{
    const struct cohort__operation *waiting = cohort__endpoint_first_waiting(comm);
    return !comm->has_left &&
           (cohort__endpoint_find(comm, generation) || generation > comm->history.last ||
            (waiting && generation >= waiting->generation));
}

static void take_added(struct cohort__deadlines *deadlines, struct cohort_comm *comm, uint64_t now)
{
    struct cohort__deadline *next;
    for (struct cohort__deadline *added = atomic_exchange(&deadlines->added, NULL); added;
         added = next) {
        next = added->next;
        if (!is_open(comm, added->generation)) {
            cohort__slab_free(added);
            continue;
        }
        if (added->due == 0)
            added->due = cohort__clock_after(added->nanoseconds);
        put_in_bin(deadlines, added, now);
        deadlines->num_seen++;
    }
}

static bool drop_if_ended(struct cohort__deadlines *deadlines, struct cohort_comm *comm,
                          struct cohort__deadline *deadline)
{
    if (is_open(comm, deadline->generation))
        return false;
    cohort__list_remove(&deadline->bin);
    cohort__slab_free(deadline);
    deadlines->num_seen--;
    return true;
}

/* The call of DEADLINE has not ended. Asks again later, as a verdict may leave it as it is. */
static void ask_if_due(const struct cohort_comm *comm, struct cohort__deadline *deadline,
                       uint64_t now)
{
    const struct cohort__plea plea = {
        .kind = COHORT__PLEA_DEADLINE,
        .site = comm->this_site,
        .nanoseconds = deadline->nanoseconds,
    };
    if (now < deadline->due)
        return;
    deadline->due = cohort__clock_after(deadline->nanoseconds + MOST_PERIOD);
    if (cohort__verdict_ask(comm->group, deadline->generation, &plea))
        cohort__log(COHORT__LOG_WARN, "the deadline of a call is over, but: %s",
                    cohort_error_message());
}

/* Looks at those whose time has come, and drops those in front of them that have ended. */
static void look_at_bin(struct cohort__deadlines *deadlines, struct cohort_comm *comm,
                        const struct cohort__list *bin, uint64_t now)
{
    while (!cohort__list_is_empty(bin)) {
        struct cohort__deadline *deadline = deadline_of(bin->next);
        if (drop_if_ended(deadlines, comm, deadline))
            continue;
        if (deadline->look_at > now)
            return;
        ask_if_due(comm, deadline, now);
        cohort__list_remove(&deadline->bin);
        put_in_bin(deadlines, deadline, now);
    }
}

/* What is left at least of the time of the next one, UINT64_MAX if there is none. */
static uint64_t look_through(struct cohort__deadlines *deadlines, struct cohort_comm *comm)
{
    uint64_t now = cohort__clock_now(), shortest = UINT64_MAX;
    take_added(deadlines, comm, now);
    for (uint32_t bin = NUM_BINS; bin-- > 0;) {
        look_at_bin(deadlines, comm, &deadlines->bins[bin], now);
        if (!cohort__list_is_empty(&deadlines->bins[bin]))
            shortest = least_of_bin(bin);
    }
    return shortest;
}

/* A call that came while the bins were looked through has seen the timer as armed. */
static void run_look(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    struct cohort__deadlines *deadlines = COHORT_CONTAINER_OF(item, struct cohort__deadlines, look);
    uint64_t shortest = look_through(deadlines, comm);
    if (shortest != UINT64_MAX) {
        arm(deadlines, period_of(shortest));
        return;
    }
    atomic_store(&deadlines->is_armed, false);
    if (atomic_load(&deadlines->added) && !atomic_exchange(&deadlines->is_armed, true))
        arm(deadlines, LEAST_PERIOD);
}

static void run_prune(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort__deadlines *deadlines =
        COHORT_CONTAINER_OF(item, struct cohort__deadlines, prune);
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    struct cohort__list *link, *next;
    atomic_store(&deadlines->is_pruned, false);
    take_added(deadlines, comm, cohort__clock_now());
    for (uint32_t bin = 0; bin < NUM_BINS; bin++)
        for (link = deadlines->bins[bin].next; link != &deadlines->bins[bin]; link = next) {
            next = link->next;
            (void)drop_if_ended(deadlines, comm, deadline_of(link));
        }
    atomic_store_explicit(&deadlines->num_left, deadlines->num_seen, memory_order_relaxed);
}

/* By the caller ------------------------------------------------------------------------------ */

static struct cohort__deadlines *create(struct cohort_comm *comm)
{
    struct cohort__deadlines *deadlines = calloc(1, sizeof(*deadlines));
    if (!deadlines)
        return NULL;
    deadlines->timer.expired = on_expired;
    deadlines->look.run = run_look;
    deadlines->prune.run = run_prune;
    for (uint32_t bin = 0; bin < NUM_BINS; bin++)
        cohort__list_init(&deadlines->bins[bin]);
    atomic_init(&deadlines->refs, 1);
    pthread_mutex_init(&deadlines->lock, NULL);
    deadlines->comm = comm;
    atomic_store(&comm->deadlines, deadlines);
    return deadlines;
}

static void add(struct cohort__deadlines *deadlines, struct cohort__deadline *deadline)
{
    struct cohort__deadline *latest = atomic_load_explicit(&deadlines->added, memory_order_relaxed);
    do
        deadline->next = latest;
    while (!atomic_compare_exchange_weak(&deadlines->added, &latest, deadline));
}

cohort_status cohort__deadline_prepare(struct cohort_comm *comm, uint64_t generation,
                                       uint64_t nanoseconds, struct cohort__deadline **ret_deadline)
{
    struct cohort__deadlines *deadlines = atomic_load(&comm->deadlines);
    struct cohort__deadline *deadline = cohort__slab_alloc(sizeof(*deadline));
    if (!deadlines)
        deadlines = create(comm);
    if (!deadlines || !deadline) {
        cohort__slab_free(deadline);
        return COHORT_ERR_NO_MEMORY;
    }
    deadline->generation = generation;
    deadline->nanoseconds = nanoseconds;
    deadline->due = atomic_load(&deadlines->is_armed) ? 0 : cohort__clock_after(nanoseconds);
    *ret_deadline = deadline;
    return COHORT_OK;
}

void cohort__deadline_add(struct cohort_comm *comm, struct cohort__deadline *deadline)
{
    struct cohort__deadlines *deadlines = atomic_load(&comm->deadlines);
    const uint64_t nanoseconds = deadline->nanoseconds;
    add(deadlines, deadline);
    if (!atomic_load(&deadlines->is_armed) && !atomic_exchange(&deadlines->is_armed, true))
        arm(deadlines, nanoseconds < LEAST_PERIOD ? nanoseconds : period_of(nanoseconds));
    uint32_t num_left = atomic_load_explicit(&deadlines->num_left, memory_order_relaxed);
    if (++deadlines->num_added < MOST_ADDED || deadlines->num_added < num_left ||
        atomic_exchange(&deadlines->is_pruned, true))
        return;
    deadlines->num_added = 0;
    cohort__endpoint_post(comm, &deadlines->prune);
}

/* Life --------------------------------------------------------------------------------------- */

void cohort__deadlines_leave(struct cohort_comm *comm)
{
    struct cohort__deadlines *deadlines = atomic_load(&comm->deadlines);
    if (!deadlines)
        return;
    pthread_mutex_lock(&deadlines->lock);
    deadlines->comm = NULL;
    pthread_mutex_unlock(&deadlines->lock);
}

void cohort__deadlines_destroy(struct cohort_comm *comm)
{
    struct cohort__deadlines *deadlines = atomic_load(&comm->deadlines);
    if (!deadlines)
        return;
    struct cohort__list *link;
    struct cohort__deadline *next;
    for (struct cohort__deadline *added = atomic_load(&deadlines->added); added; added = next) {
        next = added->next;
        cohort__slab_free(added);
    }
    for (uint32_t bin = 0; bin < NUM_BINS; bin++)
        while ((link = cohort__list_pop_front(&deadlines->bins[bin])))
            cohort__slab_free(deadline_of(link));
    put(deadlines);
}
