/* SPDX-License-Identifier: Apache-2.0 */
/* Outgoing messages. They are copied here, and sent from the copy. Asking the provider to copy
 * (FI_INJECT) is no faster. Besides, ofi_rxm 1.17 then doesn't copy when its socket is full: if the
 * caller changes the bytes after the call, the changed bytes are sent.
 *
 * A packet costs the provider several system calls, so what becomes ready for one peer in one turn
 * goes in one packet, a batch. What handlers send leaves when the arrivals at hand are handled.
 * What a task sends leaves with the next progress, if the worker has other tasks to resume, which
 * are likely to send, too, or if a few packets to the peer are under way already. All else leaves
 * at once. If tasks compute in between, a batch is late. So that this is rare, after a late one
 * nothing waits for many times as long. */
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/log.h"
#include "runtime/loop/loop.h"
#include "runtime/net/ofi_end.h"

/* Ns. Batches that are older when they leave are late. Far above a turn of tasks that only
 * communicate; not measured. */
static const uint64_t late = 100 * 1000;
enum { DIRECT_FACTOR = 50 }; /* so late batches make up at most 2 % of the time */
/* Bounds what one long stop of the whole process costs. Tasks that compute for longer than a
 * fiftieth of it have more late batches. */
static const uint64_t direct_limit = UINT64_C(600) * 1000 * 1000 * 1000;

static struct cohort__ofi_send *send_create(struct cohort__ofi *ofi)
{
    struct cohort__ofi_send *send = aligned_alloc(_Alignof(struct cohort__ofi_send), sizeof *send);
    if (!send)
        return NULL;
    if (cohort__ofi_register(ofi, send->data, sizeof send->data, FI_SEND, &send->mr)) {
        free(send);
        return NULL;
    }
    send->operation.kind = COHORT__OFI_SEND;
    send->is_hello = false;
    cohort__list_init(&send->operation.link);
    ofi->num_sends++;
    return send;
}

static struct cohort__ofi_send *send_take(struct cohort__ofi *ofi)
{
    struct cohort__list *node = cohort__list_pop_front(&ofi->sends);
    if (node)
        return COHORT_CONTAINER_OF(node, struct cohort__ofi_send, operation.link);
    return ofi->num_sends < COHORT__OFI_NUM_SENDS ? send_create(ofi) : NULL;
}

static void send_give(struct cohort__ofi *ofi, struct cohort__ofi_send *send)
{
    send->peer = NULL;
    send->is_hello = false;
    cohort__list_push_front(&ofi->sends, &send->operation.link);
}

/* Sends BYTES bytes of SEND to PEER. Returns libfabric's error; then SEND is still the caller's. */
static int post(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer,
                struct cohort__ofi_send *send, size_t bytes)
{
    ssize_t error = fi_send(ofi->ep, send->data, bytes, send->mr ? fi_mr_desc(send->mr) : NULL,
                            peer->address, &send->operation.context);
    if (error)
        return (int)error;
    cohort__list_remove(&send->operation.link);
    cohort__list_push_back(&ofi->sending, &send->operation.link);
    peer->num_sending++;
    return 0;
}

/* Sends the packet of SEND, likewise. */
static int start(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer,
                 struct cohort__ofi_send *send)
{
    if (!peer->is_met)
        return cohort__ofi_hello_ask(ofi, peer);
    int error = post(ofi, peer, send, cohort__packet_finish(&send->packet));
    if (!error)
        cohort__ofi_peer_accepted(ofi, peer);
    return error;
}

int cohort__ofi_send_hello(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer,
                           const void *hello, size_t bytes)
{
    struct cohort__ofi_send *send = send_take(ofi);
    if (!send)
        return -FI_EAGAIN;
    send->peer = peer;
    send->is_hello = true;
    memcpy(send->data, hello, bytes);
    int error = post(ofi, peer, send, bytes);
    if (error)
        send_give(ofi, send);
    return error;
}

static bool is_short(const struct iovec *parts, int num_parts)
{
    size_t bytes = 0;
    for (int i = 0; i < num_parts; i++)
        bytes += parts[i].iov_len;
    return bytes <= COHORT__OFI_MAX_BATCHED;
}

/* Whether BATCH waits for progress. Else it was refused, and waits for the provider. */
static bool is_listed(const struct cohort__ofi_send *batch)
{
    return !cohort__list_is_empty(&batch->operation.link);
}

static bool is_late(const struct cohort__ofi_send *batch)
{
    return is_listed(batch) && cohort__clock_now() > batch->since + late;
}

/* Whether a short message to PEER is to wait for others. If the others have waited for too long
 * already, it takes them along. */
static bool waits(const struct cohort__ofi *ofi, const struct cohort__ofi_peer *peer)
{
    if (!peer->batch && ofi->num_batches == COHORT__OFI_NUM_BATCHES)
        return false;
    if (atomic_load_explicit(&ofi->is_handling, memory_order_relaxed))
        return true;
    bool may_wait = cohort__loop_has_ready_tasks() || peer->num_sending >= COHORT__OFI_NUM_DIRECT;
    if (!may_wait || (peer->batch && is_late(peer->batch)))
        return false;
    return ofi->direct_until == 0 || cohort__clock_now() >= ofi->direct_until;
}

static void note_age(struct cohort__ofi *ofi, const struct cohort__ofi_send *batch)
{
    if (!is_late(batch))
        return;
    uint64_t now = cohort__clock_now(), age = now - batch->since;
    ofi->direct_until =
        now + (age < direct_limit / DIRECT_FACTOR ? age * DIRECT_FACTOR : direct_limit);
}

