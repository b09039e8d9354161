/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/endpoint_life.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/channel.h"
#include "collectives/comm/deadline.h"
#include "collectives/comm/early.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/idle.h"
#include "collectives/comm/operation.h"
#include "collectives/comm/scoped_calls.h"
#include "collectives/comm/verdict.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/ledger.h"
#include "runtime/base/trace.h"

/* With 50 sites a call that waits is described at each tick, with 1,000 every 2 s. */
enum { DESCRIBE_SITE_NANOSECONDS = 2000000 };

/* False: there is no more room. One more is counted, so that it is known that there are more. */
static bool add(struct cohort__pending_line *line, const cohort_future *future, uint32_t kind,
                uint64_t number, uint32_t site)
{
    uint32_t num = atomic_load_explicit(&line->num, memory_order_relaxed);
    atomic_store_explicit(&line->num, num + 1, memory_order_relaxed);
    if (num >= COHORT__LEDGER_PENDING_MOST)
        return false;
    struct cohort__pending *pending = &line->of[num];
    atomic_store_explicit(&pending->future, (uintptr_t)future, memory_order_relaxed);
    atomic_store_explicit(&pending->number, number, memory_order_relaxed);
    atomic_store_explicit(&pending->site, site, memory_order_relaxed);
    atomic_store_explicit(&pending->kind, kind, memory_order_relaxed);
    return true;
}

static bool add_get(void *context, const cohort_future *future, uint64_t tag, uint32_t site,
                    bool has_come)
{
    return add(context, future, COHORT__WAIT_GET | (has_come ? COHORT__PENDING_HAS_COME : 0U), tag,
               site);
}

static bool add_set(void *context, const cohort_future *future, uint64_t tag, uint32_t site,
                    bool needs_get)
{
    return add(context, future, COHORT__WAIT_SET | (needs_get ? COHORT__PENDING_NEEDS_ALL : 0U),
               tag, site);
}

/* Blocks with counts of their own may be empty, and then nobody waits for them. */
static bool needs_all(const struct cohort__signature *signature)
{
    return signature->variant == COHORT__VARIANT_EQUAL &&
           !cohort__signature_may_end_alone(signature);
}

/* The generations that may be in flight are those from `oldest` to this one; 0: none is. */
static uint64_t last_in_flight(const struct cohort_comm *comm)
{
    const uint64_t end = comm->oldest + COHORT__WINDOW - 1;
    return comm->oldest == 0 ? 0 : comm->history.last < end ? comm->history.last : end;
}

static bool add_calls(struct cohort__pending_line *line, struct cohort_comm *comm)
{
    const uint64_t last = last_in_flight(comm);
    for (uint64_t generation = comm->oldest; generation <= last; generation++) {
        const struct cohort__operation *operation = cohort__endpoint_find(comm, generation);
        if (operation &&
            !add(line, operation->future,
                 COHORT__WAIT_COLLECTIVE |
                     (needs_all(&operation->signature) ? COHORT__PENDING_NEEDS_ALL : 0U),
                 operation->generation, comm->this_site))
            return false;
    }
    return true;
}

/* NULL: no memory, so nobody sees it. */
static struct cohort__pending_line *line_of(struct cohort_comm *comm)
{
    if (!comm->pending)
        comm->pending = cohort__ledger_take(COHORT__LEDGER_PENDING);
    return comm->pending;
}

/* Writes into the ledger what the endpoint has in flight: its calls, gets and sets. To be
 * called by a tick that finds what the one before has found, too, so calls that end in time never
 * pay for it. STALLED: the generation of a call that has just asked the others, and is described,
 * too; or 0. It is described again with the answers and those who have come since, but the more
 * sites there are to look at, the more rarely. In the endpoint's turn. */
static void pending_line_write(struct cohort_comm *comm, uint64_t stalled, uint64_t now)
{
    const uint64_t pause = comm->group->membership->num_sites * DESCRIBE_SITE_NANOSECONDS;
    struct cohort__pending_line *line = line_of(comm);
    if (!line)
        return;
    atomic_store_explicit(&line->at, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&line->instance, comm->group->membership->instance, memory_order_relaxed);
    atomic_store_explicit(&line->site, comm->this_site, memory_order_relaxed);
    atomic_store_explicit(&line->rank, comm->group->rank, memory_order_relaxed);
    atomic_store_explicit(&line->num, 0, memory_order_relaxed);
    if (add_calls(line, comm) && cohort__channels_each_get(comm, add_get, line))
        (void)cohort__channels_each_set(comm, add_set, line);
    uint64_t described = stalled;
    if (!stalled && now - comm->described_at >= pause)
        described = atomic_load_explicit(&line->described, memory_order_relaxed);
    const struct cohort__operation *operation =
        described ? cohort__endpoint_find(comm, described) : NULL;
    if (operation) {
        comm->described_at = now;
        size_t bytes = operation->handlers->describe(operation, line->text, 0, sizeof(line->text));
        line->text[bytes < sizeof(line->text) ? bytes : sizeof(line->text) - 1] = '\0';
        atomic_store_explicit(&line->described, described, memory_order_relaxed);
    }
    atomic_store_explicit(&line->at, cohort__clock_cycles(), memory_order_release);
}

