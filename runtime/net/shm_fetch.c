/* SPDX-License-Identifier: Apache-2.0 */
/* Reading blocks of peers: by process_vm_readv, or by a request. The owner answers requests with
 * pieces through the bulk ring, in the order of the requests. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "runtime/base/container.h"
#include "runtime/base/copy.h"
#include "runtime/base/slab.h"
#include "runtime/net/shm_end.h"

/* Fetching ------------------------------------------------------------------------------------ */

/* Maps the bulk ring when it is first needed. The ring is made empty before the peer writes into
 * it. */
static bool bulk_open(struct cohort__shm_peer *peer)
{
    struct cohort__shm *shm = peer->shm;
    if (peer->bulk_reader.ring)
        return true;
    void *memory = cohort__shm_bulk_map(shm, peer->slot, shm->slot);
    if (!memory) {
        cohort__shm_peer_lose(peer, "no memory to fetch from it");
        return false;
    }
    cohort__ring_clear(memory);
    cohort__ring_reader_init(&peer->bulk_reader, memory, cohort__shm_bulk_bytes(shm->hub->size));
    uint32_t num = atomic_load(&shm->num_sources);
    shm->sources[num] = peer;
    atomic_store(&shm->num_sources, num + 1);
    return true;
}

/* False: there is no room for the request, or PEER is lost. */
static bool ask(struct cohort__shm_peer *peer, struct cohort__shm_fetch *fetch)
{
    if (!bulk_open(peer))
        return false;
    struct cohort__shm_request request = fetch->request;
    request.offset += fetch->done;
    request.bytes -= fetch->done;
    struct iovec part = {&request, sizeof(request)};
    atomic_fetch_add(&peer->shm->num_requested, 1); /* before the answer can come */
    if (!cohort__shm_write(peer, COHORT__SHM_REQUEST, &part, 1)) {
        atomic_fetch_sub(&peer->shm->num_requested, 1);
        return false;
    }
    cohort__list_remove(&fetch->link);
    cohort__list_push_back(&peer->fetches, &fetch->link);
    fetch->is_requested = true;
    return true;
}

enum cohort__net_sent cohort__shm_fetch(struct cohort__net *net, uint32_t number,
                                        const struct cohort__net_token *from, size_t offset,
                                        void *destination, size_t bytes, void *cookie)
{
    struct cohort__shm *shm = (struct cohort__shm *)net;
    struct cohort__shm_fetch *fetch = cohort__slab_alloc(sizeof(*fetch));
    struct cohort__shm_place place;
    memcpy(&place, from->bytes, sizeof(place));
    bool is_inside = offset <= place.bytes && bytes <= place.bytes - offset &&
                     bytes <= COHORT__SHM_MAX_FETCH && bytes > 0;
    enum cohort__net_sent sent = COHORT__NET_SENT;
    bool was_asked = false;
    pthread_mutex_lock(&shm->lock);
    struct cohort__shm_peer *peer = cohort__shm_peer_get(shm, number);
    if (!peer) {
        sent = cohort__shm_peer_missing(shm, number);
    } else if (!fetch) {
        peer->is_blocked = true;
        cohort__shm_defer(peer);
        sent = COHORT__NET_AGAIN;
    } else {
        *fetch = (struct cohort__shm_fetch){
            .request = {place.region, offset, bytes},
            .address = place.address + offset,
            .destination = destination,
            .cookie = cookie,
            .status = is_inside ? COHORT_OK : COHORT_ERR_PROTOCOL,
        };
        cohort__list_init(&fetch->link);
        bool reads = is_inside && shm->copy == COHORT__SHM_DIRECT && peer->may_read;
        was_asked =
            is_inside && !reads && cohort__list_is_empty(&peer->unasked) && ask(peer, fetch);
        if (!is_inside) /* in front, as it needs no room in the ring */
            cohort__list_push_front(&peer->unasked, &fetch->link);
        else if (!was_asked)
            cohort__list_push_back(reads ? &peer->reads : &peer->unasked, &fetch->link);
        if (!was_asked)
            cohort__shm_defer(peer);
        fetch = NULL;
    }
    pthread_mutex_unlock(&shm->lock);
    cohort__slab_free(fetch);
    cohort__shm_ring_bell(shm, was_asked ? peer->slot : shm->slot);
    return sent;
}

