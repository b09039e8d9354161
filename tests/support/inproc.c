/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/inproc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/bell.h"
#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "tests/support/inproc_end.h"

void cohort__inproc_cut_locked(struct cohort__inproc_hub *hub, uint32_t rank)
{
    if (hub->ends[rank])
        hub->ends[rank]->is_cut = true;
    for (uint32_t i = 0; i < hub->num_ends; i++) {
        struct cohort__inproc_end *end = hub->ends[i];
        if (!end || i == rank)
            continue;
        struct cohort__map_node *n = cohort__map_first(&end->peers);
        for (; n; n = cohort__map_next(&end->peers, n)) {
            struct cohort__inproc_peer *peer =
                COHORT_CONTAINER_OF(n, struct cohort__inproc_peer, node);
            if (peer->rank == rank)
                cohort__inproc_peer_lose(end, peer);
        }
    }
}

void cohort__inproc_cut(struct cohort__inproc_hub *hub, uint32_t rank)
{
    pthread_mutex_lock(&hub->lock);
    if (rank < hub->num_ends)
        cohort__inproc_cut_locked(hub, rank);
    pthread_mutex_unlock(&hub->lock);
}

void cohort__inproc_cut_after(struct cohort__inproc_hub *hub, uint32_t rank, uint64_t num_messages,
                              uint64_t ranks)
{
    pthread_mutex_lock(&hub->lock);
    if (rank < hub->num_ends && hub->ends[rank]) {
        hub->ends[rank]->sends_left = num_messages;
        hub->ends[rank]->dies_with = ranks;
    }
    pthread_mutex_unlock(&hub->lock);
}

static void peers_free(struct cohort__inproc_end *end)
{
    struct cohort__map_node *next;
    for (struct cohort__map_node *n = cohort__map_first(&end->peers); n; n = next) {
        next = cohort__map_next(&end->peers, n);
        free(COHORT_CONTAINER_OF(n, struct cohort__inproc_peer, node));
    }
    cohort__map_fini(&end->peers);
}

static void inproc_destroy(struct cohort__net *net)
{
    struct cohort__inproc_end *end = (struct cohort__inproc_end *)net;
    struct cohort__inproc_hub *hub = end->hub;
    pthread_mutex_lock(&hub->lock);
    cohort__inproc_regions_close(end);
    hub->ends[end->rank] = NULL;
    pthread_mutex_unlock(&hub->lock);
    cohort__inproc_events_fini(end, &end->events);
    cohort__inproc_events_fini(end, &end->held);
    peers_free(end);
    close(net->poller.fd);
    free(end);
}

static const struct cohort__net_operations operations = {
    .name = "inproc",
    .destroy = inproc_destroy,
    .add_peer = cohort__inproc_add_peer,
    .remove_peer = cohort__inproc_remove_peer,
    .send = cohort__inproc_send,
    .release = cohort__inproc_release,
    .expose = cohort__inproc_expose,
    .withdraw = cohort__inproc_withdraw,
    .fetch = cohort__inproc_fetch,
};

static void end_init(struct cohort__inproc_end *end, struct cohort__inproc_hub *hub, uint32_t rank,
                     const struct cohort__net_handlers *handlers, int fd)
{
    struct cohort__inproc_address address;
    memset(&address, 0, sizeof address); /* the padding too, since it is copied as bytes */
    memcpy(address.transport, cohort__inproc_name, sizeof cohort__inproc_name);
    address.hub = hub;
    address.rank = rank;
    end->net.operations = &operations;
    end->net.handlers = *handlers;
    end->net.max_message = COHORT__INPROC_MAX_MESSAGE;
    end->net.max_fetch = COHORT__INPROC_MAX_FETCH;
    end->net.max_fetches = 4;
    end->net.max_in_fragments = hub->seed % 2 ? 4 * COHORT__INPROC_MAX_MESSAGE : 0;
    memcpy(end->net.address, &address, sizeof address);
    end->net.address_bytes = sizeof address;
    end->net.poller = (struct cohort__poller){
        .context = end,
        .progress = cohort__inproc_progress,
        .arm = cohort__inproc_arm,
        .disarm = cohort__inproc_disarm,
        .fd = fd,
    };
    end->hub = hub;
    end->rank = rank;
    end->random = cohort__random_seeded(cohort__hash_mix(hub->seed, rank));
    cohort__map_init(&end->peers);
    cohort__list_init(&end->events);
    cohort__list_init(&end->held);
}

cohort_status cohort__inproc_create(struct cohort__inproc_hub *hub, uint32_t rank,
                                    const struct cohort__net_handlers *handlers,
                                    struct cohort__net **ret_net)
{
    if (rank >= hub->num_ends)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "rank %u on a hub for %u", rank,
                           hub->num_ends);
    struct cohort__inproc_end *end = calloc(1, sizeof *end);
    if (!end)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a network endpoint");
    int fd = cohort__bell_create();
    if (fd < 0) {
        free(end);
        return cohort_fail(COHORT_ERR_SYSTEM, "no descriptor to wait for the network: %m");
    }
    end_init(end, hub, rank, handlers, fd);
    pthread_mutex_lock(&hub->lock);
    bool is_free = !hub->ends[rank];
    if (is_free)
        hub->ends[rank] = end;
    pthread_mutex_unlock(&hub->lock);
    if (is_free) {
        *ret_net = &end->net;
        return COHORT_OK;
    }
    close(fd);
    free(end);
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "rank %u of the hub is taken", rank);
}

cohort_status cohort__inproc_hub_create(uint64_t seed, uint32_t num_ends,
                                        struct cohort__inproc_hub **ret_hub)
{
    struct cohort__inproc_hub *hub = calloc(1, sizeof *hub + num_ends * sizeof hub->ends[0]);
    if (!hub)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a hub of %u ends", num_ends);
    pthread_mutex_init(&hub->lock, NULL);
    pthread_cond_init(&hub->unread, NULL);
    hub->seed = seed;
    hub->num_ends = num_ends;
    cohort__map_init(&hub->regions);
    *ret_hub = hub;
    return COHORT_OK;
}

void cohort__inproc_hub_destroy(struct cohort__inproc_hub *hub)
{
    if (!hub)
        return;
    cohort__map_fini(&hub->regions);
    pthread_cond_destroy(&hub->unread);
    pthread_mutex_destroy(&hub->lock);
    free(hub);
}