/* Rare events ------------------------------------------------------------------------------ */

static void post_event(struct cohort_comm *comm, struct cohort__event *event)
{
    if (!atomic_exchange(&event->is_posted, true))
        cohort__endpoint_post(comm, &event->item);
}

/* The event is being handled. From now on it may be posted again. */
static void begin_event(struct cohort__item *item)
{
    atomic_store(&COHORT_CONTAINER_OF(item, struct cohort__event, item)->is_posted, false);
}

/* OPERATION is found waiting. Whether it asks now. */
static bool asks_now(const struct cohort_comm *comm, struct cohort__operation *operation,
                     uint64_t now)
{
    bool is_due = operation->asked_at == 0
                      ? comm->knows_leaver
                      : now - operation->asked_at >= comm->stall_after << operation->backoff;
    if (is_due)
        operation->backoff += operation->backoff < COHORT__MAX_BACKOFF;
    if (is_due || operation->asked_at == 0)
        operation->asked_at = now;
    return is_due;
}

static void run_tick(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    begin_event(item);
    uint64_t now = cohort__clock_now();
    bool is_slow = comm->channels.asked_at > 0 && !cohort__channels_are_idle(&comm->channels);
    const uint64_t last = last_in_flight(comm);
    uint64_t stalled = 0; /* it may end meanwhile */
    for (uint64_t generation = comm->oldest; generation <= last; generation++) {
        struct cohort__operation *operation = cohort__endpoint_find(comm, generation);
        if (!operation || operation->failure.status)
            continue;
        is_slow |= operation->asked_at > 0;
        const bool asks = asks_now(comm, operation, now) && operation->handlers->stalled(operation);
        if (asks && stalled == 0)
            stalled = generation; /* the oldest one: the others may wait for it */
    }
    cohort__channels_tick(comm, now);
    cohort__scoped_calls_tick(comm);
    if (is_slow)
        pending_line_write(comm, stalled, now);
}

bool cohort__endpoint_wants_tick(const struct cohort_comm *comm)
{
    return atomic_load_explicit(&comm->num_in_flight, memory_order_relaxed) > 0 ||
           !cohort__channels_are_idle(&comm->channels);
}

void cohort__endpoint_tick(struct cohort_comm *comm)
{
    post_event(comm, &comm->tick);
}

void cohort__endpoint_site_left(struct cohort_comm *comm)
{
    if (comm->knows_leaver)
        return;
    comm->knows_leaver = true;
    for (uint32_t i = 0; i < COHORT__WINDOW; i++)
        if (comm->window[i].in_flight)
            comm->window[i].in_flight->asked_at = 0;
    cohort__endpoint_tick(comm);
}

static void hear_of_death(struct cohort_comm *comm)
{
    for (uint32_t i = 0; i < COHORT__WINDOW; i++) {
        struct cohort__operation *operation = comm->window[i].in_flight;
        if (operation && !operation->failure.status)
            operation->handlers->peer_died(operation);
    }
    cohort__channels_peer_died(comm);
    cohort__verdicts_release(comm->group, false);
}

void cohort__endpoint_peer_died(struct cohort_comm *comm)
{
    atomic_store(&comm->hears_of_death, true);
    cohort__later_add(comm);
}

static void run_more(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    begin_event(item);
    if (atomic_exchange(&comm->hears_of_death, false))
        hear_of_death(comm);
    else
        cohort__channels_go_on(comm);
    cohort__endpoint_resume_later(comm);
}

static void post_untold(struct cohort_comm *comm, uint64_t generation)
{
    if (atomic_exchange(&comm->untold.is_posted, true))
        return;
    comm->untold_generation = generation;
    cohort__endpoint_post(comm, &comm->untold.item);
}

/* One that was left out while the event was posted comes next, behind the calls before it. */
static void run_untold(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    uint64_t generation = comm->untold_generation, expected = comm->history.last + 1;
    begin_event(item);
    if (generation >= expected) { /* no later one has been called */
        cohort__history_leave_out(&comm->history, generation);
        cohort__early_sweep(comm, expected, generation + 1);
    }
    uint64_t latest = atomic_load(&comm->untold_latest);
    if (latest > generation)
        post_untold(comm, latest);
}

void cohort__endpoint_leave_out(struct cohort_comm *comm, uint64_t generation)
{
    atomic_store(&comm->untold_latest, generation);
    post_untold(comm, generation);
}

