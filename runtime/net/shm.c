/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/net/shm_end.h"

/* The peers that we share memory with. */

static const char transport_name[] = "shm";

/* The address of an end. It is only used on this host. */
struct address {
    char transport[sizeof(transport_name)];
    uint32_t slot;
    uint64_t hub; /* its id */
};

static const struct cohort__shm_head *head_of(const struct cohort__shm *shm)
{
    return (const struct cohort__shm_head *)(const void *)shm->common;
}

static uint64_t hub_id(const struct cohort__shm *shm)
{
    return head_of(shm)->id;
}

static void shm_address_set(struct cohort__shm *shm)
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

static cohort_status shm_peer_add(struct cohort__net *net, uint32_t number, const void *bytes,
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
        atomic_store(&shm->peers[address.slot], number);
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

static void forget(struct cohort__shm *shm, uint32_t number)
{
    atomic_store(&shm->peers[shm->slots[number]], COHORT__SHM_NONE);
    shm->slots[number] = COHORT__SHM_NONE;
}

static void disconnect(struct cohort__shm_peer *peer)
{
    struct cohort__shm *shm = peer->shm;
    if (shm->by_number[peer->number] == peer) {
        shm->by_number[peer->number] = NULL;
        forget(shm, peer->number);
    }
    atomic_store(&peer->is_dead, true);
    peer->is_blocked = false;
    cohort__shm_defer(peer); /* so that its fetches end */
}

static void shm_peer_remove(struct cohort__net *net, uint32_t number)
{
    struct cohort__shm *shm = (struct cohort__shm *)net;
    pthread_mutex_lock(&shm->lock);
    bool is_there = number < shm->num_numbers && shm->slots[number] != COHORT__SHM_NONE;
    if (is_there && shm->by_number[number])
        disconnect(shm->by_number[number]);
    else if (is_there)
        forget(shm, number);
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

static void shm_peer_destroy(struct cohort__shm_peer *peer)
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

static struct cohort__shm *shm_of(const struct cohort__net *net)
{
    return (struct cohort__shm *)net;
}

void cohort__shm_died(struct cohort__net *net, uint32_t slot)
{
    atomic_store(&shm_of(net)->has_died[slot], true);
}

static bool free_pages(unsigned char *begin, const unsigned char *end)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)begin + page - 1) / page * page;
    uintptr_t last = (uintptr_t)end / page * page;
    return first >= last ||
           madvise(begin + (first - (uintptr_t)begin), last - first, MADV_REMOVE) == 0;
}

static enum cohort__net_sent send_message(struct cohort__net *net, uint32_t number,
                                          const struct iovec *parts, int num_parts)
{
    struct cohort__shm *shm = (struct cohort__shm *)net;
    enum cohort__net_sent sent = COHORT__NET_SENT;
    pthread_mutex_lock(&shm->lock);
    struct cohort__shm_peer *peer = cohort__shm_peer_get(shm, number);
    if (!peer) {
        sent = cohort__shm_peer_missing(shm, number);
    } else {
        if (!cohort__shm_write_message(peer, parts, num_parts)) {
            peer->is_blocked = true;
            cohort__shm_defer(peer);
            sent = COHORT__NET_AGAIN;
        }
    }
    pthread_mutex_unlock(&shm->lock);
    /* What could not be done now is left to our own progress. Another thread may be asleep in it,
     * so it is woken. */
    cohort__shm_ring_bell(shm, sent == COHORT__NET_SENT ? peer->slot : shm->slot);
    return sent;
}

/* Address space, mostly. */
static const size_t window_least = 1 << 28;

static void window_close(struct cohort__shm_window *window)
{
    munmap(window->base, window->bytes);
    free(window);
}

static void heaps_close(struct cohort__shm *shm)
{
    if (!shm->common)
        return;
    const size_t num = cohort__heap_fini(&shm->heap);
    if (num > 0)
        cohort__log(COHORT__LOG_WARN, "%zu blocks of cohort_memory_alloc were not given back", num);
    for (uint32_t i = 0; i < 2 * shm->hub->size; i++) {
        struct cohort__shm_window *window = shm->windows[i];
        while (window) {
            struct cohort__shm_window *before = window->before;
            window_close(window);
            window = before;
        }
    }
}

