/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that peers may read, and reading theirs: by process_vm_readv, or by a request that the
 * owner answers with pieces through the ring, in the order of the requests. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/base/slab.h"
#include "runtime/net/shm_end.h"

/* It stays on this host. */
struct token {
    uint64_t region;
    uint64_t address;
    uint64_t bytes;
};

_Static_assert(sizeof(struct token) <= COHORT__NET_TOKEN_BYTES, "it has to fit");

/* Blocks ----------------------------------------------------------------------------------------*/

cohort_status cohort__shm_expose(struct cohort__net *net, uint32_t number, const void *base,
                                 size_t bytes, void **ret_region,
                                 struct cohort__net_token *ret_token)
{
    struct cohort__shm *shm = (struct cohort__shm *)net;
    if (bytes == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "peer %u: a block of no bytes can't be exposed", (unsigned)number);
    struct cohort__shm_region *region = cohort__slab_alloc(sizeof(*region));
    if (!region)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory to expose a block of %zu bytes", bytes);
    *region = (struct cohort__shm_region){.base = base, .bytes = bytes};
    pthread_mutex_lock(&shm->lock);
    region->id = ++shm->next_region;
    cohort__map_insert(&shm->regions, &region->node, cohort__hash_u64(region->id));
    pthread_mutex_unlock(&shm->lock);
    struct token token = {region->id, (uintptr_t)base, bytes};
    memset(ret_token, 0, sizeof(*ret_token));
    memcpy(ret_token->bytes, &token, sizeof(token));
    *ret_region = region;
    return COHORT_OK;
}

static struct cohort__shm_region *find(const struct cohort__shm *shm, uint64_t id)
{
    struct cohort__map_node *node =
        cohort__map_find(&shm->regions, cohort__hash_u64(id), NULL, NULL);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__shm_region, node) : NULL;
}

static void stream_leave(struct cohort__shm_stream *stream)
{
    if (stream->region)
        stream->region->num_streams--;
    stream->region = NULL;
}

void cohort__shm_withdraw(struct cohort__net *net, uint32_t number, void *withdrawn)
{
    struct cohort__shm *shm = (struct cohort__shm *)net;
    struct cohort__shm_region *region = withdrawn;
    (void)number; /* a block is known to all */
    pthread_mutex_lock(&shm->lock);
    cohort__map_remove(&shm->regions, &region->node);
    for (uint32_t slot = 0; region->num_streams > 0; slot++) {
        struct cohort__shm_peer *peer = shm->by_slot[slot];
        for (struct cohort__list *node = peer ? peer->streams.next : NULL;
             peer && node != &peer->streams; node = node->next) {
            struct cohort__shm_stream *stream =
                COHORT_CONTAINER_OF(node, struct cohort__shm_stream, link);
            if (stream->region == region)
                stream_leave(stream);
        }
    }
    pthread_mutex_unlock(&shm->lock);
    cohort__slab_free(region);
}

void cohort__shm_regions_fini(struct cohort__shm *shm)
{
    struct cohort__map_node *node;
    while ((node = cohort__map_first(&shm->regions))) {
        cohort__map_remove(&shm->regions, node);
        cohort__slab_free(COHORT_CONTAINER_OF(node, struct cohort__shm_region, node));
    }
    cohort__map_fini(&shm->regions);
}

/* Fetching ------------------------------------------------------------------------------------ */

static bool ask(struct cohort__shm_peer *peer, struct cohort__shm_fetch *fetch)
{
    struct cohort__shm_request request = fetch->request;
    request.offset += fetch->done;
    request.bytes -= fetch->done;
    struct iovec part = {&request, sizeof(request)};
    if (!cohort__shm_write(peer, COHORT__SHM_REQUEST, &part, 1))
        return false;
    cohort__list_remove(&fetch->link);
    cohort__list_push_back(&peer->fetches, &fetch->link);
    return true;
}

