/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/send.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/log.h"
#include "runtime/base/slab.h"
#include "runtime/base/trace.h"
#include "runtime/proc/peer.h"

/* Sending messages, and the sender's half of flow control, which has two parts.
 *
 * First, eager payload takes budget of the peer. The peer gives the budget back as credit in its
 * messages, once the payload is consumed. A payload for which there is no budget, or that is too
 * long, is announced. So nothing here ever waits for budget.
 *
 * Second, the number of messages that the peer has not drained is limited by a window, since each
 * message may occupy a buffer at the peer's transport, however small it is. Messages beyond the
 * window stay pending here. The peer's router counts the messages that it drains, without those
 * that have overtaken one that is missing. It reports the count in its next message to us once it
 * is an eighth of a window, or in a CREDIT message once it is half a window. This can't deadlock: a
 * router drains without waiting for anything, whatever else is pending or parked, and a CREDIT
 * neither counts for the window nor waits in the pending list. So a full window opens as soon as
 * the peer runs its event loop. Then announcements, FETCHED and ASK, which wait in the list like
 * all others, get their turn. CREDITs are few: the next one is sent after another half window of
 * drained messages, and at most one window of messages can come before the last CREDIT has arrived.
 */

/* The part of a budget or a window (an eighth) that is worth reporting to the peer. */
enum { LITTLE = 8 };

/* A control message, followed by its payload. */
struct control {
    struct cohort__send send;
    struct cohort__process *process;
    uint32_t rank;
    unsigned char payload[];
};

/* All localities compute the same window. In the worst case all peers have filled it: 64 MiB in
 * buffers of 16 KiB. */
uint32_t cohort__send_window(uint32_t size)
{
    enum { MESSAGES = 4096, MIN = 64, MAX = 2 * (COHORT__ENVELOPE_MAX_DRAINED / 2 + 1) };
    uint32_t window = MESSAGES / size;
    return window < MIN ? MIN : window > MAX ? MAX : window;
}

/* How many consumed bytes the peer has not been told of yet. Without its lock, the true number may
 * already be smaller. */
static size_t owed_to(const struct cohort__peer *peer)
{
    size_t told = atomic_load_explicit(&peer->consumed_told, memory_order_acquire);
    return atomic_load(&peer->consumed) + atomic_load(&peer->consumed_in_router) - told;
}

static uint32_t drained_of(const struct cohort__peer *peer)
{
    uint32_t told = atomic_load_explicit(&peer->drained_told, memory_order_acquire);
    return atomic_load_explicit(&peer->drained, memory_order_acquire) - told;
}

/* Fills in as much as the fields can hold. But it fills in nothing if there is little and the peer
 * has not asked, since processing the credit costs the peer more than the message itself. */
static void credit_fill(const struct cohort__process *process, const struct cohort__peer *peer,
                        struct cohort__envelope *envelope)
{
    size_t owed = owed_to(peer);
    uint32_t drained = drained_of(peer);
    envelope->credit = 0;
    envelope->drained = 0;
    if (owed < process->options.eager_budget / LITTLE && drained < process->window / LITTLE &&
        !peer->is_asked)
        return;
    envelope->credit =
        owed < COHORT__ENVELOPE_MAX_CREDIT ? (uint32_t)owed : COHORT__ENVELOPE_MAX_CREDIT;
    envelope->drained =
        drained < COHORT__ENVELOPE_MAX_DRAINED ? drained : COHORT__ENVELOPE_MAX_DRAINED;
}

/* The peer has been told what is in ENVELOPE. Here and below, atomics are changed only under the
 * lock, so no atomic addition is needed. */
static void credit_told(struct cohort__peer *peer, const struct cohort__envelope *envelope)
{
    size_t consumed = atomic_load_explicit(&peer->consumed_told, memory_order_relaxed);
    uint32_t drained = atomic_load_explicit(&peer->drained_told, memory_order_relaxed);
    atomic_store_explicit(&peer->consumed_told, consumed + envelope->credit, memory_order_release);
    atomic_store_explicit(&peer->drained_told, drained + envelope->drained, memory_order_release);
}