/* With the lock held, except while the handler runs. */
static void report(struct cohort__shm *shm, struct cohort__shm_fetch *fetch, cohort_status status)
{
    cohort__list_remove(&fetch->link);
    if (fetch->is_requested)
        atomic_fetch_sub(&shm->num_requested, 1);
    pthread_mutex_unlock(&shm->lock);
    shm->net.handlers.fetched(shm->net.handlers.context, fetch->cookie, status);
    cohort__slab_free(fetch);
    pthread_mutex_lock(&shm->lock);
}

static struct cohort__shm_fetch *first(const struct cohort__list *fetches)
{
    return cohort__list_is_empty(fetches)
               ? NULL
               : COHORT_CONTAINER_OF(fetches->next, struct cohort__shm_fetch, link);
}

/* Reads a slice of the oldest fetch. With the lock held, except while it copies. */
static void read_slice(struct cohort__shm_peer *peer)
{
    struct cohort__shm *shm = peer->shm;
    struct cohort__shm_fetch *fetch = first(&peer->reads);
    size_t bytes = fetch->request.bytes - fetch->done;
    if (bytes > COHORT__SHM_DIRECT_SLICE)
        bytes = COHORT__SHM_DIRECT_SLICE;
    struct iovec to = {fetch->destination + fetch->done, bytes};
    struct iovec from = {(void *)(uintptr_t)(fetch->address + fetch->done), bytes};
    pthread_mutex_unlock(&shm->lock);
    ssize_t got = process_vm_readv(cohort__shm_slot(shm, peer->slot)->pid, &to, 1, &from, 1, 0);
    int error = got < 0 ? errno : 0;
    pthread_mutex_lock(&shm->lock);
    if (atomic_load(&peer->is_dead))
        return; /* its fetches are ended elsewhere */
    if (got > 0) {
        fetch->done += (size_t)got;
        if (fetch->done == fetch->request.bytes)
            report(shm, fetch, COHORT_OK);
    } else if (error == ESRCH) {
        cohort__shm_peer_lose(peer, "its process has ended");
    } else if (error == EFAULT) {
        report(shm, fetch, COHORT_ERR_PROTOCOL);
    } else { /* not allowed: never try it again */
        peer->may_read = false;
        cohort__list_splice_back(&peer->unasked, &peer->reads);
    }
}

/* Pieces ----------------------------------------------------------------------------------------*/

static void piece_arrived(struct cohort__shm_peer *peer, const struct cohort__ring_item *record)
{
    struct cohort__shm *shm = peer->shm;
    pthread_mutex_lock(&shm->lock);
    struct cohort__shm_fetch *fetch = first(&peer->fetches);
    if (!fetch || record->bytes > fetch->request.bytes - fetch->done) {
        cohort__shm_peer_lose(peer, "it has sent bytes that nobody asked for");
        fetch = NULL;
    }
    pthread_mutex_unlock(&shm->lock);
    if (!fetch)
        return;
    cohort__copy(fetch->destination + fetch->done, record->data, record->bytes);
    fetch->done += record->bytes;
    if (fetch->done < fetch->request.bytes)
        return;
    pthread_mutex_lock(&shm->lock);
    report(shm, fetch, COHORT_OK);
    pthread_mutex_unlock(&shm->lock);
}

static void refusal_arrived(struct cohort__shm_peer *peer)
{
    pthread_mutex_lock(&peer->shm->lock);
    struct cohort__shm_fetch *fetch = first(&peer->fetches);
    if (fetch)
        report(peer->shm, fetch, COHORT_ERR_PROTOCOL);
    else
        cohort__shm_peer_lose(peer, "it has refused what nobody asked for");
    pthread_mutex_unlock(&peer->shm->lock);
}

