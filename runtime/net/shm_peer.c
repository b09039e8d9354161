/* SPDX-License-Identifier: Apache-2.0 */
/* The peers that we share memory with. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/net/shm_end.h"

static const char transport_name[] = "shm";

/* The address of an end. It is only used on this host. */
struct address {
    char transport[sizeof(transport_name)];
    uint32_t slot;
    uint64_t hub; /* its id */
};

static uint64_t hub_id(const struct cohort__shm *shm)
{
    return ((const struct cohort__shm_head *)(const void *)shm->common)->id;
}

void cohort__shm_address_set(struct cohort__shm *shm)
{
    struct address address = {.slot = shm->slot, .hub = hub_id(shm)};
    memcpy(address.transport, transport_name, sizeof(transport_name));
    memcpy(shm->net.address, &address, sizeof(address));
    shm->net.address_bytes = sizeof(address);
}

static cohort_status address_read(const struct cohort__shm *shm, const void *bytes,
                                  size_t num_bytes, struct address *ret)
{
    struct address address;
    size_t name_bytes = num_bytes < sizeof(address.transport) ? num_bytes : sizeof(address);
    if (num_bytes < sizeof(address.transport) ||
        memcmp(bytes, transport_name, sizeof(transport_name)) != 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "uses transport %.*s, this locality uses %s",
                           (int)strnlen(bytes, name_bytes), (const char *)bytes, transport_name);
    if (num_bytes != sizeof(address))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "has a truncated address");
    memcpy(&address, bytes, sizeof(address));
    if (address.hub != hub_id(shm))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "does not share memory with this locality");
    if (address.slot >= shm->hub->size || address.slot == shm->slot)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "says that it has slot %u of %u",
                           (unsigned)address.slot, (unsigned)shm->hub->size);
    *ret = address;
    return COHORT_OK;
}

bool cohort__shm_shares(const struct cohort__net *net, const void *bytes, size_t num_bytes)
{
    struct address address;
    if (num_bytes != sizeof(address))
        return false;
    memcpy(&address, bytes, sizeof(address));
    return memcmp(address.transport, transport_name, sizeof(transport_name)) == 0 &&
           address.hub == hub_id((const struct cohort__shm *)net);
}

static struct cohort__shm_peer *peer_create(struct cohort__shm *shm, uint32_t number, uint32_t slot)
{
    struct cohort__shm_peer *peer = calloc(1, sizeof(*peer));
    if (!peer)
        return NULL;
    peer->shm = shm;
    peer->number = number;
    peer->slot = slot;
    uint64_t space = cohort__shm_slot(shm, slot)->pid_space;
    peer->may_read = space != 0 && space == shm->pid_space;
    cohort__list_init(&peer->deferred);
    cohort__list_init(&peer->reads);
    cohort__list_init(&peer->unasked);
    cohort__list_init(&peer->fetches);
    cohort__list_init(&peer->streams);
    return peer;
}

/* Makes the tables large enough for NUMBER. */
static bool make_room(struct cohort__shm *shm, uint32_t number)
{
    if (number < shm->num_numbers)
        return true;
    uint32_t num = 2 * number + 64;
    struct cohort__shm_peer **by_number = realloc(shm->by_number, num * sizeof(*by_number));
    if (by_number)
        shm->by_number = by_number;
    uint32_t *slots = realloc(shm->slots, num * sizeof(*slots));
    if (slots)
        shm->slots = slots;
    if (!by_number || !slots)
        return false;
    for (uint32_t i = shm->num_numbers; i < num; i++) {
        by_number[i] = NULL;
        slots[i] = COHORT__SHM_NONE;
    }
    shm->num_numbers = num;
    return true;
}

cohort_status cohort__shm_peer_add(struct cohort__net *net, uint32_t number, const void *bytes,
                                   size_t num_bytes)
{
    struct cohort__shm *shm = (struct cohort__shm *)net;
    struct address address = {0};
    cohort_status status = address_read(shm, bytes, num_bytes, &address);
    if (status)
        return cohort_fail(status, "peer %u %s", (unsigned)number, cohort_error_message());
    pthread_mutex_lock(&shm->lock);
    bool has_room = make_room(shm, number);
    bool is_new = has_room && shm->slots[number] == COHORT__SHM_NONE && !shm->by_number[number] &&
                  shm->numbers[address.slot] == COHORT__SHM_NONE;
    if (is_new) {
        shm->slots[number] = address.slot;
        shm->numbers[address.slot] = number;
    }
    pthread_mutex_unlock(&shm->lock);
    if (!has_room)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for peer %u", (unsigned)number);
    if (!is_new)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "peer %u, or its slot, is there already",
                           (unsigned)number);
    return COHORT_OK;
}

