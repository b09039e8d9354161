/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/shm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/net/shm_end.h"

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
            cohort__shm_peer_destroy(shm->by_slot[slot]);
        }
    cohort__shm_regions_fini(shm);
    if (shm->common)
        munmap(shm->common, cohort__shm_common_bytes(shm->hub->size));
    cohort__hub_destroy(shm->hub);
    pthread_mutex_destroy(&shm->lock);
    free(shm->by_number);
    free(shm->by_slot);
    free(shm->slots);
    free(shm->numbers);
    free(shm->callers);
    free(shm->sources);
    free((void *)shm->has_died);
    free(shm);
}

static const struct cohort__net_operations operations = {
    .name = "shm",
    .destroy = destroy,
    .add_peer = cohort__shm_peer_add,
    .remove_peer = cohort__shm_peer_remove,
    .send = send_message,
    .expose = cohort__shm_expose,
    .withdraw = cohort__shm_withdraw,
    .fetch = cohort__shm_fetch,
};

struct cohort__shm_slot *cohort__shm_slot(const struct cohort__shm *shm, uint32_t slot)
{
    return (struct cohort__shm_slot *)(void *)(shm->common + cohort__shm_slot_offset(slot));
}

void *cohort__shm_map(const struct cohort__shm *shm, size_t offset, size_t bytes)
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
    return cohort__shm_map(shm, cohort__shm_ring_offset(shm->hub->size, from, to),
                           COHORT__SHM_RING_BYTES);
}

void *cohort__shm_bulk_map(const struct cohort__shm *shm, uint32_t from, uint32_t to)
{
    return cohort__shm_map(shm, cohort__shm_bulk_offset(shm->hub->size, from, to),
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
    for (uint32_t word = 0; word * 64 < shm->hub->size; word++)
        atomic_store(&own->callers[word], 0);
    own->pid = getpid();
    own->pid_space = shm->pid_space = pid_space();
}

static cohort_status open_memory(struct cohort__shm *shm)
{
    shm->by_slot = calloc(shm->hub->size, sizeof(struct cohort__shm_peer *));
    shm->callers = calloc(shm->hub->size, sizeof(struct cohort__shm_peer *));
    shm->sources = calloc(shm->hub->size, sizeof(struct cohort__shm_peer *));
    shm->numbers = malloc(shm->hub->size * sizeof(*shm->numbers));
    shm->has_died = calloc(shm->hub->size, sizeof(*shm->has_died));
    if (!shm->has_died || !shm->by_slot || !shm->callers || !shm->sources || !shm->numbers)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "shared memory of this host: out of memory");
    for (uint32_t slot = 0; slot < shm->hub->size; slot++)
        shm->numbers[slot] = COHORT__SHM_NONE;
    shm->common = cohort__shm_map(shm, 0, cohort__shm_common_bytes(shm->hub->size));
    if (!shm->common)
        return cohort__error_slot()->status;
    slot_init(shm);
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
    cohort__shm_address_set(shm);
    *ret_net = &shm->net;
    return COHORT_OK;
}
