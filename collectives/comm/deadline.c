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
    /* After so many calls the list is looked at, too: those that have ended meanwhile are dropped.
     * So its memory has a limit, whatever the period is. */
    MOST_ADDED = 128,
};

struct deadline {
    struct deadline *next;
    uint64_t generation;
    uint64_t nanoseconds;
    uint64_t due; /* 0: not seen yet */
};

struct cohort__deadlines {
    struct cohort__timer timer;
    struct cohort__item look, prune;
    _Atomic uint32_t refs;          /* one of the endpoint, one of the timer while it runs */
    atomic_bool is_armed;           /* the timer runs, or its look is to come */
    atomic_bool is_pruned;          /* `prune` is posted */
    pthread_mutex_t lock;           /* of `comm` */
    struct cohort_comm *comm;       /* NULL: it has left */
    struct deadline *_Atomic added; /* by the caller; the latest first */
    uint32_t num_added;             /* the caller's */
    struct deadline *seen;          /* the actor's side */
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

/* The call of DEADLINE has not ended. Asks again later, as a verdict may leave it as it is. */
static void look_at(struct cohort_comm *comm, struct deadline *deadline, uint64_t now)
{
    const struct cohort__plea plea = {
        .kind = COHORT__PLEA_DEADLINE,
        .site = comm->this_site,
        .nanoseconds = deadline->nanoseconds,
    };
    if (deadline->due == 0)
        deadline->due = cohort__clock_after(deadline->nanoseconds);
    if (now < deadline->due)
        return;
    deadline->due = cohort__clock_after(deadline->nanoseconds + MOST_PERIOD);
    if (cohort__verdict_ask(comm->group, deadline->generation, &plea))
        cohort__log(COHORT__LOG_WARN, "the deadline of a call is over, but: %s",
                    cohort_error_message());
}

static bool is_open(struct cohort_comm *comm, uint64_t generation)
{
    return cohort__endpoint_find(comm, generation) ||
           cohort__endpoint_find_waiting(comm, generation);
}

/* Drops what has ended. Returns the shortest of the others, UINT64_MAX if there are none. */
static uint64_t look_through(struct cohort__deadlines *deadlines, struct cohort_comm *comm)
{
    uint64_t now = cohort__clock_now(), shortest = UINT64_MAX;
    struct deadline *added = atomic_exchange(&deadlines->added, NULL), **link = &deadlines->seen;
    while (*link)
        link = &(*link)->next;
    *link = added;
    link = &deadlines->seen;
    while (*link) {
        struct deadline *deadline = *link;
        if (comm->has_left || !is_open(comm, deadline->generation)) {
            *link = deadline->next;
            cohort__slab_free(deadline);
            continue;
        }
        look_at(comm, deadline, now);
        if (deadline->nanoseconds < shortest)
            shortest = deadline->nanoseconds;
        link = &deadline->next;
    }
    return shortest;
}

/* A call that came while the list was looked through has seen the timer as armed. */
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
    atomic_store(&deadlines->is_pruned, false);
    (void)look_through(deadlines, cohort__endpoint_of(actor));
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
    atomic_init(&deadlines->refs, 1);
    pthread_mutex_init(&deadlines->lock, NULL);
    deadlines->comm = comm;
    atomic_store(&comm->deadlines, deadlines);
    return deadlines;
}

static void add(struct cohort__deadlines *deadlines, struct deadline *deadline)
{
    struct deadline *latest = atomic_load_explicit(&deadlines->added, memory_order_relaxed);
    do
        deadline->next = latest;
    while (!atomic_compare_exchange_weak(&deadlines->added, &latest, deadline));
}

void cohort__deadline_add(struct cohort_comm *comm, uint64_t generation, uint64_t nanoseconds)
{
    struct cohort__deadlines *deadlines = atomic_load(&comm->deadlines);
    struct deadline *deadline = cohort__slab_alloc(sizeof(*deadline));
    if (!deadlines)
        deadlines = create(comm);
    if (!deadlines || !deadline) {
        cohort__slab_free(deadline);
        cohort__log(COHORT__LOG_WARN,
                    "communicator \"%s\", generation %" PRIu64 ", site %" PRIu32
                    ": no memory for a deadline",
                    comm->group->name, generation, comm->this_site);
        return;
    }
    bool is_armed = atomic_load(&deadlines->is_armed);
    deadline->generation = generation;
    deadline->nanoseconds = nanoseconds;
    deadline->due = is_armed ? 0 : cohort__clock_after(nanoseconds);
    add(deadlines, deadline);
    if (!is_armed && !atomic_exchange(&deadlines->is_armed, true))
        arm(deadlines, nanoseconds < LEAST_PERIOD ? nanoseconds : period_of(nanoseconds));
    if (++deadlines->num_added % MOST_ADDED == 0 && !atomic_exchange(&deadlines->is_pruned, true))
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
    struct deadline *lists[] = {deadlines->seen, atomic_load(&deadlines->added)}, *next;
    for (int i = 0; i < 2; i++)
        for (struct deadline *deadline = lists[i]; deadline; deadline = next) {
            next = deadline->next;
            cohort__slab_free(deadline);
        }
    put(deadlines);
}
