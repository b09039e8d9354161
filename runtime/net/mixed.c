/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/mixed.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "runtime/net/shm.h"

enum half { NOBODY, NEAR, FAR, NUM_HALVES };

/* After so many looks in vain the far half is looked at each so many times only. */
enum { FAR_LOOKS = 256, FAR_EACH = 8 };

/* Peers are added before anything is sent, so from the first send on their table is only read. The
 * handlers of the halves are those of the whole: each peer is known to one half only, by the same
 * number. */
struct mixed {
    struct cohort__net net;
    struct cohort__net *halves[NUM_HALVES]; /* NULL: destroyed; always NULL for NOBODY */
    unsigned char *of_peer;                 /* which half each peer belongs to */
    uint32_t num_peers;
    uint32_t num_vain;     /* looks at the far half, one after the other, that have found nothing */
    _Atomic bool has_sent; /* to a far peer since the last of them, so something may wait there */
};

static const char transport_name[] = "mixed";

/* An address consists of the transport's name with its NUL, the length of the near half's address
 * (u8), the near half's address, and the far half's address. */
enum { HEAD_BYTES = sizeof(transport_name) + 1 };

static struct cohort__net *half_to(const struct cohort__net *net, uint32_t peer)
{
    const struct mixed *mixed = (const struct mixed *)net;
    return mixed->halves[peer < mixed->num_peers ? mixed->of_peer[peer] : NOBODY];
}

static cohort_status make_room(struct mixed *mixed, uint32_t peer)
{
    if (peer < mixed->num_peers)
        return COHORT_OK;
    uint32_t num = peer + 64;
    unsigned char *grown = realloc(mixed->of_peer, num);
    if (!grown)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for peer %u", (unsigned)peer);
    memset(grown + mixed->num_peers, NOBODY, num - mixed->num_peers);
    mixed->of_peer = grown;
    mixed->num_peers = num;
    return COHORT_OK;
}

static cohort_status add_peer(struct cohort__net *net, uint32_t peer, const void *address,
                              size_t bytes)
{
    struct mixed *mixed = (struct mixed *)net;
    const unsigned char *parts = (const unsigned char *)address + HEAD_BYTES;
    if (bytes < HEAD_BYTES || memcmp(address, transport_name, sizeof(transport_name)) != 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "peer %u uses transport %.*s, this locality uses %s", (unsigned)peer,
                           (int)strnlen(address, bytes), (const char *)address, transport_name);
    size_t near_bytes = parts[-1];
    if (near_bytes > bytes - HEAD_BYTES)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "peer %u has a truncated address",
                           (unsigned)peer);
    cohort_status status = make_room(mixed, peer);
    if (status)
        return status;
    bool is_near = cohort__shm_shares(mixed->halves[NEAR], parts, near_bytes);
    enum half whose = is_near ? NEAR : FAR;
    struct cohort__net *half = mixed->halves[whose];
    status = is_near ? cohort__net_add_peer(half, peer, parts, near_bytes)
                     : cohort__net_add_peer(half, peer, parts + near_bytes,
                                            bytes - HEAD_BYTES - near_bytes);
    if (!status)
        mixed->of_peer[peer] = (unsigned char)whose;
    return status;
}

static enum cohort__net_sent send_message(struct cohort__net *net, uint32_t peer,
                                          const struct iovec *parts, int num_parts)
{
    struct mixed *mixed = (struct mixed *)net;
    struct cohort__net *half = half_to(net, peer);
    if (!half)
        return COHORT__NET_DEAD;
    enum cohort__net_sent sent = cohort__net_send(half, peer, parts, num_parts);
    if (half == mixed->halves[FAR])
        atomic_store_explicit(&mixed->has_sent, true, memory_order_release);
    return sent;
}

static bool progress_of(struct mixed *mixed, enum half half)
{
    const struct cohort__poller *poller = &mixed->halves[half]->poller;
    return poller->progress(poller->context);
}

/* A look at the far half is a system call. Localities that have exchanged nothing with other hosts
 * for long, which are most where leaders speak for them, look there less often. (What arrives while
 * this locality sleeps wakes it.) */
static bool progress(void *context)
{
    struct mixed *mixed = context;
    bool any = progress_of(mixed, NEAR);
    bool has_sent = atomic_load_explicit(&mixed->has_sent, memory_order_relaxed) &&
                    atomic_exchange_explicit(&mixed->has_sent, false, memory_order_acquire);
    if (!has_sent && mixed->num_vain >= FAR_LOOKS && mixed->num_vain++ % FAR_EACH != 0)
        return any;
    bool any_far = progress_of(mixed, FAR);
    mixed->num_vain = any_far || has_sent ? 0 : mixed->num_vain + (mixed->num_vain < FAR_LOOKS);
    return any || any_far;
}