/* Also destroys one that is only partly created. */
static void destroy(struct cohort__net *net)
{
    struct cohort__shm *shm = (struct cohort__shm *)net;
    pthread_mutex_lock(&shm->lock);
    shm->num_numbers = 0; /* for handlers, there are no peers any more */
    pthread_mutex_unlock(&shm->lock);
    for (uint32_t slot = 0; shm->by_slot && slot < shm->hub->size; slot++)
        if (shm->by_slot[slot]) {
            pthread_mutex_lock(&shm->lock);
            cohort__shm_fetches_end(shm->by_slot[slot], COHORT_ERR_CANCELLED);
            cohort__shm_streams_end(shm->by_slot[slot]);
            pthread_mutex_unlock(&shm->lock);
            shm_peer_destroy(shm->by_slot[slot]);
        }
    cohort__shm_regions_fini(shm);
    heaps_close(shm);
    if (shm->common)
        munmap(shm->common, cohort__shm_common_bytes(shm->hub->size));
    cohort__hub_destroy(shm->hub);
    pthread_mutex_destroy(&shm->lock);
    free(shm->by_number);
    free(shm->by_slot);
    free(shm->slots);
    free(shm->numbers);
    free((void *)shm->peers);
    free(shm->callers);
    free(shm->sources);
    free((void *)shm->has_died);
    free((void *)shm->windows);
    free(shm);
}

static const struct cohort__net_operations operations = {
    .name = "shm",
    .destroy = destroy,
    .add_peer = shm_peer_add,
    .remove_peer = shm_peer_remove,
    .send = send_message,
    .expose = cohort__shm_expose,
    .withdraw = cohort__shm_withdraw,
    .fetch = cohort__shm_fetch,
};

struct cohort__shm_slot *cohort__shm_slot(const struct cohort__shm *shm, uint32_t slot)
{
    return (struct cohort__shm_slot *)(void *)(shm->common + cohort__shm_slot_offset(slot));
}

/* Maps a part of the memory. NULL with the error set. */
static void *shm_map(const struct cohort__shm *shm, size_t offset, size_t bytes)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shm->hub->memory, (off_t)offset);
    if (memory != MAP_FAILED)
        return memory;
    (void)cohort_fail(errno == ENOMEM ? COHORT_ERR_NO_MEMORY : COHORT_ERR_SYSTEM,
                      "shared memory of this host: mmap of %zu bytes: %s", bytes, strerror(errno));
    return NULL;
}

void *cohort__shm_ring_map(const struct cohort__shm *shm, uint32_t from, uint32_t to)
{
    return shm_map(shm, cohort__shm_ring_offset(shm->hub->size, from, to), COHORT__SHM_RING_BYTES);
}

void *cohort__shm_bulk_map(const struct cohort__shm *shm, uint32_t from, uint32_t to)
{
    return shm_map(shm, cohort__shm_bulk_offset(shm->hub->size, from, to),
                   cohort__shm_bulk_bytes(shm->hub->size));
}

/* The id of our pid namespace. Process ids mean the same in processes with the same namespace. 0:
 * it can't be found out. */
static uint64_t pid_space(void)
{
    struct stat space;
    return stat("/proc/self/ns/pid", &space) ? 0 : space.st_ino;
}

static void slot_init(struct cohort__shm *shm)
{
    struct cohort__shm_slot *own = cohort__shm_slot(shm, shm->slot);
    shm->own = own;
    atomic_store(&own->sleeping, 0);
    atomic_store(&own->is_heap_gone, 0);
    for (uint32_t word = 0; word * 64 < shm->hub->size; word++)
        atomic_store(&own->callers[word], 0);
    own->pid = getpid();
    own->pid_space = shm->pid_space = pid_space();
}

