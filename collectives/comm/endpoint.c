/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/endpoint.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectives/comm/fingerprint.h"
#include "collectives/comm/inbox.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/future.h"

/* Running ---------------------------------------------------------------------------------- */

/* The endpoints that this thread has to run. One that becomes ready while another one runs waits
 * here until that one has finished, so endpoints never run nested in one another. */
static __thread struct {
    struct cohort_comm *first;
    struct cohort_comm *last;
    bool is_running;
} ready __attribute__((tls_model("initial-exec")));

static void run(struct cohort_comm *comm)
{
    struct cohort__mpsc_node *node;
    while ((node = cohort__mpsc_take_or_release(&comm->queue)))
        while (node) {
            struct cohort__item *item = COHORT_CONTAINER_OF(node, struct cohort__item, node);
            node = node->next;
            item->run(comm, item);
        }
}

void cohort__endpoint_post(struct cohort_comm *comm, struct cohort__item *item)
{
    if (!cohort__mpsc_push(&comm->queue, &item->node))
        return; /* who runs it will find the item */
    comm->next_ready = NULL;
    if (ready.first)
        ready.last->next_ready = comm;
    else
        ready.first = comm;
    ready.last = comm;
    if (ready.is_running)
        return;
    ready.is_running = true;
    while ((comm = ready.first)) {
        ready.first = comm->next_ready;
        run(comm);
    }
    ready.is_running = false;
}

/* Operations in flight --------------------------------------------------------------------- */

static struct cohort__operation **slot(struct cohort_comm *comm, uint64_t generation)
{
    return &comm->in_flight[generation % COHORT__WINDOW];
}

static struct cohort__operation *find(struct cohort_comm *comm, uint64_t generation)
{
    struct cohort__operation *operation = *slot(comm, generation);
    return operation && operation->generation == generation ? operation : NULL;
}

static struct cohort__operation *first_waiting(const struct cohort_comm *comm)
{
    return cohort__list_is_empty(&comm->waiting)
               ? NULL
               : COHORT_CONTAINER_OF(comm->waiting.next, struct cohort__operation, waiting);
}

static void count_in_flight(struct cohort_comm *comm, int change)
{
    uint32_t num = atomic_load_explicit(&comm->num_in_flight, memory_order_relaxed);
    atomic_store_explicit(&comm->num_in_flight, num + (uint32_t)change, memory_order_relaxed);
}

/* Hands in the early messages for GENERATION, which has just started. */
static void unpark(struct cohort_comm *comm, uint64_t generation)
{
    struct cohort__list *list = &comm->parked[generation % COHORT__WINDOW];
    if (cohort__list_is_empty(list))
        return;
    struct cohort__list mine, *next, *link;
    cohort__list_init(&mine);
    for (link = list->next; link != list; link = next) {
        next = link->next;
        if (COHORT_CONTAINER_OF(link, struct cohort__message, parked)->generation != generation)
            continue;
        cohort__list_remove(link);
        cohort__list_push_back(&mine, link);
    }
    while ((link = cohort__list_pop_front(&mine)))
        cohort__endpoint_receive(comm, COHORT_CONTAINER_OF(link, struct cohort__message, parked));
}

static void start(struct cohort_comm *comm, struct cohort__operation *operation)
{
    uint64_t generation = operation->generation;
    *slot(comm, generation) = operation;
    if (comm->oldest == 0)
        comm->oldest = generation;
    count_in_flight(comm, 1);
    if (operation->rejected.status)
        cohort__operation_fail(operation, &operation->rejected);
    else
        operation->handlers->start(operation);
    /* It may have ended by now; then what was parked is stale. */
    unpark(comm, generation);
}

static bool fits_window(const struct cohort_comm *comm, uint64_t generation)
{
    return comm->oldest == 0 || generation < comm->oldest + COHORT__WINDOW;
}

/* Tells the sources of early messages that this site has left out their generation. */
static void sweep_below(struct cohort_comm *comm, uint64_t generation)
{
    for (uint32_t i = 0; i < COHORT__WINDOW; i++) {
        struct cohort__list *list = &comm->parked[i], *next;
        for (struct cohort__list *link = list->next; link != list; link = next) {
            next = link->next;
            struct cohort__message *message =
                COHORT_CONTAINER_OF(link, struct cohort__message, parked);
            if (message->generation >= generation ||
                !cohort__history_skipped(&comm->history, message->generation))
                continue;
            cohort__list_remove(link);
            cohort__endpoint_receive(comm, message);
        }
    }
}