static void count_sent(struct cohort__peer *peer, bool is_undone)
{
    uint64_t sent = atomic_load_explicit(&peer->sent, memory_order_relaxed);
    atomic_store_explicit(&peer->sent, is_undone ? sent - 1 : sent + 1, memory_order_release);
}

/* Whether COHORT_FAULT lets the next message to PEER go. If not, the connection is dropped as a
 * transport would do it, so all later messages find it lost by themselves. A CREDIT is no message
 * here: when it comes depends on time. Under the peer's lock. */
static __attribute__((noinline, cold)) bool fault_lets_send(struct cohort__process *process,
                                                            struct cohort__peer *peer, bool counts)
{
    if (!counts || peer->is_dropped)
        return true; /* after a drop the transport refuses by itself */
    uint64_t of_link = atomic_load(&peer->sent) + 1, of_all = 1;
    for (uint32_t rank = 0; rank < process->options.size; rank++) {
        struct cohort__peer *other = atomic_load(&process->peers[rank]);
        of_all += other ? atomic_load(&other->sent) : 0;
    }
    if (cohort__fault_lets_send(process->options.fault, peer->rank, of_all, of_link))
        return true;
    cohort__log(COHORT__LOG_INFO,
                "locality %u: COHORT_FAULT drops its connection to locality %u at message %llu",
                (unsigned)process->options.rank, (unsigned)peer->rank, (unsigned long long)of_link);
    peer->is_dropped = true;
    cohort__net_remove_peer(process->net, peer->rank);
    return false;
}

/* Under the peer's lock: sends ENVELOPE, whose fields about the two localities and the payload are
 * still to be filled in, and BYTES at PAYLOAD. */
static enum cohort__net_sent transmit(struct cohort__process *process, struct cohort__peer *peer,
                                      struct cohort__envelope *envelope, const void *payload,
                                      size_t bytes)
{
    bool counts = envelope->kind != COHORT__KIND_CREDIT;
    if (counts && peer->undrained >= process->window)
        return COHORT__NET_AGAIN; /* cohort__send_credited tries again */
    if (process->options.fault && !fault_lets_send(process, peer, counts))
        return COHORT__NET_DEAD;
    unsigned char header[COHORT__ENVELOPE_BYTES];
    struct iovec parts[2] = {{header, sizeof(header)}, {(void *)payload, bytes}};
    envelope->source_locality = process->options.rank;
    envelope->job_key = process->options.job_key;
    envelope->epoch = process->options.epoch;
    envelope->incarnation = COHORT__INCARNATION;
    envelope->number = peer->next_number;
    envelope->payload_bytes = (uint32_t)bytes;
    credit_fill(process, peer, envelope);
    cohort__envelope_encode(envelope, header);
    /* Counted before the peer can count it, so that the drain never sees more messages received
     * than sent. */
    if (counts)
        count_sent(peer, false);
    uint64_t at =
        cohort__trace_is_on ? cohort__trace_now() : 0; /* it may come before this returns */
    enum cohort__net_sent sent = cohort__net_send(process->net, peer->rank, parts, bytes ? 2 : 1);
    if (sent == COHORT__NET_SENT) {
        if (envelope->credit > 0 || envelope->drained > 0)
            credit_told(peer, envelope);
        peer->is_asked = false;
        peer->undrained += counts;
        peer->next_number++;
        if (__builtin_expect(at != 0, 0))
            cohort__trace_write_more(at, COHORT__TRACE_SENT | (uint32_t)envelope->kind << 8,
                                     peer->rank, envelope->number, bytes, envelope->generation, 0);
    } else if (counts) {
        count_sent(peer, true);
    }
    return sent;
}