enum cohort__net_sent cohort__shm_fetch(struct cohort__net *net, uint32_t number,
                                        const struct cohort__net_token *from, size_t offset,
                                        void *destination, size_t bytes, void *cookie)
{
    struct cohort__shm *shm = (struct cohort__shm *)net;
    struct cohort__shm_fetch *fetch = cohort__slab_alloc(sizeof(*fetch));
    struct token token;
    memcpy(&token, from->bytes, sizeof(token));
    bool is_inside = offset <= token.bytes && bytes <= token.bytes - offset &&
                     bytes <= COHORT__SHM_MAX_FETCH && bytes > 0;
    enum cohort__net_sent sent = COHORT__NET_DEAD;
    bool was_asked = false;
    pthread_mutex_lock(&shm->lock);
    struct cohort__shm_peer *peer = cohort__shm_peer_get(shm, number);
    if (peer && !fetch) {
        peer->is_blocked = true;
        cohort__shm_errand(peer);
        sent = COHORT__NET_AGAIN;
    } else if (peer) {
        *fetch = (struct cohort__shm_fetch){
            .request = {token.region, offset, bytes},
            .address = token.address + offset,
            .destination = destination,
            .cookie = cookie,
            .status = is_inside ? COHORT_OK : COHORT_ERR_PROTOCOL,
        };
        cohort__list_init(&fetch->link);
        bool reads = is_inside && shm->copy == COHORT__SHM_DIRECT && peer->may_read;
        was_asked =
            is_inside && !reads && cohort__list_is_empty(&peer->unasked) && ask(peer, fetch);
        if (!is_inside) /* in front, as it needs no room */
            cohort__list_push_front(&peer->unasked, &fetch->link);
        else if (!was_asked)
            cohort__list_push_back(reads ? &peer->reads : &peer->unasked, &fetch->link);
        if (!was_asked)
            cohort__shm_errand(peer);
        fetch = NULL;
        sent = COHORT__NET_SENT;
    }
    pthread_mutex_unlock(&shm->lock);
    cohort__slab_free(fetch);
    cohort__shm_ring_bell(shm, was_asked ? peer->slot : shm->slot);
    return sent;
}

/* With the lock held, but not while the handler runs. */
static void report(struct cohort__shm *shm, struct cohort__shm_fetch *fetch, cohort_status status)
{
    cohort__list_remove(&fetch->link);
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

/* Reads a slice of the oldest fetch. With the lock held, but not while it copies. */
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
        return; /* its fetches end otherwise */
    if (got > 0) {
        fetch->done += (size_t)got;
        if (fetch->done == fetch->request.bytes)
            report(shm, fetch, COHORT_OK);
    } else if (error == ESRCH) {
        cohort__shm_peer_lose(peer, "its process has ended");
    } else if (error == EFAULT) {
        report(shm, fetch, COHORT_ERR_PROTOCOL);
    } else { /* not allowed: then not at all */
        peer->may_read = false;
        cohort__list_splice_back(&peer->unasked, &peer->reads);
    }
}

void cohort__shm_piece_arrived(struct cohort__shm_peer *peer,
                               const struct cohort__ring_record *record)
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
    memcpy(fetch->destination + fetch->done, record->data, record->bytes);
    fetch->done += record->bytes;
    if (fetch->done < fetch->request.bytes)
        return;
    pthread_mutex_lock(&shm->lock);
    report(shm, fetch, COHORT_OK);
    pthread_mutex_unlock(&shm->lock);
}

void cohort__shm_refusal_arrived(struct cohort__shm_peer *peer)
{
    pthread_mutex_lock(&peer->shm->lock);
    struct cohort__shm_fetch *fetch = first(&peer->fetches);
    if (fetch)
        report(peer->shm, fetch, COHORT_ERR_PROTOCOL);
    else
        cohort__shm_peer_lose(peer, "it has refused what nobody asked for");
    pthread_mutex_unlock(&peer->shm->lock);
}

