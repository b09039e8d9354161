/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/fetch.h"

#include "runtime/base/container.h"
#include "runtime/base/trace.h"
#include "runtime/proc/peer.h"
#include "runtime/proc/send.h"

/* Under the peer's lock: whether FETCH has failed because PEER can't be reached, while PEER is not
 * known to be dead yet. */
static bool is_lost(const struct cohort__peer *peer, const struct cohort__fetch *fetch)
{
    return fetch->in_flight == 0 && fetch->status == COHORT_ERR_PEER_DIED && !peer->dead;
}

/* Under the peer's lock: keeps FETCH until it is tried again. */
static void keep(struct cohort__peer *peer, struct cohort__fetch *fetch)
{
    if (cohort__list_is_empty(&fetch->waiting))
        cohort__list_push_back(&peer->fetches, &fetch->waiting);
}

/* Under the peer's lock: requests as many pieces as may be in flight. */
static void request(struct cohort__process *process, struct cohort__peer *peer,
                    struct cohort__fetch *fetch)
{
    const struct cohort__net *half = cohort__net_half_to(process->net, peer->rank);
    if (!fetch->status && !half)
        fetch->status = COHORT_ERR_PEER_DIED;
    while (!fetch->status && fetch->requested < fetch->bytes &&
           fetch->in_flight < half->max_fetches) {
        size_t bytes = fetch->bytes - fetch->requested;
        if (bytes > half->max_fetch)
            bytes = half->max_fetch;
        switch (cohort__net_fetch(process->net, peer->rank, &fetch->token, fetch->requested,
                                  (unsigned char *)fetch->destination + fetch->requested, bytes,
                                  fetch)) {
        case COHORT__NET_SENT:
            fetch->requested += bytes;
            fetch->in_flight++;
            break;
        case COHORT__NET_AGAIN:
            keep(peer, fetch);
            return;
        case COHORT__NET_DEAD:
            fetch->status = COHORT_ERR_PEER_DIED;
            break;
        case COHORT__NET_NO_MEMORY:
            fetch->status = COHORT_ERR_NO_MEMORY;
            break;
        }
    }
    if (is_lost(peer, fetch))
        keep(peer, fetch);
}

/* Under the peer's lock: whether no piece of FETCH is in flight or still to be requested. */
static bool is_over(const struct cohort__peer *peer, const struct cohort__fetch *fetch)
{
    return fetch->in_flight == 0 && (fetch->status || fetch->requested == fetch->bytes) &&
           !is_lost(peer, fetch);
}

/* Tells the announcer that its block is its own again. DECLINED: it was not fetched, or not all of
 * it. */
static void tell(struct cohort__process *process, uint32_t rank, uint64_t handle, bool declined)
{
    const struct cohort__envelope envelope = {
        .kind = COHORT__KIND_FETCHED, .handle = handle, .tag = declined};
    if (declined)
        cohort__death_send(process, rank, &envelope);
    else
        cohort__send_control(process, rank, &envelope, NULL, 0);
}

/* Perhaps only this fetch has noticed that RANK can't be reached. */
static void tell_lost(struct cohort__process *process, uint32_t rank)
{
    cohort__process_peer_lost(process, rank, "can't be reached");
}

static void finish(struct cohort__fetch *fetch)
{
    struct cohort__process *process = fetch->process;
    tell(process, fetch->rank, fetch->handle, fetch->status != COHORT_OK);
    if (fetch->status == COHORT_OK) {
        cohort__trace_count(COHORT__COUNTER_FETCHES, 1);
        cohort__trace_count(COHORT__COUNTER_BYTES_FETCHED, fetch->bytes);
    }
    if (fetch->status == COHORT_ERR_PEER_DIED)
        cohort__process_check_dead(process, fetch->rank); /* sets the message */
    else if (fetch->status)
        cohort_fail(fetch->status, "fetching %zu bytes from locality %u: %s", fetch->bytes,
                    fetch->rank,
                    fetch->status == COHORT_ERR_PROTOCOL ? "they are not there any more"
                                                         : cohort_status_text(fetch->status));
    atomic_fetch_sub(&process->under_way, 1);
    fetch->done(fetch, fetch->status);
}