static void lose(struct cohort__shm_peer *peer, const char *why)
{
    pthread_mutex_lock(&peer->shm->lock);
    cohort__shm_peer_lose(peer, why);
    pthread_mutex_unlock(&peer->shm->lock);
}

static void take(struct cohort__shm_peer *peer, const struct cohort__ring_item *record)
{
    if (record->kind == COHORT__SHM_PIECE)
        piece_arrived(peer, record);
    else if (record->kind == COHORT__SHM_REFUSAL)
        refusal_arrived(peer);
    else
        lose(peer, "it has sent something unknown instead of what was fetched");
}

static bool is_dead(const struct cohort__shm_peer *peer)
{
    return atomic_load_explicit(&peer->is_dead, memory_order_relaxed);
}

static bool receive(struct cohort__shm_peer *peer)
{
    const struct cohort__ring_item *record;
    bool is_broken = false;
    unsigned num = 0;
    while (num < COHORT__SHM_TURN_BYTES / COHORT__SHM_CHUNK && !is_dead(peer) &&
           (record = cohort__ring_next(&peer->bulk_reader, &is_broken))) {
        take(peer, record);
        cohort__ring_consume(&peer->bulk_reader);
        num++;
    }
    if (is_broken)
        lose(peer, "what it sends of what was fetched makes no sense");
    return num > 0;
}

bool cohort__shm_pieces_progress(struct cohort__shm *shm)
{
    bool any = false;
    uint32_t num = atomic_load_explicit(&shm->num_sources, memory_order_acquire);
    for (uint32_t i = 0; i < num; i++) {
        struct cohort__shm_peer *peer = shm->sources[i];
        if (!cohort__ring_is_empty(&peer->bulk_reader))
            any |= receive(peer);
        cohort__shm_tell_of_room(peer, &peer->bulk_reader);
    }
    return any;
}

bool cohort__shm_pieces_wait(struct cohort__shm *shm)
{
    bool any = false;
    uint32_t num = atomic_load(&shm->num_requested) > 0 ? atomic_load(&shm->num_sources) : 0;
    for (uint32_t i = 0; i < num; i++) {
        struct cohort__shm_peer *peer = shm->sources[i];
        any |= !atomic_load(&peer->is_dead) && !cohort__ring_is_empty(&peer->bulk_reader);
        cohort__shm_tell_of_room(peer, &peer->bulk_reader);
    }
    return any;
}

/* What could not be done at once ----------------------------------------------------------------*/

bool cohort__shm_fetches_progress(struct cohort__shm_peer *peer)
{
    struct cohort__shm_fetch *fetch;
    bool has_written = false, any = false;
    while ((fetch = first(&peer->unasked)) && (fetch->status || ask(peer, fetch))) {
        has_written |= !fetch->status;
        any = true;
        if (fetch->status)
            report(peer->shm, fetch, fetch->status);
    }
    if (has_written)
        cohort__shm_ring_bell(peer->shm, peer->slot);
    if (first(&peer->reads)) {
        read_slice(peer);
        any = true;
    }
    return any;
}

size_t cohort__shm_fetches_room(const struct cohort__shm_peer *peer)
{
    const struct cohort__shm_fetch *fetch = first(&peer->unasked);
    if (first(&peer->reads) || (fetch && fetch->status))
        return 0;
    return fetch ? sizeof(struct cohort__shm_request) : SIZE_MAX;
}

void cohort__shm_fetches_end(struct cohort__shm_peer *peer, cohort_status status)
{
    struct cohort__shm_fetch *fetch;
    while ((fetch = first(&peer->reads)) || (fetch = first(&peer->unasked)) ||
           (fetch = first(&peer->fetches)))
        report(peer->shm, fetch, status);
}