static void run_call(struct cohort_comm *comm, struct cohort__item *item)
{
    struct cohort__operation *operation = COHORT_CONTAINER_OF(item, struct cohort__operation, call);
    bool skips = operation->generation != comm->history.last + 1;
    cohort__history_call(&comm->history, operation->generation);
    if (skips)
        sweep_below(comm, operation->generation);
    if (cohort__list_is_empty(&comm->waiting) && fits_window(comm, operation->generation))
        start(comm, operation);
    else
        cohort__list_push_back(&comm->waiting, &operation->waiting);
}

void cohort__operation_call(struct cohort__operation *operation)
{
    operation->call.run = run_call;
    cohort__endpoint_post(operation->comm, &operation->call);
}

/* In a turn of its own, since what it starts may end at once. */
static void run_resume(struct cohort_comm *comm, struct cohort__item *item)
{
    (void)item;
    comm->resume_posted = false;
    struct cohort__operation *operation;
    while ((operation = first_waiting(comm)) && fits_window(comm, operation->generation)) {
        cohort__list_remove(&operation->waiting);
        start(comm, operation);
    }
}

static void remember_failure(struct cohort_comm *comm, const struct cohort__operation *operation)
{
    struct cohort__failure *failure = &comm->failures[comm->num_failures++ % COHORT__FAILURES];
    failure->generation = operation->generation;
    cohort__error_copy(&failure->error, &operation->failure);
}

static const struct cohort__error *find_failure(const struct cohort_comm *comm, uint64_t generation)
{
    for (uint32_t i = 0; i < COHORT__FAILURES; i++)
        if (comm->failures[i].generation == generation)
            return &comm->failures[i].error;
    return NULL;
}

static void find_oldest(struct cohort_comm *comm)
{
    uint64_t last = comm->oldest + COHORT__WINDOW;
    comm->oldest = 0;
    if (atomic_load_explicit(&comm->num_in_flight, memory_order_relaxed) == 0)
        return;
    for (uint64_t generation = last - COHORT__WINDOW + 1; generation < last; generation++)
        if (find(comm, generation)) {
            comm->oldest = generation;
            return;
        }
}

/* An idle request of the user's. */
struct idle_waiter {
    struct cohort__item item;
    struct cohort__list link;
    cohort_future *future;
};

