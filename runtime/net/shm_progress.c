/* SPDX-License-Identifier: Apache-2.0 */

/* Reading blocks of peers: out of the owner's heap, by process_vm_readv, or by a request. The owner
 * answers requests with pieces through the bulk ring, in the order of the requests. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "runtime/base/container.h"
#include "runtime/base/copier.h"
#include "runtime/base/slab.h"
#include "runtime/net/shm_end.h"

/* Fetching ------------------------------------------------------------------------------------ */

/* Maps the bulk ring when it is first needed. The ring is made empty before the peer
 * writes into it. */
static bool open_bulk_reader(struct cohort__shm_peer *peer)
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

static bool shm_write(struct cohort__shm_peer *peer, enum cohort__shm_kind kind,
                      const struct iovec *parts, int num_parts);

/* False: there is no room for the request, or PEER is lost. */
static bool ask(struct cohort__shm_peer *peer, struct cohort__shm_fetch *fetch)
{
    if (!open_bulk_reader(peer))
        return false;
    struct cohort__shm_request request = fetch->request;
    request.offset += fetch->done;
    request.bytes -= fetch->done;
    struct iovec part = {&request, sizeof(request)};
    atomic_fetch_add(&peer->shm->num_requested, 1); /* before the answer can come */
    if (!shm_write(peer, COHORT__SHM_REQUEST, &part, 1)) {
        atomic_fetch_sub(&peer->shm->num_requested, 1);
        return false;
    }
    cohort__list_remove(&fetch->link);
    cohort__list_push_back(&peer->fetches, &fetch->link);
    fetch->is_requested = true;
    return true;
}

/* With the lock held. Puts FETCH where progress finds it. Returns whether PEER was asked for it. */
static bool enqueue(struct cohort__shm_peer *peer, struct cohort__shm_fetch *fetch)
{
    const bool is_inside = fetch->status == COHORT_OK;
    const bool reads = fetch->lent || (peer->shm->copy == COHORT__SHM_DIRECT && peer->may_read);
    cohort__list_init(&fetch->link);
    if (is_inside && !reads && cohort__list_is_empty(&peer->unasked) && ask(peer, fetch))
        return true;
    if (!is_inside) /* in front, as it needs no room in the ring */
        cohort__list_push_front(&peer->unasked, &fetch->link);
    else
        cohort__list_push_back(reads ? &peer->reads : &peer->unasked, &fetch->link);
    cohort__shm_defer(peer);
    return false;
}

/* NULL: no memory. */
static struct cohort__shm_fetch *create_fetch(struct cohort__shm *shm, uint32_t number,
                                              const struct cohort__net_token *from, size_t offset,
                                              void *destination, size_t bytes, void *cookie)
{
    struct cohort__shm_fetch *fetch = cohort__slab_alloc(sizeof(*fetch));
    struct cohort__shm_place place;
    memcpy(&place, from->bytes, sizeof(place));
    const bool is_inside = offset <= place.bytes && bytes <= place.bytes - offset &&
                           bytes <= COHORT__SHM_MAX_FETCH && bytes > 0;
    uint32_t slot;
    const bool is_lent =
        is_inside && place.lent > 0 && cohort__shm_slot_of(&shm->net, number, &slot);
    if (fetch)
        *fetch = (struct cohort__shm_fetch){
            .request = {place.region, offset, bytes},
            .address = place.address + offset,
            .lent = is_lent ? cohort__shm_heap_read(&shm->net, slot, place.lent - 1 + offset, bytes)
                            : NULL,
            .destination = destination,
            .cookie = cookie,
            .status = is_inside ? COHORT_OK : COHORT_ERR_PROTOCOL,
        };
    return fetch;
}