enum cohort__net_sent cohort__ofi_batch_send(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer)
{
    struct cohort__ofi_send *batch = peer->batch;
    if (!batch)
        return COHORT__NET_SENT;
    note_age(ofi, batch);
    int error = start(ofi, peer, batch);
    if (!error) {
        peer->batch = NULL;
        ofi->num_batches--;
        return COHORT__NET_SENT;
    }
    cohort__list_remove(&batch->operation.link);
    return cohort__ofi_peer_refused(ofi, peer, error);
}

void cohort__ofi_batch_drop(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer)
{
    if (!peer->batch)
        return;
    cohort__list_remove(&peer->batch->operation.link);
    send_give(ofi, peer->batch);
    peer->batch = NULL;
    ofi->num_batches--;
}

bool cohort__ofi_batches_progress(struct cohort__ofi *ofi)
{
    bool any = false;
    while (!cohort__list_is_empty(&ofi->batches)) {
        struct cohort__ofi_send *batch =
            COHORT_CONTAINER_OF(ofi->batches.next, struct cohort__ofi_send, operation.link);
        any |= cohort__ofi_batch_send(ofi, batch->peer) == COHORT__NET_SENT;
    }
    return any;
}

bool cohort__ofi_batches_end(struct cohort__ofi *ofi)
{
    for (struct cohort__list *link = ofi->all_peers.next; link != &ofi->all_peers;
         link = link->next)
        cohort__ofi_batch_send(ofi, COHORT_CONTAINER_OF(link, struct cohort__ofi_peer, link));
    return ofi->num_batches == 0;
}

/* SEND is the first message of a batch. */
static void begin_batch(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer,
                        struct cohort__ofi_send *send)
{
    peer->batch = send;
    ofi->num_batches++;
    send->since = cohort__clock_now();
    cohort__list_push_back(&ofi->batches, &send->operation.link);
    cohort__ofi_wake(ofi);
    if (!cohort__loop_has_ready_tasks())
        cohort__loop_turn_next();
}

/* PEER has no batch. */
static enum cohort__net_sent send_new(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer,
                                      const struct iovec *parts, int num_parts, bool may_wait)
{
    struct cohort__ofi_send *send = send_take(ofi);
    if (!send)
        return cohort__ofi_peer_wait(ofi, peer);
    send->peer = peer;
    cohort__packet_init(&send->packet, send->data, sizeof send->data);
    if (!cohort__packet_add(&send->packet, parts, num_parts)) {
        send_give(ofi, send);
        return COHORT__NET_DEAD; /* it is too long */
    }
    if (may_wait) {
        begin_batch(ofi, peer, send);
        return COHORT__NET_SENT;
    }
    int error = start(ofi, peer, send);
    if (!error)
        return COHORT__NET_SENT;
    send_give(ofi, send);
    return cohort__ofi_peer_refused(ofi, peer, error);
}

/* Messages keep their order: one that doesn't go into the batch leaves after it. */
static enum cohort__net_sent send_to(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer,
                                     const struct iovec *parts, int num_parts)
{
    bool may_join = is_short(parts, num_parts), may_wait = may_join && waits(ofi, peer);
    bool has_joined =
        may_join && peer->batch && cohort__packet_add(&peer->batch->packet, parts, num_parts);
    if (has_joined && may_wait)
        return COHORT__NET_SENT;
    enum cohort__net_sent sent = cohort__ofi_batch_send(ofi, peer);
    if (has_joined)
        return COHORT__NET_SENT; /* or lost with its peer, or tried again later */
    return sent == COHORT__NET_SENT ? send_new(ofi, peer, parts, num_parts, may_wait) : sent;
}

enum cohort__net_sent cohort__ofi_send(struct cohort__net *net, uint32_t number,
                                       const struct iovec *parts, int num_parts)
{
    struct cohort__ofi *ofi = (struct cohort__ofi *)net;
    pthread_mutex_lock(&ofi->lock);
    struct cohort__ofi_peer *peer = cohort__ofi_peer_get(ofi, number);
    enum cohort__net_sent sent =
        peer ? send_to(ofi, peer, parts, num_parts) : cohort__ofi_peer_missing(ofi, number);
    pthread_mutex_unlock(&ofi->lock);
    return sent;
}

void cohort__ofi_send_done(struct cohort__ofi *ofi, struct cohort__ofi_send *send,
                           const char *error)
{
    pthread_mutex_lock(&ofi->lock);
    /* ofi_rxm lets an outsider's message decide which of its sends has ended. It may name a send
     * that is not under way, perhaps a batch. */
    bool is_ours = send->peer && send->peer->batch != send;
    if (is_ours && error && send->is_hello)
        cohort__ofi_hello_failed(ofi, send->peer, error);
    else if (is_ours && error)
        cohort__ofi_peer_lose(ofi, send->peer, error);
    if (is_ours) {
        send->peer->num_sending--;
        cohort__list_remove(&send->operation.link);
        send_give(ofi, send);
    }
    pthread_mutex_unlock(&ofi->lock);
    if (!is_ours)
        cohort__log(COHORT__LOG_WARN, "net: a send has ended that was not under way: %s",
                    error ? error : "well");
}

static void send_free(struct cohort__ofi_send *send)
{
    if (send->mr)
        fi_close(&send->mr->fid);
    free(send);
}

void cohort__ofi_sends_fini(struct cohort__ofi *ofi)
{
    struct cohort__list *node;
    for (struct cohort__list *link = ofi->all_peers.next; link != &ofi->all_peers;
         link = link->next)
        cohort__ofi_batch_drop(ofi, COHORT_CONTAINER_OF(link, struct cohort__ofi_peer, link));
    cohort__list_splice_back(&ofi->sends, &ofi->sending);
    while ((node = cohort__list_pop_front(&ofi->sends)))
        send_free(COHORT_CONTAINER_OF(node, struct cohort__ofi_send, operation.link));
}
