/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/comm/inbox.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"

/* Running ---------------------------------------------------------------------------------- */

/* The endpoints that this thread has to run. If an endpoint becomes ready while another one runs,
 * it waits here until that one has finished. So endpoints never run nested. */
static __thread struct {
    struct cohort_comm *first;
    struct cohort_comm *last;
    bool is_running;
} ready __attribute__((tls_model("initial-exec")));

/* Runs COMM's items until the queue is empty and released. After that, other threads may run COMM.
 * If it has left, they may also free it, or the unref at the end frees it, with its group. */
static void run(struct cohort_comm *comm)
{
    struct cohort__group *left = NULL; /* the group of an endpoint that has left: a reference */
    for (;;) {
        if (comm->has_left && !left) {
            left = comm->group;
            cohort__group_ref(left);
        }
        struct cohort__batch_queue_node *node = cohort__batch_queue_take_or_release(&comm->queue);
        if (!node)
            break;
        while (node) {
            struct cohort__item *item = COHORT_CONTAINER_OF(node, struct cohort__item, node);
            node = node->next;
            item->run(comm, item);
        }
    }
    if (left)
        cohort__group_unref(left);
}

static void run_ready(void)
{
    struct cohort_comm *comm;
    while ((comm = ready.first)) {
        ready.first = comm->next_ready;
        run(comm);
    }
    ready.is_running = false;
}

bool cohort__endpoint_turn_begin(struct cohort_comm *comm)
{
    if (ready.is_running || !cohort__batch_queue_claim(&comm->queue))
        return false;
    ready.is_running = true;
    return true;
}

void cohort__endpoint_turn_end(struct cohort_comm *comm)
{
    run(comm);
    run_ready();
}

void cohort__endpoint_post(struct cohort_comm *comm, struct cohort__item *item)
{
    /* Mostly no other thread runs the endpoint, and the item need not go through the queue. */
    if (cohort__endpoint_turn_begin(comm)) {
        item->run(comm, item);
        cohort__endpoint_turn_end(comm);
        return;
    }
    if (!cohort__batch_queue_push(&comm->queue, &item->node))
        return; /* the thread that runs it will find the item */
    comm->next_ready = NULL;
    if (ready.first)
        ready.last->next_ready = comm;
    else
        ready.first = comm;
    ready.last = comm;
    if (ready.is_running)
        return;
    ready.is_running = true;
    run_ready();
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

static void run_tick(struct cohort_comm *comm, struct cohort__item *item)
{
    begin_event(item);
    uint64_t now = cohort__clock_now();
    for (uint32_t i = 0; i < COHORT__WINDOW; i++) {
        struct cohort__operation *operation = comm->slots[i].in_flight;
        if (!operation || operation->failure.status)
            continue;
        if (operation->asked_at == 0) {
            operation->asked_at = now;
        } else if (now - operation->asked_at >= comm->stall_after << operation->patience) {
            operation->asked_at = now;
            operation->patience += operation->patience < COHORT__MAX_PATIENCE;
            operation->handlers->stalled(operation);
        }
    }
    cohort__channels_tick(comm, now);
}

void cohort__endpoint_tick(struct cohort_comm *comm)
{
    if (atomic_load_explicit(&comm->num_in_flight, memory_order_relaxed) > 0 ||
        !cohort__channels_are_idle(&comm->channels))
        post_event(comm, &comm->tick);
}

static void run_peer_died(struct cohort_comm *comm, struct cohort__item *item)
{
    begin_event(item);
    for (uint32_t i = 0; i < COHORT__WINDOW; i++) {
        struct cohort__operation *operation = comm->slots[i].in_flight;
        if (operation && !operation->failure.status)
            operation->handlers->peer_died(operation);
    }
    cohort__channels_peer_died(comm);
}

void cohort__endpoint_peer_died(struct cohort_comm *comm)
{
    post_event(comm, &comm->death);
}

static void run_leave(struct cohort_comm *comm, struct cohort__item *item)
{
    begin_event(item);
    if (comm->has_left)
        return;
    comm->has_left = true;
    atomic_fetch_add(&comm->group->num_left, 1);
    struct cohort__operation *operation = cohort__endpoint_first_waiting(comm);
    comm->gone_from = operation ? operation->generation : comm->history.last + 1;
    while ((operation = cohort__endpoint_first_waiting(comm)))
        cohort__operation_abandon(operation);
    /* A site may leave because of a death before this endpoint has been told of it. */
    for (uint32_t i = 0; i < COHORT__WINDOW; i++)
        if ((operation = comm->slots[i].in_flight) && !cohort__operation_fail_if_broken(operation))
            cohort__operation_fail_with(operation, COHORT_ERR_CANCELLED,
                                        "this site has left the communicator meanwhile");
    cohort__endpoint_release_parked(comm);
    cohort__channels_leave(comm);
    for (uint32_t i = 0; i < COHORT__NUM_SUBGROUPS; i++) {
        struct cohort__meetings *meetings = atomic_load(&comm->group->meetings[i]);
        if (meetings)
            meetings->left(meetings, comm);
    }
    cohort__registry_leave(cohort__process_registry(cohort__inbox_process(comm->group->inbox)),
                           comm->group->membership, comm->this_site);
    if (cohort__endpoint_is_idle(comm))
        cohort__endpoint_when_idle(comm);
}

void cohort__endpoint_leave(struct cohort_comm *comm)
{
    post_event(comm, &comm->leave);
}

/* Life ------------------------------------------------------------------------------------- */

cohort_status cohort__endpoint_create(struct cohort_comm **ret_comm, struct cohort__group *group,
                                      uint32_t site)
{
    struct cohort_comm *comm = aligned_alloc(64, sizeof(*comm));
    if (!comm)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "communicator \"%s\": no memory for site %u",
                           group->name, site);
    memset(comm, 0, sizeof(*comm));
    cohort__batch_queue_init(&comm->queue);
    atomic_init(&comm->refs, 1);
    comm->group = group;
    comm->this_site = site;
    cohort__list_init(&comm->link);
    cohort__gate_init(&comm->gate);
    cohort__history_init(&comm->history);
    cohort__channels_init(&comm->channels);
    cohort__list_init(&comm->waiting);
    cohort__list_init(&comm->idle_waiters);
    for (uint32_t i = 0; i < COHORT__WINDOW; i++)
        cohort__list_init(&comm->slots[i].parked);
    comm->tick.item.run = run_tick;
    comm->death.item.run = run_peer_died;
    comm->leave.item.run = run_leave;
    comm->resume.run = cohort__endpoint_run_resume;
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
    cohort__channels_fini(&comm->channels);
    free(comm);
}