static bool look(void *context)
{
    const struct cohort__poller *near = &((const struct mixed *)context)->halves[NEAR]->poller;
    return near->look && near->look(near->context);
}

static bool expects(void *context)
{
    struct mixed *mixed = context;
    const struct cohort__poller *far = &mixed->halves[FAR]->poller;
    return far->expects && far->expects(far->context);
}

static bool arm(void *context)
{
    struct mixed *mixed = context;
    const struct cohort__poller *near = &mixed->halves[NEAR]->poller;
    const struct cohort__poller *far = &mixed->halves[FAR]->poller;
    if (!near->arm(near->context))
        return false;
    if (far->arm(far->context))
        return true;
    near->disarm(near->context);
    return false;
}

static void disarm(void *context)
{
    struct mixed *mixed = context;
    for (int i = NEAR; i < NUM_HALVES; i++)
        mixed->halves[i]->poller.disarm(mixed->halves[i]->poller.context);
}

/* Also destroys one that is only partly created. Handlers that one half calls may use the other
 * half. */
static void destroy(struct cohort__net *net)
{
    struct mixed *mixed = (struct mixed *)net;
    for (int i = NEAR; i < NUM_HALVES; i++) {
        cohort__net_destroy(mixed->halves[i]);
        mixed->halves[i] = NULL;
    }
    if (mixed->net.poller.fd >= 0)
        close(mixed->net.poller.fd);
    free(mixed->of_peer);
    free(mixed);
}

/* Messages know the half that they came from, so this transport is never asked to release one; and
 * for what is about one peer but no message, its half is asked. */
static const struct cohort__net_operations operations = {
    .name = transport_name,
    .destroy = destroy,
    .add_peer = add_peer,
    .send = send_message,
    .half_to = half_to,
};

static cohort_status open_poller(struct mixed *mixed)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    mixed->net.poller = (struct cohort__poller){.context = mixed,
                                                .progress = progress,
                                                .look = look,
                                                .expects = expects,
                                                .arm = arm,
                                                .disarm = disarm,
                                                .fd = fd};
    for (int i = NEAR; i < NUM_HALVES && fd >= 0; i++) {
        struct epoll_event event = {.events = EPOLLIN};
        if (epoll_ctl(fd, EPOLL_CTL_ADD, mixed->halves[i]->poller.fd, &event))
            return cohort_fail(COHORT_ERR_NO_MEMORY, "no descriptor to wait for both networks: %m");
    }
    return fd >= 0
               ? COHORT_OK
               : cohort_fail(COHORT_ERR_NO_MEMORY, "no descriptor to wait for both networks: %m");
}

static cohort_status set_address(struct mixed *mixed)
{
    const struct cohort__net *near = mixed->halves[NEAR], *far = mixed->halves[FAR];
    unsigned char *at = mixed->net.address;
    size_t bytes = HEAD_BYTES + near->address_bytes + far->address_bytes;
    if (bytes > sizeof(mixed->net.address))
        return cohort_fail(COHORT_ERR_NETWORK, "an address of %zu bytes is too long", bytes);
    memcpy(at, transport_name, sizeof(transport_name));
    at[HEAD_BYTES - 1] = (unsigned char)near->address_bytes;
    memcpy(at + HEAD_BYTES, near->address, near->address_bytes);
    memcpy(at + HEAD_BYTES + near->address_bytes, far->address, far->address_bytes);
    mixed->net.address_bytes = bytes;
    return COHORT_OK;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

cohort_status cohort__mixed_create(struct cohort__net *near, struct cohort__net *far,
                                   struct cohort__net **ret_net)
{
    struct mixed *mixed = calloc(1, sizeof(*mixed));
    if (!mixed) {
        cohort__net_destroy(near);
        cohort__net_destroy(far);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a network endpoint");
    }
    mixed->net.operations = &operations;
    mixed->net.handlers = near->handlers;
    mixed->net.max_message = larger(near->max_message, far->max_message);
    mixed->net.poller.fd = -1;
    mixed->net.near = near;
    mixed->halves[NEAR] = near;
    mixed->halves[FAR] = far;
    cohort_status status = open_poller(mixed);
    if (!status)
        status = set_address(mixed);
    if (status) {
        destroy(&mixed->net);
        return status;
    }
    *ret_net = &mixed->net;
    return COHORT_OK;
}