static void give_lines_back(struct cohort_comm *comm)
{
    cohort__ledger_give_back(COHORT__LEDGER_SITES, comm->line);
    comm->line = NULL;
    cohort__ledger_give_back(COHORT__LEDGER_PENDING, comm->pending);
    comm->pending = NULL;
}

static void run_leave(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    begin_event(item);
    if (comm->has_left)
        return;
    comm->has_left = true;
    cohort__trace(COHORT__TRACE_LEFT, 0, (uintptr_t)comm, 0, 0);
    give_lines_back(comm);
    comm->actor.home = &comm->group->home;
    atomic_fetch_add(&comm->group->num_left, 1);
    struct cohort__operation *operation = cohort__endpoint_first_waiting(comm);
    comm->gone_from = operation ? operation->generation : comm->history.last + 1;
    while ((operation = cohort__endpoint_first_waiting(comm)))
        cohort__operation_abandon(operation);
    for (uint32_t i = 0; i < COHORT__WINDOW; i++)
        if ((operation = comm->window[i].in_flight))
            cohort__operation_leave(operation);
    cohort__deadlines_leave(comm);
    cohort__scoped_calls_leave(comm);
    cohort__early_sweep(comm, 0, UINT64_MAX);
    cohort__channels_leave(comm);
    for (uint32_t i = 0; i < COHORT__NUM_SUBGROUPS; i++) {
        struct cohort__annex *meetings = atomic_load(&comm->group->meetings[i]);
        if (meetings)
            meetings->left(meetings, comm);
    }
    cohort__registry_leave(cohort__process_registry(comm->group->commons->process),
                           comm->group->membership, comm->this_site);
    if (cohort__endpoint_is_idle(comm))
        cohort__endpoint_when_idle(comm);
}

void cohort__endpoint_leave(struct cohort_comm *comm)
{
    post_event(comm, &comm->leave);
}

/* Life ------------------------------------------------------------------------------------- */

/* NULL: no memory. */
static struct cohort__site_line *take_line(const struct cohort__group *group, uint32_t site)
{
    static _Atomic uint32_t num_taken;
    struct cohort__site_line *line = cohort__ledger_take(COHORT__LEDGER_SITES);
    if (!line)
        return NULL;
    uint32_t number = atomic_fetch_add_explicit(&num_taken, 1, memory_order_relaxed);
    atomic_store_explicit(&line->number, number % (1 << 20), memory_order_relaxed);
    atomic_store_explicit(&line->site, site, memory_order_relaxed);
    atomic_store_explicit(&line->rank, group->rank, memory_order_relaxed);
    atomic_store_explicit(&line->instance, group->membership->instance, memory_order_release);
    return line;
}

cohort_status cohort__endpoint_create(struct cohort_comm **ret_comm, struct cohort__group *group,
                                      uint32_t site)
{
    struct cohort_comm *comm = aligned_alloc(64, sizeof(*comm));
    struct cohort__site_line *line = comm ? take_line(group, site) : NULL;
    if (!line) {
        free(comm);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "communicator \"%s\": no memory for site %u",
                           group->name, site);
    }
    memset(comm, 0, sizeof(*comm));
    comm->line = line;
    cohort__actor_init(&comm->actor);
    atomic_init(&comm->refs, 1);
    comm->group = group;
    snprintf(comm->name, sizeof(comm->name), "%.63s", group->name);
    comm->this_site = site;
    cohort__list_init(&comm->link);
    cohort__gate_init(&comm->gate);
    cohort__history_init(&comm->history);
    cohort__channels_init(&comm->channels);
    cohort__list_init(&comm->waiting);
    cohort__list_init(&comm->idle_waiters);
    cohort__map_init(&comm->waiting_of);
    cohort__scoped_calls_init(comm);
    cohort__map_init(&comm->early.places);
    comm->tick.item.run = run_tick;
    comm->more.item.run = run_more;
    comm->untold.item.run = run_untold;
    cohort__list_init(&comm->later);
    comm->leave.item.run = run_leave;
    *ret_comm = comm;
    return COHORT_OK;
}

void cohort__endpoint_destroy(struct cohort__actor *actor)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    if (!comm)
        return;
    for (uint32_t i = 0; i < COHORT__FAILURES; i++)
        cohort__error_fini(&comm->failures[i].error);
    if (comm->plans)
        comm->plans_destroy(comm->plans);
    cohort__deadlines_destroy(comm);
    give_lines_back(comm);
    cohort__history_fini(&comm->history);
    cohort__map_fini(&comm->waiting_of);
    cohort__map_fini(&comm->early.places);
    cohort__channels_fini(&comm->channels);
    cohort__endpoint_bury(comm);
}