void cohort__fetch_decline(struct cohort__process *process, uint32_t rank, uint64_t handle)
{
    tell(process, rank, handle, true);
}

void cohort__fetch_start(struct cohort__process *process, struct cohort__fetch *fetch)
{
    struct cohort__peer *peer = cohort__peer_get(process, fetch->rank);
    atomic_fetch_add(&process->under_way, 1);
    fetch->process = process;
    fetch->requested = 0;
    fetch->in_flight = 0;
    fetch->status = peer ? COHORT_OK : COHORT_ERR_NO_MEMORY;
    cohort__list_init(&fetch->waiting);
    bool over = true, lost = false;
    uint32_t rank = fetch->rank;
    if (peer) {
        pthread_mutex_lock(&peer->lock);
        if (peer->dead)
            fetch->status = COHORT_ERR_PEER_DIED;
        request(process, peer, fetch);
        over = is_over(peer, fetch);
        lost = is_lost(peer, fetch);
        pthread_mutex_unlock(&peer->lock);
    }
    if (over)
        finish(fetch);
    else if (lost)
        tell_lost(process, rank);
}

void cohort__fetch_stop(struct cohort__fetch *fetch)
{
    struct cohort__peer *peer = cohort__peer_get(fetch->process, fetch->rank);
    pthread_mutex_lock(&peer->lock);
    bool was_over = is_over(peer, fetch); /* then `done` is about to be called already */
    if (is_lost(peer, fetch) || (!fetch->status && fetch->requested < fetch->bytes))
        fetch->status = COHORT_ERR_CANCELLED;
    if (!was_over) /* else it may be in the list of the thread that ends it */
        cohort__list_remove(&fetch->waiting);
    bool over = !was_over && is_over(peer, fetch);
    pthread_mutex_unlock(&peer->lock);
    if (over)
        finish(fetch);
}

void cohort__fetch_piece_done(struct cohort__fetch *fetch, cohort_status status)
{
    struct cohort__process *process = fetch->process;
    struct cohort__peer *peer = cohort__peer_get(process, fetch->rank);
    pthread_mutex_lock(&peer->lock);
    fetch->in_flight--;
    if (status && !fetch->status)
        fetch->status = peer->dead ? COHORT_ERR_PEER_DIED : status;
    request(process, peer, fetch);
    bool over = is_over(peer, fetch);
    bool lost = is_lost(peer, fetch);
    if (over)
        cohort__list_remove(&fetch->waiting);
    pthread_mutex_unlock(&peer->lock);
    if (over)
        finish(fetch);
    else if (lost)
        tell_lost(process, peer->rank);
}

/* Takes all waiting fetches and tries them once more. Those that are over end. */
static void retry(struct cohort__process *process, struct cohort__peer *peer, cohort_status status)
{
    struct cohort__list waiting, over;
    cohort__list_init(&waiting);
    cohort__list_init(&over);
    pthread_mutex_lock(&peer->lock);
    cohort__list_splice_back(&waiting, &peer->fetches);
    struct cohort__list *node;
    bool lost = false;
    while ((node = cohort__list_pop_front(&waiting))) {
        struct cohort__fetch *fetch = COHORT_CONTAINER_OF(node, struct cohort__fetch, waiting);
        if (status && (!fetch->status || is_lost(peer, fetch)))
            fetch->status = status;
        request(process, peer, fetch);
        lost |= is_lost(peer, fetch);
        if (is_over(peer, fetch))
            cohort__list_push_back(&over, node);
    }
    pthread_mutex_unlock(&peer->lock);
    while ((node = cohort__list_pop_front(&over)))
        finish(COHORT_CONTAINER_OF(node, struct cohort__fetch, waiting));
    if (lost)
        tell_lost(process, peer->rank);
}

void cohort__fetch_writable(struct cohort__process *process, struct cohort__peer *peer)
{
    retry(process, peer, COHORT_OK);
}

void cohort__fetch_end_waiting(struct cohort__process *process, struct cohort__peer *peer,
                               cohort_status status)
{
    retry(process, peer, status);
}