/* Half of the memory of this host, shared equally. */
static size_t default_limit(const struct cohort__shm *shm)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t share = (size_t)sysconf(_SC_PHYS_PAGES) / 2 / shm->hub->size * page;
    return share < head_of(shm)->heap_bytes ? share : head_of(shm)->heap_bytes;
}

static cohort_status open_memory(struct cohort__shm *shm)
{
    shm->by_slot = calloc(shm->hub->size, sizeof(struct cohort__shm_peer *));
    shm->callers = calloc(shm->hub->size, sizeof(struct cohort__shm_peer *));
    shm->sources = calloc(shm->hub->size, sizeof(struct cohort__shm_peer *));
    shm->numbers = malloc(shm->hub->size * sizeof(*shm->numbers));
    shm->peers = malloc(shm->hub->size * sizeof(*shm->peers));
    shm->has_died = calloc(shm->hub->size, sizeof(*shm->has_died));
    shm->windows = calloc(2 * (size_t)shm->hub->size, sizeof(*shm->windows));
    if (!shm->has_died || !shm->windows || !shm->by_slot || !shm->callers || !shm->sources ||
        !shm->numbers || !shm->peers)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "shared memory of this host: out of memory");
    for (uint32_t slot = 0; slot < shm->hub->size; slot++) {
        shm->numbers[slot] = COHORT__SHM_NONE;
        atomic_init(&shm->peers[slot], COHORT__SHM_NONE);
    }
    shm->common = shm_map(shm, 0, cohort__shm_common_bytes(shm->hub->size));
    if (!shm->common)
        return cohort__error_slot()->status;
    slot_init(shm);
    const uint32_t size = shm->hub->size;
    const uint64_t heap_bytes = head_of(shm)->heap_bytes;
    cohort__heap_init(&shm->heap, shm->hub->memory,
                      cohort__shm_heap_offset(size, heap_bytes, shm->slot), heap_bytes,
                      default_limit(shm));
    return COHORT_OK;
}

cohort_status cohort__shm_create(const struct cohort__net_handlers *handlers,
                                 struct cohort__hub *hub, uint32_t slot, enum cohort__shm_copy copy,
                                 struct cohort__net **ret_net)
{
    if (slot >= hub->size) {
        uint32_t size = hub->size;
        cohort__hub_destroy(hub);
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "shared memory of this host: slot %u of %u",
                           (unsigned)slot, (unsigned)size);
    }
    struct cohort__shm *shm = calloc(1, sizeof(*shm));
    if (!shm) {
        cohort__hub_destroy(hub);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "shared memory of this host: out of memory");
    }
    shm->net.operations = &operations;
    shm->net.handlers = *handlers;
    shm->net.max_message = COHORT__SHM_MAX_MESSAGE;
    shm->net.max_fetch = COHORT__SHM_MAX_FETCH;
    shm->net.max_fetches = COHORT__SHM_MAX_FETCHES;
    shm->net.poller = (struct cohort__poller){
        .context = shm,
        .progress = cohort__shm_progress,
        .look = cohort__shm_look,
        .arm = cohort__shm_arm,
        .disarm = cohort__shm_disarm,
        .fd = hub->doorbells[slot],
    };
    shm->net.near = &shm->net;
    shm->hub = hub;
    shm->slot = slot;
    shm->copy = copy;
    pthread_mutex_init(&shm->lock, NULL);
    cohort__map_init(&shm->regions);
    cohort__list_init(&shm->deferred);
    cohort_status status = open_memory(shm);
    if (status) {
        destroy(&shm->net);
        return status;
    }
    shm_address_set(shm);
    *ret_net = &shm->net;
    return COHORT_OK;
}

/* --- boards and notes --- */

bool cohort__shm_slot_of(struct cohort__net *net, uint32_t number, uint32_t *ret_slot)
{
    struct cohort__shm *shm = shm_of(net);
    pthread_mutex_lock(&shm->lock);
    uint32_t slot = number < shm->num_numbers ? shm->slots[number] : COHORT__SHM_NONE;
    pthread_mutex_unlock(&shm->lock);
    if (slot == COHORT__SHM_NONE)
        return false;
    *ret_slot = slot;
    return true;
}

