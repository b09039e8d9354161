/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/send.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/slab.h"
#include "runtime/proc/peer.h"

/* How a message gets out, and the sender's half of flow control. Eager payload is taken from the
 * peer's budget, which comes back with its messages; what has no budget, or is too long, is
 * announced. So nothing here ever waits for budget, and announcements are never refused. */

/* A control message with its payload behind it. */
struct control {
    struct cohort__send send;
    unsigned char payload[];
};

static enum cohort__net_sent transmit(struct cohort__process *process, struct cohort__peer *peer,
                                      struct cohort__send *send)
{
    bool announces = send->envelope.kind == COHORT__KIND_ANNOUNCE;
    unsigned char header[COHORT__ENVELOPE_BYTES];
    struct iovec parts[2] = {{header, sizeof(header)}, {NULL, 0}};
    parts[1].iov_base = announces ? send->token.bytes : (void *)send->payload;
    parts[1].iov_len = announces ? sizeof(send->token.bytes) : send->bytes;
    struct cohort__envelope *envelope = &send->envelope;
    envelope->source_locality = process->options.rank;
    envelope->job_key = process->options.job_key;
    envelope->epoch = process->options.epoch;
    envelope->credit = (uint32_t)peer->owed;
    envelope->payload_bytes = (uint32_t)parts[1].iov_len;
    cohort__envelope_encode(envelope, header);
    /* Counted before the peer can have counted it: the drain never sees more taken than sent. */
    bool counts = envelope->kind != COHORT__KIND_CREDIT;
    if (counts)
        atomic_fetch_add(&process->sent, 1);
    enum cohort__net_sent sent =
        cohort__net_send(process->net, peer->rank, parts, parts[1].iov_len ? 2 : 1);
    if (sent == COHORT__NET_SENT)
        peer->owed = 0;
    else if (counts)
        atomic_fetch_sub(&process->sent, 1);
    return sent;
}

static void finish(struct cohort__process *process, struct cohort__send *send, cohort_status status)
{
    atomic_fetch_sub(&process->under_way, 1);
    send->done(send, status);
}

/* Decides between eager and announced, once for each send; under the peer's lock. */
static cohort_status prepare(struct cohort__process *process, struct cohort__peer *peer,
                             struct cohort__send *send)
{
    if (send->envelope.kind != COHORT__KIND_DATA || send->bytes == 0)
        return COHORT_OK;
    if (send->bytes <= process->eager_max && send->bytes <= peer->budget) {
        peer->budget -= send->bytes;
        return COHORT_OK;
    }
    cohort_status status =
        cohort__net_expose(process->net, send->payload, send->bytes, &send->region, &send->token);
    if (status)
        return status;
    send->envelope.kind = COHORT__KIND_ANNOUNCE;
    send->envelope.total_bytes = send->bytes;
    send->envelope.handle = atomic_fetch_add(&process->next_handle, 1);
    cohort__map_insert(&peer->announced, &send->announced, cohort__hash_u64(send->envelope.handle));
    return COHORT_OK;
}

/* Under the peer's lock. Whether SEND is done: with COHORT_OK, its only success. */
static bool try_transmit(struct cohort__process *process, struct cohort__peer *peer,
                         struct cohort__send *send, bool *ret_dead)
{
    switch (transmit(process, peer, send)) {
    case COHORT__NET_SENT:
        return send->envelope.kind != COHORT__KIND_ANNOUNCE;
    case COHORT__NET_AGAIN:
        cohort__list_push_back(&peer->pending, &send->pending);
        return false;
    case COHORT__NET_DEAD:
        cohort__list_push_back(&peer->pending, &send->pending);
        *ret_dead = true;
        return false;
    }
    return false;
}