static void when_idle(struct cohort_comm *comm)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&comm->idle_waiters))) {
        struct idle_waiter *waiter = COHORT_CONTAINER_OF(link, struct idle_waiter, link);
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

static bool is_idle(const struct cohort_comm *comm)
{
    return atomic_load_explicit(&comm->num_in_flight, memory_order_relaxed) == 0 &&
           cohort__list_is_empty(&comm->waiting);
}

void cohort__operation_ended(struct cohort__operation *operation)
{
    struct cohort_comm *comm = operation->comm;
    cohort_future *future = operation->future;
    struct cohort__error error = operation->failure; /* its text, too */
    if (error.status)
        remember_failure(comm, operation);
    *slot(comm, operation->generation) = NULL;
    count_in_flight(comm, -1);
    if (operation->generation == comm->oldest)
        find_oldest(comm);
    cohort__error_fini(&operation->rejected);
    operation->handlers->release(operation);
    cohort__future_complete(future, error.status, error.status ? &error : NULL);
    cohort__error_fini(&error);
    if (first_waiting(comm) && !comm->resume_posted) {
        comm->resume_posted = true;
        cohort__endpoint_post(comm, &comm->resume);
    }
    if (is_idle(comm))
        when_idle(comm);
}

void cohort__operation_fail(struct cohort__operation *operation, const struct cohort__error *error)
{
    if (operation->failure.status)
        return; /* the first one wins */
    cohort__error_copy(&operation->failure, error);
    operation->handlers->fail(operation);
}

/* Fails OPERATION with a message that begins with what it is. */
static void fail_with(struct cohort__operation *operation, cohort_status status, const char *format,
                      ...) __attribute__((format(printf, 3, 4)));
static void fail_with(struct cohort__operation *operation, cohort_status status, const char *format,
                      ...)
{
    char what[96], why[384];
    struct cohort__error error = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    cohort__fingerprint_describe(operation->fingerprint, what, sizeof(what));
    cohort__error_set(
        &error, status, "communicator \"%.60s\", generation %" PRIu64 ", site %u, %s: %s",
        operation->comm->group->name, operation->generation, operation->comm->this_site, what, why);
    cohort__operation_fail(operation, &error);
    cohort__error_fini(&error);
}

/* Messages --------------------------------------------------------------------------------- */

void cohort__endpoint_answer(struct cohort_comm *comm, uint32_t site, uint64_t generation,
                             enum cohort__answer answer, uint64_t fingerprint,
                             const struct cohort__error *error)
{
    struct cohort__message *message = cohort__message_create(COHORT__KIND_ANSWER, comm->this_site,
                                                             generation, fingerprint, answer);
    if (!message)
        return; /* it will ask again */
    message->last_called = comm->has_left ? comm->gone_from - 1 : comm->history.last;
    if (error)
        cohort__error_copy(&message->error, error);
    cohort__message_send(comm, site, message, 0);
}

/* Both sites get the same words, the lower site first. */
static void fail_mismatch(struct cohort__operation *operation, uint32_t other_site,
                          uint64_t other_fingerprint)
{
    struct cohort_comm *comm = operation->comm;
    char mine[96], theirs[96];
    cohort__fingerprint_describe(operation->fingerprint, mine, sizeof(mine));
    cohort__fingerprint_describe(other_fingerprint, theirs, sizeof(theirs));
    bool first = comm->this_site < other_site;
    struct cohort__error error = {0};
    cohort__error_set(
        &error, COHORT_ERR_MISMATCH,
        "communicator \"%.60s\", generation %" PRIu64 ": site %u called %s, site %u called %s",
        comm->group->name, operation->generation, first ? comm->this_site : other_site,
        first ? mine : theirs, first ? other_site : comm->this_site, first ? theirs : mine);
    cohort__operation_fail(operation, &error);
    cohort__error_fini(&error);
}

/* OPEN: the operation is in flight here. */
static void receive_open(struct cohort__operation *operation, struct cohort__message *message)
{
    struct cohort_comm *comm = operation->comm;
    if (message->kind == COHORT__KIND_ERROR) {
        cohort__operation_fail(operation, &message->error);
        cohort__message_release(message);
    } else if (operation->failure.status) {
        cohort__message_release(message);
    } else if (message->fingerprint != operation->fingerprint) {
        cohort__endpoint_answer(comm, message->source_site, message->generation,
                                COHORT__ANSWER_MISMATCH, operation->fingerprint, NULL);
        fail_mismatch(operation, message->source_site, message->fingerprint);
        cohort__message_release(message);
    } else {
        operation->handlers->message(operation, message);
    }
}

static bool same_step(const struct cohort__message *left, const struct cohort__message *right)
{
    return left->generation == right->generation && left->source_site == right->source_site &&
           left->tag == right->tag;
}

/* EARLY. A failing sender gets back at once what it has lent or announced for the same step. */
static void park(struct cohort_comm *comm, struct cohort__message *message)
{
    struct cohort__list *list = &comm->parked[message->generation % COHORT__WINDOW], *next;
    for (struct cohort__list *link = list->next; link != list; link = next) {
        next = link->next;
        struct cohort__message *other = COHORT_CONTAINER_OF(link, struct cohort__message, parked);
        if (!same_step(other, message))
            continue;
        if (other->kind == COHORT__KIND_ERROR) {
            cohort__message_release(message);
            return;
        }
        cohort__list_remove(link);
        cohort__message_release(other);
    }
    if (message->arrival)
        cohort__arrival_park(message->arrival);
    cohort__list_push_back(list, &message->parked);
}

static bool is_gone(const struct cohort_comm *comm, uint64_t generation)
{
    return comm->has_left && generation >= comm->gone_from;
}

static void receive_step(struct cohort_comm *comm, struct cohort__message *message)
{
    uint64_t generation = message->generation;
    struct cohort__operation *operation = find(comm, generation);
    const struct cohort__operation *waiting = first_waiting(comm);
    bool skipped =
        generation <= comm->history.last && cohort__history_skipped(&comm->history, generation);
    if (operation) {
        receive_open(operation, message);
    } else if (skipped || is_gone(comm, generation)) {
        cohort__endpoint_answer(comm, message->source_site, generation,
                                skipped ? COHORT__ANSWER_MOVED_PAST : COHORT__ANSWER_GONE, 0, NULL);
        cohort__message_release(message);
    } else if (generation > comm->history.last || (waiting && generation >= waiting->generation)) {
        park(comm, message);
    } else {
        cohort__message_release(message); /* STALE: completed or failed here */
    }
}

static void answer_ask(struct cohort_comm *comm, const struct cohort__message *message)
{
    uint64_t generation = message->generation;
    struct cohort__operation *operation = find(comm, generation);
    const struct cohort__operation *waiting = first_waiting(comm);
    enum cohort__answer answer = COHORT__ANSWER_COMPLETED;
    uint64_t fingerprint = operation ? operation->fingerprint : 0;
    const struct cohort__error *error = find_failure(comm, generation);
    if (operation && operation->failure.status) {
        answer = COHORT__ANSWER_FAILED;
        error = &operation->failure;
    } else if (operation && fingerprint != message->fingerprint) {
        answer = COHORT__ANSWER_MISMATCH;
    } else if (is_gone(comm, generation)) {
        answer = COHORT__ANSWER_GONE;
    } else if (operation ||
               (waiting && generation >= waiting->generation && generation <= comm->history.last)) {
        answer = COHORT__ANSWER_IN_FLIGHT;
    } else if (generation > comm->history.last) {
        answer = COHORT__ANSWER_NOT_CALLED;
    } else if (error) {
        answer = COHORT__ANSWER_FAILED;
    } else if (cohort__history_skipped(&comm->history, generation)) {
        answer = COHORT__ANSWER_MOVED_PAST;
    }
    cohort__endpoint_answer(comm, message->source_site, generation, answer, fingerprint,
                            answer == COHORT__ANSWER_FAILED ? error : NULL);
    if (answer == COHORT__ANSWER_MISMATCH)
        fail_mismatch(operation, message->source_site, message->fingerprint);
}

static void take_answer(struct cohort_comm *comm, const struct cohort__message *message)
{
    struct cohort__operation *operation = find(comm, message->generation);
    uint32_t site = message->source_site;
    if (!operation)
        return;
    switch ((enum cohort__answer)message->tag) {
    case COHORT__ANSWER_NOT_CALLED:
    case COHORT__ANSWER_IN_FLIGHT:
    case COHORT__ANSWER_COMPLETED:
        operation->handlers->answer(operation, site, (enum cohort__answer)message->tag);
        break;
    case COHORT__ANSWER_MOVED_PAST:
        fail_with(operation, COHORT_ERR_MOVED_PAST,
                  "site %u (locality %u) has left out this generation; its last is %" PRIu64, site,
                  comm->group->membership->locality_of[site], message->last_called);
        break;
    case COHORT__ANSWER_GONE:
        fail_with(operation, COHORT_ERR_GONE,
                  "site %u (locality %u) has left the communicator after generation %" PRIu64, site,
                  comm->group->membership->locality_of[site], message->last_called);
        break;
    case COHORT__ANSWER_FAILED:
        cohort__operation_fail(operation, &message->error);
        break;
    case COHORT__ANSWER_MISMATCH:
        if (message->fingerprint != operation->fingerprint)
            fail_mismatch(operation, site, message->fingerprint);
        break;
    default:
        break;
    }
}

void cohort__endpoint_receive(struct cohort_comm *comm, struct cohort__message *message)
{
    if (message->kind == COHORT__KIND_ASK) {
        answer_ask(comm, message);
        cohort__message_release(message);
    } else if (message->kind == COHORT__KIND_ANSWER) {
        take_answer(comm, message);
        cohort__message_release(message);
    } else {
        receive_step(comm, message);
    }
}

/* Rare events ------------------------------------------------------------------------------ */

static void run_tick(struct cohort_comm *comm, struct cohort__item *item)
{
    (void)item;
    atomic_store(&comm->tick_posted, false);
    uint64_t now = cohort__clock_now();
    for (uint32_t i = 0; i < COHORT__WINDOW; i++) {
        struct cohort__operation *operation = comm->in_flight[i];
        if (!operation || operation->failure.status)
            continue;
        if (operation->asked_at == 0) {
            operation->asked_at = now;
        } else if (now - operation->asked_at >= comm->stall_after) {
            operation->asked_at = now;
            operation->handlers->stalled(operation);
        }
    }
}

void cohort__endpoint_tick(struct cohort_comm *comm)
{
    if (atomic_load_explicit(&comm->num_in_flight, memory_order_relaxed) > 0 &&
        !atomic_exchange(&comm->tick_posted, true))
        cohort__endpoint_post(comm, &comm->tick);
}

static void run_peer_died(struct cohort_comm *comm, struct cohort__item *item)
{
    cohort__slab_free(item);
    for (uint32_t i = 0; i < COHORT__WINDOW; i++) {
        struct cohort__operation *operation = comm->in_flight[i];
        if (operation && !operation->failure.status)
            operation->handlers->peer_died(operation);
    }
}

static void post_event(struct cohort_comm *comm,
                       void (*run_event)(struct cohort_comm *, struct cohort__item *))
{
    struct cohort__item *item = cohort__slab_alloc(sizeof(*item));
    if (!item)
        return;
    item->run = run_event;
    cohort__endpoint_post(comm, item);
}

void cohort__endpoint_peer_died(struct cohort_comm *comm)
{
    post_event(comm, run_peer_died);
}

static void release_parked(struct cohort_comm *comm)
{
    struct cohort__list *link;
    for (uint32_t i = 0; i < COHORT__WINDOW; i++)
        while ((link = cohort__list_pop_front(&comm->parked[i])))
            cohort__endpoint_receive(comm,
                                     COHORT_CONTAINER_OF(link, struct cohort__message, parked));
}

/* Ends OPERATION, which has not started. */
static void abandon(struct cohort__operation *operation)
{
    cohort_future *future = operation->future;
    cohort__list_remove(&operation->waiting);
    struct cohort__error error = {0};
    cohort__error_set(&error, COHORT_ERR_CANCELLED,
                      "communicator \"%.60s\", generation %" PRIu64
                      ": site %u has left the communicator before it could start",
                      operation->comm->group->name, operation->generation,
                      operation->comm->this_site);
    cohort__error_fini(&operation->rejected);
    operation->handlers->release(operation);
    cohort__future_complete(future, error.status, &error);
    cohort__error_fini(&error);
}

static void run_leave(struct cohort_comm *comm, struct cohort__item *item)
{
    cohort__slab_free(item);
    if (comm->has_left)
        return;
    comm->has_left = true;
    struct cohort__operation *operation = first_waiting(comm);
    comm->gone_from = operation ? operation->generation : comm->history.last + 1;
    while ((operation = first_waiting(comm)))
        abandon(operation);
    for (uint32_t i = 0; i < COHORT__WINDOW; i++)
        if ((operation = comm->in_flight[i]))
            fail_with(operation, COHORT_ERR_CANCELLED,
                      "this site has left the communicator meanwhile");
    release_parked(comm);
    cohort__registry_leave(cohort__process_registry(cohort__inbox_process(comm->group->inbox)),
                           comm->group->name, comm->group->membership->instance, comm->this_site);
    if (is_idle(comm))
        when_idle(comm);
}

void cohort__endpoint_leave(struct cohort_comm *comm)
{
    post_event(comm, run_leave);
}

static void run_idle(struct cohort_comm *comm, struct cohort__item *item)
{
    struct idle_waiter *waiter = COHORT_CONTAINER_OF(item, struct idle_waiter, item);
    cohort__list_push_back(&comm->idle_waiters, &waiter->link);
    if (is_idle(comm))
        when_idle(comm);
}

cohort_future *cohort_comm_idle(cohort_comm *comm)
{
    if (!comm)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER,
                                      "cohort_comm_idle: no communicator");
    struct idle_waiter *waiter = cohort__slab_alloc(sizeof(*waiter));
    cohort_future *future = waiter ? cohort__future_create() : NULL;
    if (!future) {
        cohort__slab_free(waiter);
        return cohort__future_no_memory();
    }
    waiter->item.run = run_idle;
    cohort__list_init(&waiter->link);
    waiter->future = future;
    cohort__endpoint_post(comm, &waiter->item);
    return future;
}