/* Being fetched from -------------------------------------------------------------------------- */

bool cohort__shm_request_arrived(struct cohort__shm_peer *peer,
                                 const struct cohort__ring_record *record)
{
    struct cohort__shm *shm = peer->shm;
    struct cohort__shm_request request = {0};
    struct cohort__shm_stream *stream = cohort__slab_alloc_zero(sizeof(*stream));
    if (!stream)
        return false;
    if (record->bytes == sizeof(request))
        memcpy(&request, record->data, sizeof(request));
    pthread_mutex_lock(&shm->lock);
    struct cohort__shm_region *region = find(shm, request.region);
    if (region && request.offset <= region->bytes &&
        request.bytes <= region->bytes - request.offset) {
        stream->region = region;
        stream->next = region->base + request.offset;
        stream->left = request.bytes;
        region->num_streams++;
    }
    cohort__list_push_back(&peer->streams, &stream->link);
    (void)cohort__shm_peer_call(peer); /* where it fails, the peer's end is the errand */
    cohort__shm_errand(peer);
    pthread_mutex_unlock(&shm->lock);
    return true;
}

static size_t piece_bytes(const struct cohort__shm_stream *stream)
{
    if (!stream->region)
        return 0; /* a refusal */
    return stream->left < COHORT__SHM_CHUNK ? stream->left : COHORT__SHM_CHUNK;
}

/* Writes one piece; false: no room. */
static bool write_piece(struct cohort__shm_peer *peer, struct cohort__shm_stream *stream)
{
    size_t bytes = piece_bytes(stream);
    bool is_refusal = !stream->region;
    struct iovec part = {(void *)stream->next, bytes};
    if (!cohort__shm_write(peer, is_refusal ? COHORT__SHM_REFUSAL : COHORT__SHM_PIECE, &part,
                           is_refusal ? 0 : 1))
        return false;
    stream->left -= bytes;
    if (!is_refusal)
        stream->next += bytes;
    if (is_refusal || stream->left == 0) {
        stream_leave(stream);
        cohort__list_remove(&stream->link);
        cohort__slab_free(stream);
    }
    return true;
}

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
    while (
        !cohort__list_is_empty(&peer->streams) &&
        write_piece(peer, COHORT_CONTAINER_OF(peer->streams.next, struct cohort__shm_stream, link)))
        has_written = true;
    if (has_written)
        cohort__shm_ring_bell(peer->shm, peer->slot);
    if (first(&peer->reads)) {
        read_slice(peer);
        any = true;
    }
    return any || has_written;
}

size_t cohort__shm_fetches_room(const struct cohort__shm_peer *peer)
{
    size_t bytes = SIZE_MAX;
    if (!cohort__list_is_empty(&peer->reads))
        return 0;
    if (!cohort__list_is_empty(&peer->unasked))
        bytes = first(&peer->unasked)->status ? 0 : sizeof(struct cohort__shm_request);
    if (!cohort__list_is_empty(&peer->streams)) {
        size_t piece =
            piece_bytes(COHORT_CONTAINER_OF(peer->streams.next, struct cohort__shm_stream, link));
        size_t least = piece > 0 ? piece : 1; /* a record takes a line */
        bytes = least < bytes ? least : bytes;
    }
    return bytes;
}

void cohort__shm_fetches_end(struct cohort__shm_peer *peer, cohort_status status)
{
    struct cohort__shm_fetch *fetch;
    struct cohort__list *node;
    while ((fetch = first(&peer->reads)) || (fetch = first(&peer->unasked)) ||
           (fetch = first(&peer->fetches)))
        report(peer->shm, fetch, status);
    while ((node = cohort__list_pop_front(&peer->streams))) {
        struct cohort__shm_stream *stream =
            COHORT_CONTAINER_OF(node, struct cohort__shm_stream, link);
        stream_leave(stream);
        cohort__slab_free(stream);
    }
}