bool cohort__shm_is_peer(const struct cohort__net *net, uint32_t slot, uint32_t number)
{
    const struct cohort__shm *shm = shm_of(net);
    return slot < shm->hub->size && atomic_load(&shm->peers[slot]) == number;
}

bool cohort__shm_slot_ever(struct cohort__net *net, uint32_t number, uint32_t *ret_slot)
{
    const struct cohort__shm *shm = shm_of(net);
    if (cohort__shm_slot_of(net, number, ret_slot))
        return true;
    pthread_mutex_lock(&shm_of(net)->lock);
    uint32_t slot = 0;
    while (slot < shm->hub->size && shm->numbers[slot] != number)
        slot++;
    pthread_mutex_unlock(&shm_of(net)->lock);
    if (slot == shm->hub->size)
        return false;
    *ret_slot = slot;
    return true;
}

uint32_t cohort__shm_own_slot(const struct cohort__net *net)
{
    return shm_of(net)->slot;
}

cohort_status cohort__shm_board_open(struct cohort__net *net, uint32_t number,
                                     struct cohort__board *ret_board)
{
    struct cohort__shm *shm = shm_of(net);
    uint32_t size = shm->hub->size;
    void *memory =
        shm_map(shm, cohort__shm_board_offset(size, number), cohort__shm_board_bytes(size));
    if (!memory)
        return cohort__error_slot()->status;
    *ret_board = (struct cohort__board){size, memory};
    return COHORT_OK;
}

void cohort__shm_board_close(struct cohort__board *board)
{
    if (board->memory)
        munmap(board->memory, cohort__shm_board_bytes(board->size));
    board->memory = NULL;
}

bool cohort__shm_board_free(const struct cohort__board *board, uint32_t slot, size_t bytes)
{
    unsigned char *arena = cohort__board_arena(board, slot);
    return free_pages(arena, arena + (bytes < COHORT__BOARD_ARENA ? bytes : COHORT__BOARD_ARENA));
}

struct cohort__heap *cohort__shm_heap(struct cohort__net *net)
{
    return &shm_of(net)->heap;
}

void cohort__shm_heap_end(struct cohort__net *net, uint32_t slot)
{
    const struct cohort__shm *shm = shm_of(net);
    const uint64_t bytes = head_of(shm)->heap_bytes;
    atomic_store(&cohort__shm_slot(shm, slot)->is_heap_gone, 1);
    atomic_thread_fence(memory_order_seq_cst);
    (void)fallocate(shm->hub->memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    (off_t)cohort__shm_heap_offset(shm->hub->size, bytes, slot), (off_t)bytes);
}

bool cohort__shm_heap_is_gone(const struct cohort__net *net, uint32_t slot)
{
    return atomic_load(&cohort__shm_slot(shm_of(net), slot)->is_heap_gone) != 0;
}

bool cohort__shm_has_cores(const struct cohort__net *net)
{
    return shm_of(net)->copy == COHORT__SHM_STREAM;
}

void cohort__shm_limit_heap(struct cohort__net *net, uint64_t bytes)
{
    struct cohort__shm *shm = shm_of(net);
    const uint64_t most = head_of(shm)->heap_bytes;
    const uint64_t begin = shm->heap.file_begin;
    (void)cohort__heap_fini(&shm->heap);
    cohort__heap_init(&shm->heap, shm->hub->memory, begin, most,
                      bytes < most / 2 ? bytes : most / 2);
}

/* Opens one of at least BYTES. To write has a mapping of its own, so that who only reads can do no
 * harm. Not in core files, for which the kernel would make memory of all
 * that its owner never used. */