/* Sends the fragments that have not been sent. */
static enum cohort__net_sent transmit_fragments(struct cohort__process *process,
                                                struct cohort__peer *peer,
                                                struct cohort__send *send)
{
    const size_t most = cohort__peer_max_payload(process, peer);
    enum cohort__net_sent sent = COHORT__NET_SENT;
    while (sent == COHORT__NET_SENT && send->sent < send->bytes) {
        size_t rest = send->bytes - send->sent, bytes = rest < most ? rest : most;
        send->envelope.offset = (uint32_t)send->sent;
        sent = transmit(process, peer, &send->envelope,
                        (const unsigned char *)send->payload + send->sent, bytes);
        if (sent == COHORT__NET_SENT)
            send->sent += bytes;
    }
    return sent;
}

/* Under the peer's lock, after prepare. */
static enum cohort__net_sent transmit_send(struct cohort__process *process,
                                           struct cohort__peer *peer, struct cohort__send *send)
{
    if (send->envelope.kind == COHORT__KIND_ANNOUNCE)
        return transmit(process, peer, &send->envelope, send->token.bytes,
                        sizeof(send->token.bytes));
    if (send->envelope.kind == COHORT__KIND_FRAGMENT)
        return transmit_fragments(process, peer, send);
    return transmit(process, peer, &send->envelope, send->payload, send->bytes);
}

/* Ends a send that was kept. */
static void finish(struct cohort__process *process, struct cohort__send *send, cohort_status status)
{
    atomic_fetch_sub(&process->under_way, 1);
    send->done(send, status);
}

static bool is_eager(const struct cohort__process *process, const struct cohort__peer *peer,
                     const struct cohort__send *send)
{
    const size_t bytes = send->bytes;
    const struct cohort__net *half = cohort__net_half_to(process->net, peer->rank);
    return cohort__eager_bytes(&send->envelope, bytes) <= peer->budget &&
           (bytes <= cohort__peer_max_payload(process, peer) ||
            (half && bytes <= half->max_in_fragments));
}

/* SEND takes budget. */
static void prepare_eager(struct cohort__process *process, struct cohort__peer *peer,
                          struct cohort__send *send)
{
    peer->budget -= cohort__eager_bytes(&send->envelope, send->bytes);
    if (send->bytes <= cohort__peer_max_payload(process, peer))
        return;
    send->envelope.kind = COHORT__KIND_FRAGMENT;
    send->envelope.total_bytes = send->bytes;
    send->envelope.handle = atomic_fetch_add(&process->next_handle, 1);
}

/* Lets the peer fetch the payload of SEND. If there is none, the peer just says when it has come so
 * far. */
static cohort_status expose(struct cohort__process *process, const struct cohort__peer *peer,
                            struct cohort__send *send)
{
    send->token = (struct cohort__net_token){{0}};
    return send->bytes == 0 ? COHORT_OK
                            : cohort__net_expose(process->net, peer->rank, send->payload,
                                                 send->bytes, &send->region, &send->token);
}

/* The peer cannot fetch it any more. */
static void withdraw(struct cohort__process *process, const struct cohort__peer *peer,
                     const struct cohort__send *send)
{
    if (send->region)
        cohort__net_withdraw(process->net, peer->rank, send->region);
}

/* Decides between eager and announced, once for each send. Under the peer's lock. */
static cohort_status prepare(struct cohort__process *process, struct cohort__peer *peer,
                             struct cohort__send *send)
{
    size_t most = cohort__peer_max_payload(process, peer);
    if (send->envelope.kind != COHORT__KIND_DATA && send->bytes > most)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s with %zu bytes is no message; %zu are possible",
                           cohort__kind_name(send->envelope.kind), send->bytes, most);
    if (send->envelope.kind != COHORT__KIND_DATA)
        return COHORT_OK;
    if (is_eager(process, peer, send)) {
        prepare_eager(process, peer, send);
        return COHORT_OK;
    }
    cohort_status status = expose(process, peer, send);
    if (status)
        return status;
    send->envelope.kind = COHORT__KIND_ANNOUNCE;
    send->envelope.total_bytes = send->bytes;
    send->envelope.handle = atomic_fetch_add(&process->next_handle, 1);
    cohort__map_insert(&peer->announced, &send->announced, cohort__hash_u64(send->envelope.handle));
    return COHORT_OK;
}

