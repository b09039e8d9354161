/* SPDX-License-Identifier: Apache-2.0 */
/* Peers, and messages to them. */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "tests/support/inproc_end.h"

const char cohort__inproc_name[COHORT__INPROC_NAME_BYTES] = "inproc";

struct cohort__inproc_peer *cohort__inproc_peer_find(const struct cohort__inproc_end *end,
                                                     uint32_t number)
{
    struct cohort__map_node *node =
        cohort__map_find(&end->peers, cohort__hash_u64(number), NULL, NULL);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__inproc_peer, node) : NULL;
}

void cohort__inproc_peer_lose(struct cohort__inproc_end *end, struct cohort__inproc_peer *peer)
{
    if (peer->is_lost)
        return;
    peer->is_lost = true;
    struct cohort__inproc_event *event =
        cohort__inproc_event_create(COHORT__INPROC_UNREACHABLE, peer->number, 0);
    if (event)
        cohort__inproc_event_push(end, event);
}

struct cohort__inproc_end *cohort__inproc_peer_end(const struct cohort__inproc_end *end,
                                                   const struct cohort__inproc_peer *peer)
{
    if (!peer || peer->is_lost || end->is_cut)
        return NULL;
    struct cohort__inproc_end *other = end->hub->ends[peer->rank];
    return other && !other->is_cut ? other : NULL;
}

bool cohort__inproc_refuse(struct cohort__inproc_end *end, uint32_t peer)
{
    if (!end->hub->seed || cohort__random_below(&end->random, COHORT__INPROC_AGAIN_ONCE_IN) != 0)
        return false;
    struct cohort__inproc_event *event =
        cohort__inproc_event_create(COHORT__INPROC_WRITABLE, peer, 0);
    if (!event)
        return false;
    cohort__inproc_event_push(end, event);
    return true;
}

static size_t gather(unsigned char *to, const struct iovec *parts, int num_parts)
{
    size_t bytes = 0;
    for (int i = 0; i < num_parts; i++) {
        if (to && parts[i].iov_len > 0)
            memcpy(to + bytes, parts[i].iov_base, parts[i].iov_len);
        bytes += parts[i].iov_len;
    }
    return bytes;
}

/* Another message has left. */
static void count_down(struct cohort__inproc_end *end)
{
    if (end->sends_left == 0 || --end->sends_left > 0)
        return;
    for (uint32_t rank = 0; rank < end->hub->num_ends; rank++)
        if (end->dies_with >> rank & 1)
            cohort__inproc_cut_locked(end->hub, rank);
}

/* If there is no memory, the message is lost, as if the peer no longer existed. */
static enum cohort__net_sent send_locked(struct cohort__inproc_end *end, uint32_t number,
                                         const struct iovec *parts, int num_parts)
{
    struct cohort__inproc_peer *peer = cohort__inproc_peer_find(end, number);
    struct cohort__inproc_end *other = cohort__inproc_peer_end(end, peer);
    if (!other) {
        if (peer)
            cohort__inproc_peer_lose(end, peer);
        return COHORT__NET_DEAD;
    }
    if (cohort__inproc_refuse(end, number))
        return COHORT__NET_AGAIN;
    size_t bytes = gather(NULL, parts, num_parts);
    struct cohort__inproc_event *event =
        bytes <= COHORT__INPROC_MAX_MESSAGE
            ? cohort__inproc_event_create(COHORT__INPROC_MESSAGE, 0, bytes)
            : NULL;
    if (!event) {
        cohort__inproc_peer_lose(end, peer);
        return COHORT__NET_DEAD;
    }
    gather(event->data, parts, num_parts);
    event->message = (struct cohort__net_message){
        .net = &other->net,
        .data = event->data,
        .bytes = bytes,
        .capacity = sizeof *event + bytes,
    };
    cohort__inproc_event_push(other, event);
    count_down(end);
    return COHORT__NET_SENT;
}

enum cohort__net_sent cohort__inproc_send(struct cohort__net *net, uint32_t number,
                                          const struct iovec *parts, int num_parts)
{
    struct cohort__inproc_end *end = (struct cohort__inproc_end *)net;
    pthread_mutex_lock(&end->hub->lock);
    enum cohort__net_sent sent = send_locked(end, number, parts, num_parts);
    pthread_mutex_unlock(&end->hub->lock);
    return sent;
}

void cohort__inproc_release(struct cohort__net *net, struct cohort__net_message *message)
{
    struct cohort__inproc_end *end = (struct cohort__inproc_end *)net;
    struct cohort__inproc_event *event =
        COHORT_CONTAINER_OF(message, struct cohort__inproc_event, message);
    pthread_mutex_lock(&end->hub->lock);
    cohort__list_remove(&event->link);
    pthread_mutex_unlock(&end->hub->lock);
    free(event);
}

cohort_status cohort__inproc_add_peer(struct cohort__net *net, uint32_t number, const void *address,
                                      size_t bytes)
{
    struct cohort__inproc_end *end = (struct cohort__inproc_end *)net;
    struct cohort__inproc_address a;
    size_t name_bytes = strnlen(address, bytes);
    if (name_bytes + 1 != sizeof cohort__inproc_name || name_bytes == bytes ||
        memcmp(address, cohort__inproc_name, sizeof cohort__inproc_name) != 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "peer %u uses transport %.*s, this locality uses %s", number,
                           (int)name_bytes, (const char *)address, cohort__inproc_name);
    if (bytes != sizeof a)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "peer %u: a truncated address", number);
    memcpy(&a, address, sizeof a);
    if (a.hub != end->hub || a.rank >= end->hub->num_ends)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "peer %u is on another hub", number);
    struct cohort__inproc_peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for peer %u", number);
    peer->number = number;
    peer->rank = a.rank;
    pthread_mutex_lock(&end->hub->lock);
    bool is_new = !cohort__inproc_peer_find(end, number);
    if (is_new)
        cohort__map_insert(&end->peers, &peer->node, cohort__hash_u64(number));
    pthread_mutex_unlock(&end->hub->lock);
    if (is_new)
        return COHORT_OK;
    free(peer);
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "peer %u is there already", number);
}

void cohort__inproc_remove_peer(struct cohort__net *net, uint32_t number)
{
    struct cohort__inproc_end *end = (struct cohort__inproc_end *)net;
    pthread_mutex_lock(&end->hub->lock);
    struct cohort__inproc_peer *peer = cohort__inproc_peer_find(end, number);
    if (peer) {
        cohort__map_remove(&end->peers, &peer->node);
        cohort__inproc_events_drop(end, number);
    }
    pthread_mutex_unlock(&end->hub->lock);
    free(peer);
}