static struct cohort__shm_window *window_open(const struct cohort__shm *shm, uint32_t slot,
                                              size_t bytes, bool is_to_write)
{
    const size_t most = head_of(shm)->heap_bytes;
    size_t size = window_least;
    while (size < bytes)
        size *= 2;
    size = size < most ? size : most;
    const off_t offset = (off_t)cohort__shm_heap_offset(shm->hub->size, most, slot);
    struct cohort__shm_window *window = malloc(sizeof(*window));
    const int access = is_to_write ? PROT_READ | PROT_WRITE : PROT_READ;
    void *memory =
        window ? mmap(NULL, size, access, MAP_SHARED | MAP_NORESERVE, shm->hub->memory, offset)
               : MAP_FAILED;
    if (memory == MAP_FAILED) {
        (void)cohort_fail(errno == ENOMEM ? COHORT_ERR_NO_MEMORY : COHORT_ERR_SYSTEM,
                          "mmap of %zu bytes of it: %s", size, strerror(errno));
        free(window);
        return NULL;
    }
    (void)madvise(memory, size, MADV_DONTDUMP);
    *window = (struct cohort__shm_window){.base = memory, .bytes = size};
    return window;
}

static const struct cohort__shm_window *window_of(struct cohort__shm *shm, uint32_t slot,
                                                  size_t bytes, bool is_to_write)
{
    _Atomic(struct cohort__shm_window *) *place =
        &shm->windows[slot + (is_to_write ? shm->hub->size : 0)];
    struct cohort__shm_window *window = atomic_load(place);
    if (window && window->bytes >= bytes)
        return window;
    pthread_mutex_lock(&shm->lock);
    struct cohort__shm_window *before = atomic_load(place);
    window = before;
    if (!before || before->bytes < bytes) {
        window = window_open(shm, slot, bytes, is_to_write);
        if (window) {
            window->before = before;
            atomic_store(place, window);
        }
    }
    pthread_mutex_unlock(&shm->lock);
    return window;
}

static unsigned char *reach(struct cohort__net *net, uint32_t slot, uint64_t offset, size_t bytes,
                            bool is_to_write)
{
    struct cohort__shm *shm = shm_of(net);
    const uint64_t most = head_of(shm)->heap_bytes;
    if (offset > most || bytes > most - offset) {
        (void)cohort_fail(COHORT_ERR_PROTOCOL, "there can't be %zu bytes at %llu", bytes,
                          (unsigned long long)offset);
        return NULL;
    }
    const struct cohort__shm_window *window = window_of(shm, slot, offset + bytes, is_to_write);
    return window ? window->base + offset : NULL;
}

const unsigned char *cohort__shm_heap_read(struct cohort__net *net, uint32_t slot, uint64_t offset,
                                           size_t bytes)
{
    return reach(net, slot, offset, bytes, false);
}

unsigned char *cohort__shm_heap_write(struct cohort__net *net, uint32_t slot, uint64_t offset,
                                      size_t bytes)
{
    return reach(net, slot, offset, bytes, true);
}

void cohort__shm_alert(struct cohort__net *net, const uint32_t *slots, uint32_t num)
{
    const struct cohort__shm *shm = shm_of(net);
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < num; i++)
        cohort__shm_rouse(shm, slots[i]);
}

cohort_status cohort__shm_notes_open(struct cohort__net *net, uint32_t number,
                                     struct cohort__notes *ret_notes)
{
    struct cohort__shm *shm = (struct cohort__shm *)net;
    uint32_t size = shm->hub->size;
    void *memory = shm_map(shm, cohort__shm_notes_offset(size, number), cohort__notes_bytes(size));
    if (!memory)
        return cohort__error_slot()->status;
    *ret_notes = (struct cohort__notes){size, memory};
    return COHORT_OK;
}

void cohort__shm_notes_close(struct cohort__notes *notes)
{
    if (notes->memory)
        munmap(notes->memory, cohort__notes_bytes(notes->size));
    notes->memory = NULL;
}

void cohort__shm_notes_clear(const struct cohort__notes *notes, uint32_t slot)
{
    unsigned char *own = cohort__notes_slot(notes, slot);
    if (madvise(own, cohort__notes_slot_bytes(), MADV_REMOVE) != 0)
        memset(own, 0, cohort__notes_clear_bytes());
}