struct cohort__shm_peer *cohort__shm_peer_at(struct cohort__shm *shm, uint32_t slot)
{
    uint32_t number = shm->numbers[slot];
    if (shm->by_slot[slot] || number == COHORT__SHM_NONE || shm->slots[number] != slot)
        return shm->by_slot[slot];
    struct cohort__shm_peer *peer = peer_create(shm, number, slot);
    if (peer)
        shm->by_number[number] = shm->by_slot[slot] = peer;
    return peer;
}

static void disconnect(struct cohort__shm_peer *peer)
{
    struct cohort__shm *shm = peer->shm;
    if (shm->by_number[peer->number] == peer) {
        shm->by_number[peer->number] = NULL;
        shm->slots[peer->number] = COHORT__SHM_NONE;
    }
    atomic_store(&peer->is_dead, true);
    peer->is_blocked = false;
    cohort__shm_defer(peer); /* so that its fetches end */
}

void cohort__shm_peer_remove(struct cohort__net *net, uint32_t number)
{
    struct cohort__shm *shm = (struct cohort__shm *)net;
    pthread_mutex_lock(&shm->lock);
    bool is_there = number < shm->num_numbers && shm->slots[number] != COHORT__SHM_NONE;
    if (is_there && shm->by_number[number])
        disconnect(shm->by_number[number]);
    else if (is_there)
        shm->slots[number] = COHORT__SHM_NONE;
    pthread_mutex_unlock(&shm->lock);
    if (is_there)
        cohort__shm_wake(shm);
}

void cohort__shm_peer_lose(struct cohort__shm_peer *peer, const char *why)
{
    if (atomic_load(&peer->is_dead))
        return;
    peer->why = why;
    disconnect(peer);
}

void cohort__shm_peer_destroy(struct cohort__shm_peer *peer)
{
    if (peer->writer.ring)
        munmap(peer->writer.ring, COHORT__SHM_RING_BYTES);
    if (peer->reader.ring)
        munmap(peer->reader.ring, COHORT__SHM_RING_BYTES);
    if (peer->bulk_writer.ring)
        munmap(peer->bulk_writer.ring, cohort__shm_bulk_bytes(peer->shm->hub->size));
    if (peer->bulk_reader.ring)
        munmap(peer->bulk_reader.ring, cohort__shm_bulk_bytes(peer->shm->hub->size));
    free(peer);
}

/* They are empty after that. */
static void free_ring(struct cohort__ring *ring, size_t bytes)
{
    if (ring)
        (void)madvise(ring, bytes, MADV_REMOVE); /* else the memory stays until the job ends */
}

void cohort__shm_peer_free_rings(struct cohort__shm_peer *peer)
{
    const size_t bulk = cohort__shm_bulk_bytes(peer->shm->hub->size);
    free_ring(peer->writer.ring, COHORT__SHM_RING_BYTES);
    free_ring(peer->reader.ring, COHORT__SHM_RING_BYTES);
    free_ring(peer->bulk_writer.ring, bulk);
    free_ring(peer->bulk_reader.ring, bulk);
}

/* Makes the ring to PEER if there is none yet: empties it, then tells the peer to look at it.
 * False: out of memory; the next message tries again. */
static bool open_ring(struct cohort__shm_peer *peer)
{
    struct cohort__shm *shm = peer->shm;
    if (peer->writer.ring)
        return true;
    void *memory = cohort__shm_ring_map(shm, shm->slot, peer->slot);
    if (!memory) {
        cohort__log(COHORT__LOG_WARN, "net: peer %u: %s", (unsigned)peer->number,
                    cohort_error_message());
        return false;
    }
    cohort__ring_clear(memory);
    cohort__ring_writer_init(&peer->writer, memory, COHORT__SHM_RING_BYTES);
    atomic_fetch_or(&cohort__shm_slot(shm, peer->slot)->callers[shm->slot / 64],
                    UINT64_C(1) << shm->slot % 64);
    return true;
}

struct cohort__shm_peer *cohort__shm_peer_get(struct cohort__shm *shm, uint32_t number)
{
    struct cohort__shm_peer *peer = number < shm->num_numbers ? shm->by_number[number] : NULL;
    if (!peer && number < shm->num_numbers && shm->slots[number] != COHORT__SHM_NONE)
        peer = cohort__shm_peer_at(shm, shm->slots[number]);
    return peer && open_ring(peer) ? peer : NULL;
}

enum cohort__net_sent cohort__shm_peer_missing(const struct cohort__shm *shm, uint32_t number)
{
    bool is_known = number < shm->num_numbers && shm->slots[number] != COHORT__SHM_NONE;
    return is_known ? COHORT__NET_NO_MEMORY : COHORT__NET_DEAD;
}
