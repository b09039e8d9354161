/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that peers may read, and what peers have requested of them. It goes to a peer in pieces
 * through the bulk ring, in the order of the requests. */
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/base/slab.h"
#include "runtime/net/shm_end.h"

_Static_assert(sizeof(struct cohort__shm_place) <= COHORT__NET_TOKEN_BYTES, "it has to fit");

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
    struct cohort__shm_place place = {region->id, (uintptr_t)base, bytes};
    memset(ret_token, 0, sizeof(*ret_token));
    memcpy(ret_token->bytes, &place, sizeof(place));
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

static void stream_end(struct cohort__shm_stream *stream)
{
    stream_leave(stream);
    cohort__list_remove(&stream->link);
    cohort__slab_free(stream);
}

void cohort__shm_withdraw(struct cohort__net *net, uint32_t number, void *withdrawn)
{
    struct cohort__shm *shm = (struct cohort__shm *)net;
    struct cohort__shm_region *region = withdrawn;
    (void)number; /* every peer may read a block */
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
    while ((node = cohort__map_some(&shm->regions))) {
        cohort__map_remove(&shm->regions, node);
        cohort__slab_free(COHORT_CONTAINER_OF(node, struct cohort__shm_region, node));
    }
    cohort__map_fini(&shm->regions);
}

/* Being fetched from -------------------------------------------------------------------------- */

/* Maps the bulk ring when it is first needed. The peer has made the ring empty before it requested
 * anything. */
static void bulk_open(struct cohort__shm_peer *peer)
{
    struct cohort__shm *shm = peer->shm;
    if (peer->bulk_writer.ring)
        return;
    void *memory = cohort__shm_bulk_map(shm, shm->slot, peer->slot);
    if (memory)
        cohort__ring_writer_init(&peer->bulk_writer, memory,
                                 cohort__shm_bulk_bytes(shm->hub->size));
    else
        cohort__shm_peer_lose(peer, "no memory to send it what it fetches");
}

bool cohort__shm_request_arrived(struct cohort__shm_peer *peer,
                                 const struct cohort__ring_item *record)
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
    bulk_open(peer); /* if it fails, PEER is lost, and what is deferred is its end */
    cohort__shm_defer(peer);
    pthread_mutex_unlock(&shm->lock);
    return true;
}

static size_t piece_bytes(const struct cohort__shm_stream *stream)
{
    if (!stream->region)
        return 0; /* a refusal */
    return stream->left < COHORT__SHM_CHUNK ? stream->left : COHORT__SHM_CHUNK;
}

/* Writes one piece. False: no room. */
static bool write_piece(struct cohort__shm_peer *peer, struct cohort__shm_stream *stream)
{
    size_t bytes = piece_bytes(stream);
    struct cohort__ring_record *record = cohort__ring_reserve(&peer->bulk_writer, bytes);
    if (!record)
        return false;
    record->kind = stream->region ? COHORT__SHM_PIECE : COHORT__SHM_REFUSAL;
    record->bytes = (uint32_t)bytes;
    if (stream->region)
        cohort__copier_copy(&peer->copier, record->data, stream->next, bytes);
    cohort__ring_publish(&peer->bulk_writer, record);
    stream->left -= bytes;
    if (stream->region)
        stream->next += bytes;
    if (!stream->region || stream->left == 0)
        stream_end(stream);
    return true;
}

static struct cohort__shm_stream *first(const struct cohort__shm_peer *peer)
{
    return cohort__list_is_empty(&peer->streams)
               ? NULL
               : COHORT_CONTAINER_OF(peer->streams.next, struct cohort__shm_stream, link);
}

/* The peer is woken for each piece, so that it copies one piece while we write the next one. */
bool cohort__shm_streams_progress(struct cohort__shm_peer *peer)
{
    struct cohort__shm_stream *stream;
    unsigned num = 0;
    while (num < COHORT__SHM_TURN_BYTES / COHORT__SHM_CHUNK && (stream = first(peer)) &&
           write_piece(peer, stream)) {
        cohort__shm_ring_bell(peer->shm, peer->slot);
        num++;
    }
    return num > 0;
}

bool cohort__shm_streams_can_go_on(struct cohort__shm_peer *peer)
{
    struct cohort__shm_stream *stream = first(peer);
    return stream && !cohort__ring_await_room(&peer->bulk_writer, piece_bytes(stream));
}

void cohort__shm_streams_end(struct cohort__shm_peer *peer)
{
    struct cohort__shm_stream *stream;
    while ((stream = first(peer)))
        stream_end(stream);
}
