/* SPDX-License-Identifier: Apache-2.0 */
/* Events for an end: handled when they are due, in progress. */
#include <stdlib.h>

#include "runtime/base/bell.h"
#include "runtime/base/container.h"
#include "tests/support/inproc_end.h"

/* How many events one call of progress handles, and how far events may overtake each other. */
enum { MAX_EVENTS = 64, WINDOW = 64 };

struct cohort__inproc_event *cohort__inproc_event_create(enum cohort__inproc_kind kind,
                                                         uint32_t peer, size_t bytes)
{
    struct cohort__inproc_event *event = calloc(1, sizeof *event + bytes);
    if (!event)
        return NULL;
    cohort__list_init(&event->link);
    event->kind = kind;
    event->peer = peer;
    return event;
}

void cohort__inproc_event_push(struct cohort__inproc_end *end, struct cohort__inproc_event *event)
{
    event->due = end->num_progress;
    if (end->hub->seed)
        event->due += cohort__random_below(&end->random, COHORT__INPROC_MAX_DELAY);
    cohort__list_push_back(&end->events, &event->link);
    if (end->is_armed && cohort__bell_ring(end->net.poller.fd))
        end->is_armed = false;
}

void cohort__inproc_events_drop(struct cohort__inproc_end *end, uint32_t peer)
{
    struct cohort__list *next;
    for (struct cohort__list *n = end->events.next; n != &end->events; n = next) {
        struct cohort__inproc_event *event =
            COHORT_CONTAINER_OF(n, struct cohort__inproc_event, link);
        next = n->next;
        if (event->peer == peer &&
            (event->kind == COHORT__INPROC_WRITABLE || event->kind == COHORT__INPROC_UNREACHABLE)) {
            cohort__list_remove(n);
            free(event);
        }
    }
}

/* Takes an event that is due: the oldest one, or with a seed any of the oldest ones. NULL if there
 * is none. */
static struct cohort__inproc_event *event_take(struct cohort__inproc_end *end)
{
    struct cohort__inproc_event *taken = NULL;
    uint64_t num_due = 0;
    for (struct cohort__list *n = end->events.next; n != &end->events; n = n->next) {
        struct cohort__inproc_event *event =
            COHORT_CONTAINER_OF(n, struct cohort__inproc_event, link);
        if (event->due > end->num_progress)
            continue;
        num_due++;
        if (cohort__random_below(&end->random, num_due) == 0)
            taken = event;
        if (!end->hub->seed || num_due == WINDOW)
            break;
    }
    if (taken)
        cohort__list_remove(&taken->link);
    return taken;
}

static void deliver(struct cohort__inproc_end *end, struct cohort__inproc_event *event)
{
    const struct cohort__net_handlers *handlers = &end->net.handlers;
    switch (event->kind) {
    case COHORT__INPROC_MESSAGE:
        handlers->message(handlers->context, &event->message);
        return; /* belongs to the receiver now */
    case COHORT__INPROC_FETCHED:
        cohort__inproc_fetch_end(end, event);
        break;
    case COHORT__INPROC_WRITABLE:
        handlers->writable(handlers->context, event->peer);
        break;
    case COHORT__INPROC_UNREACHABLE:
        handlers->unreachable(handlers->context, event->peer, "it was cut off");
        break;
    }
    free(event);
}

bool cohort__inproc_progress(void *context)
{
    struct cohort__inproc_end *end = context;
    bool any = false;
    pthread_mutex_lock(&end->hub->lock);
    end->num_progress++;
    /* Not without limit: handlers may add new events here at once. */
    for (int i = 0; i < MAX_EVENTS; i++) {
        struct cohort__inproc_event *event = event_take(end);
        if (!event)
            break;
        if (event->kind == COHORT__INPROC_MESSAGE)
            cohort__list_push_back(&end->held, &event->link);
        pthread_mutex_unlock(&end->hub->lock);
        deliver(end, event);
        any = true;
        pthread_mutex_lock(&end->hub->lock);
    }
    pthread_mutex_unlock(&end->hub->lock);
    return any;
}

bool cohort__inproc_arm(void *context)
{
    struct cohort__inproc_end *end = context;
    pthread_mutex_lock(&end->hub->lock);
    end->is_armed = cohort__list_is_empty(&end->events);
    bool is_armed = end->is_armed;
    pthread_mutex_unlock(&end->hub->lock);
    return is_armed;
}

void cohort__inproc_disarm(void *context)
{
    struct cohort__inproc_end *end = context;
    pthread_mutex_lock(&end->hub->lock);
    end->is_armed = false;
    cohort__bell_silence(end->net.poller.fd);
    pthread_mutex_unlock(&end->hub->lock);
}

void cohort__inproc_events_fini(struct cohort__inproc_end *end, struct cohort__list *events)
{
    struct cohort__list *node;
    while ((node = cohort__list_pop_front(events))) {
        struct cohort__inproc_event *event =
            COHORT_CONTAINER_OF(node, struct cohort__inproc_event, link);
        if (event->kind == COHORT__INPROC_FETCHED)
            end->net.handlers.fetched(end->net.handlers.context, event->cookie,
                                      COHORT_ERR_CANCELLED);
        free(event);
    }
}