enum cohort__net_sent cohort__shm_fetch(struct cohort__net *net, uint32_t number,
                                        const struct cohort__net_token *from, size_t offset,
                                        void *destination, size_t bytes, void *cookie)
{
    struct cohort__shm *shm = (struct cohort__shm *)net;
    struct cohort__shm_fetch *fetch =
        create_fetch(shm, number, from, offset, destination, bytes, cookie);
    enum cohort__net_sent sent = COHORT__NET_SENT;
    uint32_t rung = shm->slot;
    pthread_mutex_lock(&shm->lock);
    struct cohort__shm_peer *peer = cohort__shm_peer_get(shm, number);
    if (!peer) {
        sent = cohort__shm_peer_missing(shm, number);
    } else if (!fetch) {
        peer->is_blocked = true;
        cohort__shm_defer(peer);
        sent = COHORT__NET_AGAIN;
    } else if (enqueue(peer, fetch)) {
        rung = peer->slot;
    }
    pthread_mutex_unlock(&shm->lock);
    if (sent != COHORT__NET_SENT)
        cohort__slab_free(fetch);
    cohort__shm_ring_bell(shm, rung);
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

static struct cohort__shm_fetch *first_fetch(const struct cohort__list *fetches)
{
    return cohort__list_is_empty(fetches)
               ? NULL
               : COHORT_CONTAINER_OF(fetches->next, struct cohort__shm_fetch, link);
}

static ssize_t read_lent(const struct cohort__shm_fetch *fetch, size_t bytes)
{
    cohort__copy(fetch->destination + fetch->done, fetch->lent + fetch->done, bytes);
    atomic_thread_fence(memory_order_seq_cst);
    return (ssize_t)bytes;
}

static ssize_t read_process(const struct cohort__shm_peer *peer,
                            const struct cohort__shm_fetch *fetch, size_t bytes)
{
    struct iovec to = {fetch->destination + fetch->done, bytes};
    struct iovec from = {(void *)(uintptr_t)(fetch->address + fetch->done), bytes};
    return process_vm_readv(cohort__shm_slot(peer->shm, peer->slot)->pid, &to, 1, &from, 1, 0);
}

/* Reads a slice of the oldest fetch. With the lock held, except while it copies. */
static void read_slice(struct cohort__shm_peer *peer)
{
    struct cohort__shm *shm = peer->shm;
    struct cohort__shm_fetch *fetch = first_fetch(&peer->reads);
    size_t bytes = fetch->request.bytes - fetch->done;
    if (bytes > COHORT__SHM_DIRECT_SLICE)
        bytes = COHORT__SHM_DIRECT_SLICE;
    pthread_mutex_unlock(&shm->lock);
    ssize_t got = fetch->lent ? read_lent(fetch, bytes) : read_process(peer, fetch, bytes);
    int error = got < 0 ? errno : 0;
    pthread_mutex_lock(&shm->lock);
    if (atomic_load(&peer->is_dead))
        return; /* its fetches are ended elsewhere */
    if (fetch->lent && cohort__shm_heap_is_gone(&shm->net, peer->slot)) {
        cohort__shm_peer_lose(peer, "its process has ended");
        return;
    }
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
    struct cohort__shm_fetch *fetch = first_fetch(&peer->fetches);
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
    struct cohort__shm_fetch *fetch = first_fetch(&peer->fetches);
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

static void take_bulk(struct cohort__shm_peer *peer, const struct cohort__ring_item *record)
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

static bool receive_bulk(struct cohort__shm_peer *peer)
{
    const struct cohort__ring_item *record;
    bool is_broken = false;
    unsigned num = 0;
    while (num < COHORT__SHM_TURN_BYTES / COHORT__SHM_CHUNK && !is_dead(peer) &&
           (record = cohort__ring_next(&peer->bulk_reader, &is_broken))) {
        take_bulk(peer, record);
        cohort__ring_consume(&peer->bulk_reader);
        num++;
    }
    if (is_broken)
        lose(peer, "what it sends of what was fetched makes no sense");
    return num > 0;
}

static void shm_tell_of_room(const struct cohort__shm_peer *peer,
                             struct cohort__ring_reader *reader);

/* Called by progress, without the lock: takes the pieces that have come. True if there were any. */
static bool shm_pieces_progress(struct cohort__shm *shm)
{
    bool any = false;
    uint32_t num = atomic_load_explicit(&shm->num_sources, memory_order_acquire);
    for (uint32_t i = 0; i < num; i++) {
        struct cohort__shm_peer *peer = shm->sources[i];
        if (!cohort__ring_is_empty(&peer->bulk_reader))
            any |= receive_bulk(peer);
        shm_tell_of_room(peer, &peer->bulk_reader);
    }
    return any;
}

/* Called by progress before it sleeps: whether any pieces have come. */
static bool shm_pieces_wait(struct cohort__shm *shm)
{
    bool any = false;
    uint32_t num = atomic_load(&shm->num_requested) > 0 ? atomic_load(&shm->num_sources) : 0;
    for (uint32_t i = 0; i < num; i++) {
        struct cohort__shm_peer *peer = shm->sources[i];
        any |= !atomic_load(&peer->is_dead) && !cohort__ring_is_empty(&peer->bulk_reader);
        shm_tell_of_room(peer, &peer->bulk_reader);
    }
    return any;
}

/* What could not be done at once ----------------------------------------------------------------*/

/* Called by progress, with the lock held, but released in between: continues the fetches from PEER
 * that can go on. True if it did anything. */
static bool shm_fetches_progress(struct cohort__shm_peer *peer)
{
    struct cohort__shm_fetch *fetch;
    bool has_written = false, any = false;
    while ((fetch = first_fetch(&peer->unasked)) && (fetch->status || ask(peer, fetch))) {
        has_written |= !fetch->status;
        any = true;
        if (fetch->status)
            report(peer->shm, fetch, fetch->status);
    }
    if (has_written)
        cohort__shm_ring_bell(peer->shm, peer->slot);
    if (first_fetch(&peer->reads)) {
        read_slice(peer);
        any = true;
    }
    return any;
}

/* How many bytes of data the ring for messages must have room for before any of these fetches can
 * go on. 0: one can go on now. SIZE_MAX: none waits. With the lock held. */
static size_t shm_fetches_room(const struct cohort__shm_peer *peer)
{
    const struct cohort__shm_fetch *fetch = first_fetch(&peer->unasked);
    if (first_fetch(&peer->reads) || (fetch && fetch->status))
        return 0;
    return fetch ? sizeof(struct cohort__shm_request) : SIZE_MAX;
}

void cohort__shm_fetches_end(struct cohort__shm_peer *peer, cohort_status status)
{
    struct cohort__shm_fetch *fetch;
    while ((fetch = first_fetch(&peer->reads)) || (fetch = first_fetch(&peer->unasked)) ||
           (fetch = first_fetch(&peer->fetches)))
        report(peer->shm, fetch, status);
}

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
    uint64_t offset;
    struct cohort__shm_place place = {region->id, (uintptr_t)base, bytes, 0};
    if (cohort__heap_has(&shm->heap, base, &offset))
        place.lent = offset + 1;
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

/* Called by progress, without the lock. False: memory ran out; try again. */
static bool shm_request_arrived(struct cohort__shm_peer *peer,
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
static bool shm_streams_progress(struct cohort__shm_peer *peer)
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

/* Whether the streams can go on. If they wait for room, this asks to be told of it. With the lock
 * held. */
static bool shm_streams_can_go_on(struct cohort__shm_peer *peer)
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

/* Messages in a ring. The head of most messages differs from the head of the message before in one
 * or two numbers. A ring neither loses messages nor changes their order. So only those words of the
 * head are written that differ from what the reader expects. A short message then takes one cache
 * line, which moves from core to core as a whole. */
#include <endian.h>
#include <string.h>

#include "runtime/net/shm_end.h"

enum { NUM_WORDS = COHORT__SHM_HEAD_WORDS, WORD = sizeof(uint64_t), HEAD = NUM_WORDS * WORD };

static uint64_t word_of(const unsigned char *head, uint32_t index)
{
    uint64_t word;
    memcpy(&word, head + index * WORD, WORD);
    return word;
}

/* A bit for each word of HEAD that differs from the same word of LAST. */
static uint32_t compare(const unsigned char *head, const uint64_t *last)
{
    uint32_t differ = 0;
    for (uint32_t i = NUM_WORDS; i-- > 0;)
        differ = 2 * differ + (word_of(head, i) != last[i]);
    return differ;
}

static size_t count(uint32_t bits)
{
    size_t num = 0;
    for (; bits; bits &= bits - 1)
        num++;
    return num;
}

static size_t total(const struct iovec *parts, int num_parts)
{
    size_t bytes = 0;
    for (int i = 0; i < num_parts; i++)
        bytes += parts[i].iov_len;
    return bytes;
}

static void gather(unsigned char *to, const struct iovec *parts, int num_parts)
{
    for (int i = 0; i < num_parts; i++) {
        memcpy(to, parts[i].iov_base, parts[i].iov_len);
        to += parts[i].iov_len;
    }
}

/* HEAD was the head of a message. The next head is expected to be the same, with the message number
 * increased by one. So the number is written only if it is not the next one. */
static void advance(uint64_t *head)
{
    uint64_t *word = &head[COHORT__ENVELOPE_NUMBER_AT / WORD];
    uint64_t value = le64toh(*word);
    *word = htole64((value & ~(uint64_t)UINT32_MAX) | (uint32_t)(value + 1));
}

/* These two write a record into the ring for messages. The caller still has to ring the bell.
 * False: no room. */
static bool shm_write(struct cohort__shm_peer *peer, enum cohort__shm_kind kind,
                      const struct iovec *parts, int num_parts)
{
    size_t bytes = total(parts, num_parts);
    struct cohort__ring_record *record = cohort__ring_reserve(&peer->writer, bytes);
    if (!record)
        return false;
    gather(record->data, parts, num_parts);
    record->bytes = (uint32_t)bytes;
    record->kind = kind;
    cohort__ring_publish(&peer->writer, record);
    return true;
}

bool cohort__shm_write_message(struct cohort__shm_peer *peer, const struct iovec *parts,
                               int num_parts)
{
    const unsigned char *head = parts[0].iov_base;
    if (parts[0].iov_len != HEAD)
        return shm_write(peer, COHORT__SHM_MESSAGE, parts, num_parts);
    uint32_t differ = compare(head, peer->head_written);
    size_t bytes = count(differ) * WORD + total(parts + 1, num_parts - 1);
    struct cohort__ring_record *record = cohort__ring_reserve(&peer->writer, bytes);
    if (!record)
        return false;
    unsigned char *to = record->data;
    for (uint32_t left = differ; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        peer->head_written[i] = word_of(head, i);
        memcpy(to, &peer->head_written[i], WORD);
        to += WORD;
    }
    advance(peer->head_written);
    gather(to, parts + 1, num_parts - 1);
    record->bytes = (uint32_t)bytes;
    record->kind = COHORT__SHM_ABRIDGED;
    record->word = differ;
    cohort__ring_publish(&peer->writer, record);
    return true;
}

/* Reads an abridged message, which is valid only while its handler runs (is_passing). False: it
 * makes no sense. Progress only. */
static bool shm_read_message(struct cohort__shm_peer *peer, const struct cohort__ring_item *record,
                             struct cohort__net_message *ret_message)
{
    struct cohort__shm *shm = peer->shm;
    const unsigned char *from = record->data;
    size_t bytes = record->bytes;
    memcpy(shm->incoming, peer->head_read, HEAD); /* before single words are replaced */
    for (uint32_t left = record->word; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (i >= NUM_WORDS || bytes < WORD)
            return false;
        peer->head_read[i] = word_of(from, 0);
        memcpy(shm->incoming + i * WORD, &peer->head_read[i], WORD);
        from += WORD;
        bytes -= WORD;
    }
    advance(peer->head_read);
    if (bytes > sizeof(shm->incoming) - HEAD)
        return false;
    memcpy(shm->incoming + HEAD, from, bytes);
    *ret_message = (struct cohort__net_message){
        .net = &shm->net, .data = shm->incoming, .bytes = HEAD + bytes, .is_passing = true};
    return true;
}

/* Incoming records, deferred work, and sleeping until there is one of the two. */
#include <string.h>

#include "runtime/base/bell.h"
#include "runtime/base/container.h"
#include "runtime/base/log.h"
#include "runtime/base/slab.h"
#include "runtime/net/shm_end.h"

/* How many records of one ring one call of progress handles at most, so that other rings get their
 * turn. */
enum { MAX_RECORDS = 64 };

static void ring(const struct cohort__shm *shm, uint32_t slot)
{
    if (!cohort__bell_ring(shm->hub->doorbells[slot]))
        cohort__log(COHORT__LOG_WARN, "net: writing to an eventfd failed");
}

/* No wake-up is lost. A locality that goes to sleep first sets `sleeping`, and then looks at
 * everything once more. A sender first writes its record, and then looks at `sleeping`. Both have a
 * fence in between, so at least one of them sees what the other has written.
 * tests/model/doorbell.pml is a model of this. */
void cohort__shm_rouse(const struct cohort__shm *shm, uint32_t slot)
{
    struct cohort__shm_slot *sleeper = cohort__shm_slot(shm, slot);
    if (atomic_load_explicit(&sleeper->sleeping, memory_order_relaxed) &&
        atomic_exchange(&sleeper->sleeping, 0))
        ring(shm, slot);
}

void cohort__shm_ring_bell(const struct cohort__shm *shm, uint32_t slot)
{
    atomic_thread_fence(memory_order_seq_cst);
    cohort__shm_rouse(shm, slot);
}

void cohort__shm_wake(const struct cohort__shm *shm)
{
    ring(shm, shm->slot);
}

void cohort__shm_defer(struct cohort__shm_peer *peer)
{
    struct cohort__shm *shm = peer->shm;
    if (!cohort__list_is_empty(&peer->deferred))
        return;
    cohort__list_push_back(&shm->deferred, &peer->deferred);
    atomic_store(&shm->has_deferred, true);
}

/* Incoming ------------------------------------------------------------------------------------ */

static void message_arrived(struct cohort__shm_peer *peer, struct cohort__net_message *message)
{
    struct cohort__net_handlers *handlers = &peer->shm->net.handlers;
    handlers->message(handlers->context, message);
}

/* The handler reads the message in place. After that, the memory belongs to the writer again. */
static void plain_arrived(struct cohort__shm_peer *peer, const struct cohort__ring_item *record)
{
    struct cohort__net_message message = {
        .net = &peer->shm->net, .data = record->data, .bytes = record->bytes, .is_passing = true};
    message_arrived(peer, &message);
}

static const char makes_no_sense[] = "its ring in shared memory makes no sense";

/* False: memory ran out, so the record stays in the ring for now. */
static bool take(struct cohort__shm_peer *peer, const struct cohort__ring_item *record)
{
    struct cohort__net_message message;
    switch ((enum cohort__shm_kind)record->kind) {
    case COHORT__SHM_ABRIDGED:
        if (shm_read_message(peer, record, &message))
            message_arrived(peer, &message);
        else
            lose(peer, makes_no_sense);
        return true;
    case COHORT__SHM_MESSAGE:
        plain_arrived(peer, record);
        return true;
    case COHORT__SHM_REQUEST:
        return shm_request_arrived(peer, record);
    case COHORT__SHM_PIECE:
    case COHORT__SHM_REFUSAL:
        break; /* not in this ring */
    }
    lose(peer, "it has sent something unknown through shared memory");
    return true;
}

static __attribute__((noinline)) bool receive(struct cohort__shm_peer *peer)
{
    const struct cohort__ring_item *record;
    bool is_broken = false;
    unsigned num = 0;
    while (num < MAX_RECORDS && !atomic_load_explicit(&peer->is_dead, memory_order_relaxed) &&
           (record = cohort__ring_next(&peer->reader, &is_broken)) && take(peer, record)) {
        cohort__ring_consume(&peer->reader);
        num++;
    }
    if (is_broken)
        lose(peer, makes_no_sense);
    return num > 0;
}

/* If PEER has asked for room in the ring of READER, tells it that there is room. The check itself
 * clears the question, so the answer has to follow. */
static void shm_tell_of_room(const struct cohort__shm_peer *peer,
                             struct cohort__ring_reader *reader)
{
    if (cohort__ring_writer_waits(reader))
        cohort__shm_ring_bell(peer->shm, peer->slot);
}

/* The locality in SLOT has begun a ring to us. False: it can't be answered yet, and has to be tried
 * again. */
static bool answer(struct cohort__shm *shm, uint32_t slot)
{
    pthread_mutex_lock(&shm->lock);
    struct cohort__shm_peer *peer = cohort__shm_peer_at(shm, slot);
    uint32_t number = shm->numbers[slot];
    bool is_gone = !peer && number != COHORT__SHM_NONE && shm->slots[number] != slot;
    if (peer && !peer->reader.ring) {
        void *memory = cohort__shm_ring_map(shm, slot, shm->slot);
        if (memory) {
            cohort__ring_reader_init(&peer->reader, memory, COHORT__SHM_RING_BYTES);
            shm->callers[shm->num_callers++] = peer;
        } else {
            cohort__shm_peer_lose(peer, "no memory to hear it");
        }
    }
    pthread_mutex_unlock(&shm->lock);
    return peer || is_gone;
}

static bool has_new_callers(const struct cohort__shm *shm)
{
    for (uint32_t word = 0; word * 64 < shm->hub->size; word++)
        if (atomic_load_explicit(&shm->own->callers[word], memory_order_acquire))
            return true;
    return false;
}

/* Callers that are not known yet keep their bits. This function is not inlined, like everything
 * that progress does rarely, so that it costs nothing when there is nothing to do. */
static __attribute__((noinline)) void answer_all(struct cohort__shm *shm)
{
    for (uint32_t slot = 0; slot < shm->hub->size; slot++) {
        uint64_t bit = UINT64_C(1) << slot % 64;
        _Atomic uint64_t *word = &shm->own->callers[slot / 64];
        if (atomic_load_explicit(word, memory_order_acquire) & bit && answer(shm, slot))
            atomic_fetch_and(word, ~bit);
    }
}

/* What is deferred ---------------------------------------------------------------------------- */

static bool is_deferred(const struct cohort__shm_peer *peer)
{
    return peer->is_blocked || !cohort__list_is_empty(&peer->reads) ||
           !cohort__list_is_empty(&peer->unasked) || !cohort__list_is_empty(&peer->streams);
}

/* With the lock held, except while handlers run. */
static bool run_deferred(struct cohort__shm_peer *peer)
{
    struct cohort__shm *shm = peer->shm;
    bool any = false;
    if (peer->why) {
        const char *why = peer->why;
        peer->why = NULL;
        pthread_mutex_unlock(&shm->lock);
        shm->net.handlers.unreachable(shm->net.handlers.context, peer->number, why);
        pthread_mutex_lock(&shm->lock);
        any = true;
    }
    if (atomic_load(&peer->is_dead)) {
        cohort__shm_fetches_end(peer, COHORT_ERR_PEER_DIED);
        cohort__shm_streams_end(peer);
        if (atomic_load(&shm->has_died[peer->slot]))
            cohort__shm_peer_free_rings(peer);
        return true;
    }
    any |= shm_streams_progress(peer);
    any |= shm_fetches_progress(peer);
    if (peer->is_blocked && cohort__ring_has_room(&peer->writer, COHORT__SHM_MAX_MESSAGE)) {
        peer->is_blocked = false;
        pthread_mutex_unlock(&shm->lock);
        shm->net.handlers.writable(shm->net.handlers.context, peer->number);
        pthread_mutex_lock(&shm->lock);
        any = true;
    }
    return any;
}

static __attribute__((noinline)) bool run_all_deferred(struct cohort__shm *shm)
{
    struct cohort__list deferred, *node;
    bool any = false;
    cohort__list_init(&deferred);
    pthread_mutex_lock(&shm->lock);
    atomic_store(&shm->has_deferred, false);
    cohort__list_splice_back(&deferred, &shm->deferred);
    while ((node = cohort__list_pop_front(&deferred))) {
        struct cohort__shm_peer *peer =
            COHORT_CONTAINER_OF(node, struct cohort__shm_peer, deferred);
        any |= run_deferred(peer);
        if (is_deferred(peer))
            cohort__shm_defer(peer);
    }
    pthread_mutex_unlock(&shm->lock);
    return any;
}

/* The poller ---------------------------------------------------------------------------------- */

bool cohort__shm_look(void *context)
{
    const struct cohort__shm *shm = context;
    return shm->net.handlers.look && shm->net.handlers.look(shm->net.handlers.context);
}

/* Messages come last, since their receivers wait for them and go on when this returns. */
bool cohort__shm_progress(void *context)
{
    struct cohort__shm *shm = context;
    bool any = false;
    if (has_new_callers(shm))
        answer_all(shm);
    if (atomic_load_explicit(&shm->num_requested, memory_order_relaxed) > 0)
        any |= shm_pieces_progress(shm);
    if (atomic_load_explicit(&shm->has_deferred, memory_order_relaxed))
        any |= run_all_deferred(shm);
    any |= cohort__shm_look(shm);
    for (uint32_t i = 0; i < shm->num_callers; i++) {
        struct cohort__shm_peer *peer = shm->callers[i];
        if (!cohort__ring_is_empty(&peer->reader))
            any |= receive(peer);
        shm_tell_of_room(peer, &peer->reader);
    }
    return any;
}

/* Whether something deferred for PEER can go on. If it waits for room in a ring, asks to be told
 * when there is room for the smallest thing that waits: less room would wake us for nothing. With
 * the lock held. */
static bool can_go_on(struct cohort__shm_peer *peer)
{
    if (peer->why || atomic_load(&peer->is_dead))
        return true;
    size_t bytes = shm_fetches_room(peer);
    if (peer->is_blocked && bytes > COHORT__SHM_MAX_MESSAGE)
        bytes = COHORT__SHM_MAX_MESSAGE;
    return shm_streams_can_go_on(peer) || bytes == 0 ||
           (bytes < SIZE_MAX && !cohort__ring_await_room(&peer->writer, bytes));
}

static bool has_work(struct cohort__shm *shm)
{
    bool any = has_new_callers(shm);
    for (uint32_t i = 0; i < shm->num_callers; i++) {
        struct cohort__shm_peer *peer = shm->callers[i];
        any |= !atomic_load(&peer->is_dead) && !cohort__ring_is_empty(&peer->reader);
        shm_tell_of_room(peer, &peer->reader);
    }
    any |= shm_pieces_wait(shm);
    any |= cohort__shm_look(shm);
    if (any || !atomic_load(&shm->has_deferred))
        return any;
    pthread_mutex_lock(&shm->lock);
    for (struct cohort__list *node = shm->deferred.next; node != &shm->deferred; node = node->next)
        any |= can_go_on(COHORT_CONTAINER_OF(node, struct cohort__shm_peer, deferred));
    pthread_mutex_unlock(&shm->lock);
    return any;
}

bool cohort__shm_arm(void *context)
{
    struct cohort__shm *shm = context;
    atomic_store(&shm->own->sleeping, 1);
    atomic_thread_fence(memory_order_seq_cst);
    if (!has_work(shm))
        return true;
    atomic_store(&shm->own->sleeping, 0);
    return false;
}

void cohort__shm_disarm(void *context)
{
    struct cohort__shm *shm = context;
    atomic_store(&shm->own->sleeping, 0);
    /* Always: a process may have decided to ring the bell while we slept, and do it only now. */
    cohort__bell_silence(shm->hub->doorbells[shm->slot]);
}