/* Life ------------------------------------------------------------------------------------- */

cohort_status cohort__endpoint_create(struct cohort_comm **ret_comm, struct cohort__group *group,
                                      uint32_t site)
{
    struct cohort_comm *comm = calloc(1, sizeof(*comm));
    if (!comm)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "communicator \"%s\": no memory for site %u",
                           group->name, site);
    cohort__mpsc_init(&comm->queue);
    comm->group = group;
    comm->this_site = site;
    cohort__list_init(&comm->link);
    cohort__gate_init(&comm->gate);
    cohort__history_init(&comm->history);
    cohort__list_init(&comm->waiting);
    cohort__list_init(&comm->idle_waiters);
    for (uint32_t i = 0; i < COHORT__WINDOW; i++)
        cohort__list_init(&comm->parked[i]);
    comm->tick.run = run_tick;
    comm->resume.run = run_resume;
    *ret_comm = comm;
    return COHORT_OK;
}

void cohort__endpoint_destroy(struct cohort_comm *comm)
{
    if (!comm)
        return;
    for (uint32_t i = 0; i < COHORT__FAILURES; i++)
        cohort__error_fini(&comm->failures[i].error);
    if (comm->plans)
        comm->plans_destroy(comm->plans);
    cohort__history_fini(&comm->history);
    free(comm);
}