void cohort__send_start(struct cohort__process *process, uint32_t rank, struct cohort__send *send)
{
    struct cohort__peer *peer = cohort__peer_get(process, rank);
    atomic_fetch_add(&process->under_way, 1);
    send->region = NULL;
    send->declined = false;
    cohort__list_init(&send->pending);
    if (!peer) {
        finish(process, send, cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for locality %u", rank));
        return;
    }
    cohort_status status = COHORT_OK;
    bool is_done = false;
    bool is_dead = false;
    pthread_mutex_lock(&peer->lock);
    if (peer->dead)
        status = cohort_fail(COHORT_ERR_PEER_DIED, "locality %u %s", rank, peer->why);
    else if (atomic_load_explicit(&process->stopped, memory_order_relaxed))
        status = cohort_fail(COHORT_ERR_CANCELLED, "the job is over");
    else
        status = prepare(process, peer, send);
    if (!status && cohort__list_is_empty(&peer->pending))
        is_done = try_transmit(process, peer, send, &is_dead);
    else if (!status)
        cohort__list_push_back(&peer->pending, &send->pending);
    pthread_mutex_unlock(&peer->lock);
    if (status || is_done)
        finish(process, send, status);
    if (is_dead)
        cohort__process_peer_died(process, rank, "can't be reached");
}

uint64_t cohort__send_handle(const struct cohort__send *send)
{
    return send->envelope.kind == COHORT__KIND_ANNOUNCE ? send->envelope.handle : 0;
}

static void control_done(struct cohort__send *send, cohort_status status)
{
    (void)status; /* only the peer's death, which is told otherwise */
    cohort__slab_free(COHORT_CONTAINER_OF(send, struct control, send));
}

void cohort__send_control(struct cohort__process *process, uint32_t rank,
                          const struct cohort__envelope *envelope, const void *payload,
                          size_t bytes)
{
    struct control *control = cohort__slab_alloc(sizeof(*control) + bytes);
    if (!control) {
        cohort__process_peer_died(process, rank, "can't be told: out of memory here");
        return;
    }
    if (bytes > 0)
        memcpy(control->payload, payload, bytes);
    control->send = (struct cohort__send){
        .envelope = *envelope, .payload = control->payload, .bytes = bytes, .done = control_done};
    cohort__send_start(process, rank, &control->send);
}

void cohort__send_writable(struct cohort__process *process, struct cohort__peer *peer)
{
    bool is_dead = false;
    bool goes_on = true;
    while (goes_on && !is_dead) {
        struct cohort__send *send = NULL;
        pthread_mutex_lock(&peer->lock);
        struct cohort__list *node = cohort__list_pop_front(&peer->pending);
        if (node) {
            send = COHORT_CONTAINER_OF(node, struct cohort__send, pending);
            switch (transmit(process, peer, send)) {
            case COHORT__NET_SENT:
                if (send->envelope.kind == COHORT__KIND_ANNOUNCE)
                    send = NULL;
                break;
            case COHORT__NET_DEAD:
                is_dead = true; /* fall through */
            case COHORT__NET_AGAIN:
                cohort__list_push_front(&peer->pending, node);
                goes_on = false;
                send = NULL;
                break;
            }
        } else {
            goes_on = false;
        }
        pthread_mutex_unlock(&peer->lock);
        if (send)
            finish(process, send, COHORT_OK);
    }
    if (is_dead)
        cohort__process_peer_died(process, peer->rank, "can't be reached");
}

void cohort__send_fetched(struct cohort__process *process, struct cohort__peer *peer,
                          uint64_t handle, bool declined)
{
    pthread_mutex_lock(&peer->lock);
    struct cohort__map_node *node =
        cohort__map_find(&peer->announced, cohort__hash_u64(handle), NULL, NULL);
    if (node) {
        cohort__map_remove(&peer->announced, node);
        /* Nothing, unless the peer answers what it was never sent. */
        cohort__list_remove(&COHORT_CONTAINER_OF(node, struct cohort__send, announced)->pending);
    }
    pthread_mutex_unlock(&peer->lock);
    if (!node)
        return; /* it was not ours, or its end has been told already */
    struct cohort__send *send = COHORT_CONTAINER_OF(node, struct cohort__send, announced);
    cohort__net_withdraw(process->net, send->region);
    send->declined = declined;
    finish(process, send, COHORT_OK);
}

void cohort__send_end_all(struct cohort__process *process, struct cohort__peer *peer,
                          cohort_status status)
{
    struct cohort__list sends;
    cohort__list_init(&sends);
    pthread_mutex_lock(&peer->lock);
    struct cohort__list *node;
    while ((node = cohort__list_pop_front(&peer->pending))) {
        struct cohort__send *send = COHORT_CONTAINER_OF(node, struct cohort__send, pending);
        if (send->envelope.kind != COHORT__KIND_ANNOUNCE) /* else it is found below */
            cohort__list_push_back(&sends, node);
    }
    struct cohort__map_node *mapped;
    while ((mapped = cohort__map_first(&peer->announced))) {
        cohort__map_remove(&peer->announced, mapped);
        struct cohort__send *send = COHORT_CONTAINER_OF(mapped, struct cohort__send, announced);
        cohort__list_push_back(&sends, &send->pending);
    }
    pthread_mutex_unlock(&peer->lock);
    while ((node = cohort__list_pop_front(&sends))) {
        struct cohort__send *send = COHORT_CONTAINER_OF(node, struct cohort__send, pending);
        if (send->region)
            cohort__net_withdraw(process->net, send->region);
        if (status == COHORT_ERR_PEER_DIED)
            cohort__process_check_dead(process, peer->rank); /* sets the message */
        else
            cohort_fail(status, "the job is over");
        finish(process, send, status);
    }
}

void cohort__send_give_back(struct cohort__process *process, struct cohort__peer *peer,
                            size_t bytes)
{
    pthread_mutex_lock(&peer->lock);
    peer->owed += bytes;
    bool is_due = !peer->dead && peer->owed >= process->options.eager_budget / 2;
    pthread_mutex_unlock(&peer->lock);
    if (is_due)
        cohort__send_control(process, peer->rank,
                             &(struct cohort__envelope){.kind = COHORT__KIND_CREDIT}, NULL, 0);
}