/* Under the peer's lock. True: SEND is done, with COHORT_OK. False: it is kept, and counts as under
 * way. */
static bool try_transmit(struct cohort__process *process, struct cohort__peer *peer,
                         struct cohort__send *send, enum cohort__net_sent *ret_sent)
{
    bool waits_for_others = !cohort__list_is_empty(&peer->pending);
    enum cohort__net_sent sent =
        waits_for_others ? COHORT__NET_AGAIN : transmit_send(process, peer, send);
    if (sent == COHORT__NET_SENT && send->envelope.kind != COHORT__KIND_ANNOUNCE)
        return true;
    atomic_fetch_add(&process->under_way, 1);
    if (sent != COHORT__NET_SENT)
        cohort__list_push_back(&peer->pending, &send->pending);
    *ret_sent = sent;
    return false;
}

void cohort__send_refused(struct cohort__process *process, uint32_t rank,
                          enum cohort__net_sent sent)
{
    if (sent == COHORT__NET_DEAD)
        cohort__process_peer_lost(process, rank, "can't be reached");
    else if (sent == COHORT__NET_NO_MEMORY)
        cohort__process_give_up(process, rank, "can't be reached: out of memory here");
}

void cohort__send_start(struct cohort__process *process, uint32_t rank, struct cohort__send *send)
{
    struct cohort__peer *peer = cohort__peer_get(process, rank);
    send->region = NULL;
    send->declined = false;
    send->sent = 0;
    send->is_inline = true;
    cohort__list_init(&send->pending);
    if (!peer) {
        send->done(send, cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for locality %u", rank));
        return;
    }
    cohort_status status = COHORT_OK;
    bool is_done = false;
    enum cohort__net_sent sent = COHORT__NET_SENT;
    pthread_mutex_lock(&peer->lock);
    if (peer->dead)
        status = cohort_fail(COHORT_ERR_PEER_DIED, "locality %u %s", rank, peer->death.why);
    else if (atomic_load_explicit(&process->stopped, memory_order_relaxed))
        status = cohort_fail(COHORT_ERR_CANCELLED, "the job is over");
    else
        status = prepare(process, peer, send);
    if (!status)
        is_done = try_transmit(process, peer, send, &sent);
    if (!status && !is_done)
        send->is_inline = false;
    pthread_mutex_unlock(&peer->lock);
    if (status || is_done)
        send->done(send, status);
    cohort__send_refused(process, rank, sent);
}

/* Under the peer's lock. */
static bool try_eagerly(struct cohort__process *process, struct cohort__peer *peer,
                        struct cohort__envelope *envelope, const void *payload, size_t bytes)
{
    const size_t eager = cohort__eager_bytes(envelope, bytes);
    if (peer->dead || atomic_load_explicit(&process->stopped, memory_order_relaxed) ||
        !cohort__list_is_empty(&peer->pending) || eager > peer->budget ||
        bytes > cohort__peer_max_payload(process, peer) ||
        transmit(process, peer, envelope, payload, bytes) != COHORT__NET_SENT)
        return false;
    peer->budget -= eager;
    return true;
}

bool cohort__send_try(struct cohort__process *process, uint32_t rank,
                      struct cohort__envelope *envelope, const void *payload, size_t bytes)
{
    struct cohort__peer *peer = cohort__peer_get(process, rank);
    if (!peer)
        return false;
    pthread_mutex_lock(&peer->lock);
    bool is_sent = try_eagerly(process, peer, envelope, payload, bytes);
    pthread_mutex_unlock(&peer->lock);
    return is_sent;
}

uint64_t cohort__send_handle(const struct cohort__send *send)
{
    return send->envelope.kind == COHORT__KIND_ANNOUNCE ? send->envelope.handle : 0;
}

/* Errors other than the peer's death and the job's end, which are reported elsewhere, make the peer
 * count as dead. */
static void control_done(struct cohort__send *send, cohort_status status)
{
    struct control *control = COHORT_CONTAINER_OF(send, struct control, send);
    if (status && status != COHORT_ERR_PEER_DIED && status != COHORT_ERR_CANCELLED) {
        char why[600];
        snprintf(why, sizeof(why), "can't be told: %s", cohort_error_message());
        cohort__process_give_up(control->process, control->rank, why);
    }
    cohort__slab_free(control);
}

void cohort__send_control(struct cohort__process *process, uint32_t rank,
                          const struct cohort__envelope *envelope, const void *payload,
                          size_t bytes)
{
    struct control *control = cohort__slab_alloc(sizeof(*control) + bytes);
    if (!control) {
        cohort__process_give_up(process, rank, "can't be told: out of memory here");
        return;
    }
    if (bytes > 0)
        memcpy(control->payload, payload, bytes);
    control->process = process;
    control->rank = rank;
    control->send = (struct cohort__send){
        .envelope = *envelope, .payload = control->payload, .bytes = bytes, .done = control_done};
    cohort__send_start(process, rank, &control->send);
}

static bool is_credit_due(const struct cohort__process *process, const struct cohort__peer *peer)
{
    return drained_of(peer) >= process->window / 2 ||
           owed_to(peer) >= (process->options.eager_budget + 1) / 2;
}

/* Under the peer's lock. AGAIN: the transport will call `writable`. */
static enum cohort__net_sent transmit_credit(struct cohort__process *process,
                                             struct cohort__peer *peer)
{
    enum cohort__net_sent sent = COHORT__NET_SENT;
    while (sent == COHORT__NET_SENT && (peer->is_asked || is_credit_due(process, peer)) &&
           !peer->dead && !atomic_load_explicit(&process->stopped, memory_order_relaxed)) {
        struct cohort__envelope credit = {.kind = COHORT__KIND_CREDIT};
        sent = transmit(process, peer, &credit, NULL, 0);
    }
    return sent;
}

static __attribute__((noinline)) void send_credit(struct cohort__process *process,
                                                  struct cohort__peer *peer)
{
    pthread_mutex_lock(&peer->lock);
    enum cohort__net_sent sent = transmit_credit(process, peer);
    pthread_mutex_unlock(&peer->lock);
    cohort__send_refused(process, peer->rank, sent);
}

void cohort__send_credit(struct cohort__process *process, struct cohort__peer *peer)
{
    if (is_credit_due(process, peer))
        send_credit(process, peer);
}

void cohort__send_asked(struct cohort__process *process, struct cohort__peer *peer)
{
    pthread_mutex_lock(&peer->lock);
    peer->is_asked = true;
    pthread_mutex_unlock(&peer->lock);
    send_credit(process, peer);
}

enum cohort__net_sent cohort__send_ask(struct cohort__process *process, struct cohort__peer *peer)
{
    struct cohort__envelope question = {.kind = COHORT__KIND_CREDIT, .tag = 1};
    return transmit(process, peer, &question, NULL, 0);
}

/* Under the peer's lock: sends the oldest pending message, or returns why it can't. A message that
 * is sent is done and becomes *RET_DONE, except an announcement, which still waits for its
 * answer. */
static enum cohort__net_sent transmit_pending(struct cohort__process *process,
                                              struct cohort__peer *peer,
                                              struct cohort__send **ret_done)
{
    struct cohort__list *node = peer->pending.next;
    struct cohort__send *send = COHORT_CONTAINER_OF(node, struct cohort__send, pending);
    enum cohort__net_sent sent = transmit_send(process, peer, send);
    if (sent != COHORT__NET_SENT)
        return sent;
    cohort__list_remove(node);
    if (send->envelope.kind != COHORT__KIND_ANNOUNCE)
        *ret_done = send;
    return sent;
}

void cohort__send_writable(struct cohort__process *process, struct cohort__peer *peer)
{
    enum cohort__net_sent sent = COHORT__NET_SENT;
    bool is_empty = false;
    while (sent == COHORT__NET_SENT && !is_empty) {
        struct cohort__send *done = NULL;
        pthread_mutex_lock(&peer->lock);
        sent = transmit_credit(process, peer);
        is_empty = cohort__list_is_empty(&peer->pending);
        if (sent == COHORT__NET_SENT && !is_empty)
            sent = transmit_pending(process, peer, &done);
        pthread_mutex_unlock(&peer->lock);
        if (done)
            finish(process, done, COHORT_OK);
    }
    cohort__send_refused(process, peer->rank, sent);
}

void cohort__send_credited(struct cohort__process *process, struct cohort__peer *peer,
                           size_t credit, uint32_t drained)
{
    pthread_mutex_lock(&peer->lock);
    size_t room = process->options.eager_budget - peer->budget;
    peer->budget += credit < room ? credit : room;
    bool was_full = peer->undrained >= process->window;
    peer->undrained -= drained < peer->undrained ? drained : peer->undrained;
    bool may_go = was_full && drained > 0 && !cohort__list_is_empty(&peer->pending);
    pthread_mutex_unlock(&peer->lock);
    if (may_go)
        cohort__send_writable(process, peer);
}

void cohort__send_fetched(struct cohort__process *process, struct cohort__peer *peer,
                          uint64_t handle, bool declined)
{
    pthread_mutex_lock(&peer->lock);
    struct cohort__map_node *node =
        cohort__map_find(&peer->announced, cohort__hash_u64(handle), NULL, NULL);
    if (node) {
        cohort__map_remove(&peer->announced, node);
        /* It is in this list only if the peer answers an announcement that was never sent. */
        cohort__list_remove(&COHORT_CONTAINER_OF(node, struct cohort__send, announced)->pending);
    }
    pthread_mutex_unlock(&peer->lock);
    if (!node)
        return; /* it was not ours, or it has ended already */
    struct cohort__send *send = COHORT_CONTAINER_OF(node, struct cohort__send, announced);
    withdraw(process, peer, send);
    send->declined = declined;
    finish(process, send, COHORT_OK);
}

/* One that is kept for PEER, and is not any more. NULL: there is none. */
static struct cohort__send *take_kept(struct cohort__peer *peer)
{
    struct cohort__send *send = NULL;
    pthread_mutex_lock(&peer->lock);
    struct cohort__list *node = cohort__list_pop_front(&peer->pending);
    struct cohort__map_node *mapped = node ? NULL : cohort__map_some(&peer->announced);
    if (node)
        send = COHORT_CONTAINER_OF(node, struct cohort__send, pending);
    else if (mapped)
        send = COHORT_CONTAINER_OF(mapped, struct cohort__send, announced);
    if (send && send->envelope.kind == COHORT__KIND_ANNOUNCE)
        cohort__map_remove(&peer->announced, &send->announced);
    pthread_mutex_unlock(&peer->lock);
    return send;
}

bool cohort__send_end_some(struct cohort__process *process, struct cohort__peer *peer,
                           cohort_status status)
{
    for (int i = 0; i < COHORT__SENDS_OF_A_TURN; i++) {
        struct cohort__send *send = take_kept(peer);
        if (!send)
            return false;
        withdraw(process, peer, send);
        if (status == COHORT_ERR_PEER_DIED)
            cohort__process_check_dead(process, peer->rank); /* sets the message */
        else
            cohort_fail(status, "the job is over");
        finish(process, send, status);
    }
    return true;
}

void cohort__send_give_back(struct cohort__process *process, struct cohort__peer *peer,
                            size_t bytes, bool was_kept)
{
    if (was_kept) {
        atomic_fetch_add(&peer->consumed, bytes);
        cohort__send_credit(process, peer);
    } else { /* the router checks afterwards whether credit is due */
        size_t consumed = atomic_load_explicit(&peer->consumed_in_router, memory_order_relaxed);
        atomic_store_explicit(&peer->consumed_in_router, consumed + bytes, memory_order_release);
    }
}
