/* SPDX-License-Identifier: Apache-2.0 */
/* Exposed blocks, and fetches from them. The copy is made when the fetch ends. */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "tests/support/inproc_end.h"

cohort_status cohort__inproc_expose(struct cohort__net *net, uint32_t number, const void *base,
                                    size_t bytes, void **ret_region,
                                    struct cohort__net_token *ret_token)
{
    struct cohort__inproc_end *end = (struct cohort__inproc_end *)net;
    if (bytes == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "a block of no bytes can't be exposed");
    struct cohort__inproc_region *region = calloc(1, sizeof *region);
    if (!region)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory to expose a block of %zu bytes", bytes);
    region->rank = end->rank;
    region->base = base;
    region->bytes = bytes;
    pthread_mutex_lock(&end->hub->lock);
    region->id = end->hub->next_region++;
    cohort__map_insert(&end->hub->regions, &region->node, cohort__hash_u64(region->id));
    pthread_mutex_unlock(&end->hub->lock);
    memset(ret_token, 0, sizeof *ret_token);
    memcpy(ret_token->bytes, &region->id, sizeof region->id);
    *ret_region = region;
    return COHORT_OK;
}

static void region_close(struct cohort__inproc_hub *hub, struct cohort__inproc_region *region)
{
    cohort__map_remove(&hub->regions, &region->node);
    while (region->num_readers > 0)
        pthread_cond_wait(&hub->unread, &hub->lock);
    free(region);
}

void cohort__inproc_withdraw(struct cohort__net *net, uint32_t number, void *region)
{
    (void)number; /* all peers may fetch from a block */
    struct cohort__inproc_end *end = (struct cohort__inproc_end *)net;
    pthread_mutex_lock(&end->hub->lock);
    region_close(end->hub, region);
    pthread_mutex_unlock(&end->hub->lock);
}

static enum cohort__net_sent fetch_locked(struct cohort__inproc_end *end, uint32_t number,
                                          struct cohort__inproc_event *event)
{
    struct cohort__inproc_peer *peer = cohort__inproc_peer_find(end, number);
    if (!cohort__inproc_peer_end(end, peer)) {
        if (peer)
            cohort__inproc_peer_lose(end, peer);
        return COHORT__NET_DEAD;
    }
    if (cohort__inproc_refuse(end, number))
        return COHORT__NET_AGAIN;
    cohort__inproc_event_push(end, event);
    return COHORT__NET_SENT;
}

enum cohort__net_sent cohort__inproc_fetch(struct cohort__net *net, uint32_t number,
                                           const struct cohort__net_token *token, size_t offset,
                                           void *destination, size_t bytes, void *cookie)
{
    struct cohort__inproc_end *end = (struct cohort__inproc_end *)net;
    struct cohort__inproc_event *event =
        cohort__inproc_event_create(COHORT__INPROC_FETCHED, number, 0);
    if (!event)
        return COHORT__NET_DEAD;
    event->token = *token;
    event->offset = offset;
    event->bytes = bytes;
    event->destination = destination;
    event->cookie = cookie;
    pthread_mutex_lock(&end->hub->lock);
    enum cohort__net_sent sent = fetch_locked(end, number, event);
    pthread_mutex_unlock(&end->hub->lock);
    if (sent != COHORT__NET_SENT)
        free(event);
    return sent;
}

/* The region that EVENT reads from. It is kept until region_leave. NULL, with the reason in
 * *ret_status, if there is none. */
static struct cohort__inproc_region *region_enter(struct cohort__inproc_end *end,
                                                  const struct cohort__inproc_event *event,
                                                  cohort_status *ret_status)
{
    struct cohort__inproc_peer *peer = cohort__inproc_peer_find(end, event->peer);
    uint64_t id;
    memcpy(&id, event->token.bytes, sizeof id);
    struct cohort__map_node *node =
        cohort__map_find(&end->hub->regions, cohort__hash_u64(id), NULL, NULL);
    struct cohort__inproc_region *region =
        node ? COHORT_CONTAINER_OF(node, struct cohort__inproc_region, node) : NULL;
    if (!cohort__inproc_peer_end(end, peer)) {
        *ret_status = COHORT_ERR_PEER_DIED;
        return NULL;
    }
    if (!region || region->rank != peer->rank || event->offset > region->bytes ||
        event->bytes > region->bytes - event->offset || event->bytes > COHORT__INPROC_MAX_FETCH) {
        *ret_status = COHORT_ERR_PROTOCOL;
        return NULL;
    }
    region->num_readers++;
    return region;
}

void cohort__inproc_fetch_end(struct cohort__inproc_end *end,
                              const struct cohort__inproc_event *event)
{
    cohort_status status = COHORT_OK;
    pthread_mutex_lock(&end->hub->lock);
    struct cohort__inproc_region *region = region_enter(end, event, &status);
    pthread_mutex_unlock(&end->hub->lock);
    if (region) {
        memcpy(event->destination, region->base + event->offset, event->bytes);
        pthread_mutex_lock(&end->hub->lock);
        if (--region->num_readers == 0)
            pthread_cond_broadcast(&end->hub->unread);
        pthread_mutex_unlock(&end->hub->lock);
    }
    end->net.handlers.fetched(end->net.handlers.context, event->cookie, status);
}

/* The lock is released while it waits for a reader. So it begins again after each wait. */
static struct cohort__inproc_region *region_of(const struct cohort__inproc_end *end)
{
    struct cohort__map_node *n = cohort__map_first(&end->hub->regions);
    for (; n; n = cohort__map_next(&end->hub->regions, n)) {
        struct cohort__inproc_region *region =
            COHORT_CONTAINER_OF(n, struct cohort__inproc_region, node);
        if (region->rank == end->rank)
            return region;
    }
    return NULL;
}

void cohort__inproc_regions_close(struct cohort__inproc_end *end)
{
    struct cohort__inproc_region *region;
    while ((region = region_of(end)))
        region_close(end->hub, region);
}
