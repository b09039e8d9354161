/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that peers may read, and reading the blocks of peers. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/net/ofi_end.h"

struct region {
    struct cohort__list link;
    struct fid_mr *mr;
};

/* On the wire each is a little-endian u64; the rest of the token is zero. */
struct token {
    uint64_t address;
    uint64_t key;
    uint64_t bytes;
};

static void token_write(const struct token *token, struct cohort__net_token *out)
{
    uint64_t words[3] = {htole64(token->address), htole64(token->key), htole64(token->bytes)};
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, words, sizeof words);
}

static struct token token_read(const struct cohort__net_token *in)
{
    uint64_t words[3];
    memcpy(words, in->bytes, sizeof words);
    return (struct token){le64toh(words[0]), le64toh(words[1]), le64toh(words[2])};
}

int cohort__ofi_register(struct cohort__ofi *ofi, const void *base, size_t bytes, uint64_t access,
                         struct fid_mr **ret_mr)
{
    *ret_mr = NULL;
    if (!(ofi->info->domain_attr->mr_mode & FI_MR_LOCAL))
        return 0;
    return fi_mr_reg(ofi->domain, base, bytes, access, 0, ofi->next_key++, 0, ret_mr, NULL);
}

cohort_status cohort__ofi_expose(struct cohort__net *net, uint32_t number, const void *base,
                                 size_t bytes, void **ret_region,
                                 struct cohort__net_token *ret_token)
{
    (void)number;
    struct cohort__ofi *ofi = (struct cohort__ofi *)net;
    if (bytes == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "a block of no bytes can't be exposed");
    struct region *region = cohort__slab_alloc(sizeof *region);
    if (!region)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory to expose a block of %zu bytes", bytes);
    pthread_mutex_lock(&ofi->lock);
    int error = fi_mr_reg(ofi->domain, base, bytes, FI_REMOTE_READ, 0, ofi->next_key++, 0,
                          &region->mr, NULL);
    if (!error) {
        cohort__list_push_back(&ofi->regions, &region->link);
        cohort__ofi_expect(ofi, bytes);
    }
    pthread_mutex_unlock(&ofi->lock);
    if (error) {
        cohort__slab_free(region);
        return cohort__ofi_fail(ofi, "fi_mr_reg", error);
    }
    bool is_virtual = ofi->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    struct token token = {
        .address = is_virtual ? (uintptr_t)base : 0,
        .key = fi_mr_key(region->mr),
        .bytes = bytes,
    };
    token_write(&token, ret_token);
    *ret_region = region;
    return COHORT_OK;
}

static void region_close(struct cohort__ofi *ofi, struct region *region)
{
    cohort__ofi_expect_end(ofi);
    cohort__list_remove(&region->link);
    fi_close(&region->mr->fid);
    cohort__slab_free(region);
}

void cohort__ofi_withdraw(struct cohort__net *net, uint32_t number, void *region)
{
    (void)number; /* every peer may read a block */
    struct cohort__ofi *ofi = (struct cohort__ofi *)net;
    pthread_mutex_lock(&ofi->lock);
    region_close(ofi, region);
    pthread_mutex_unlock(&ofi->lock);
}

void cohort__ofi_regions_fini(struct cohort__ofi *ofi)
{
    while (!cohort__list_is_empty(&ofi->regions))
        region_close(ofi, COHORT_CONTAINER_OF(ofi->regions.next, struct region, link));
}

static struct cohort__ofi_landing *landing_create(struct cohort__ofi *ofi)
{
    struct cohort__ofi_landing *landing =
        aligned_alloc(_Alignof(struct cohort__ofi_landing), sizeof *landing);
    if (!landing)
        return NULL;
    cohort__list_init(&landing->link);
    if (cohort__ofi_register(ofi, landing->data, sizeof landing->data, FI_READ, &landing->mr)) {
        free(landing);
        return NULL;
    }
    return landing;
}

static void landing_destroy(struct cohort__ofi_landing *landing)
{
    if (landing->mr)
        fi_close(&landing->mr->fid);
    free(landing);
}

/* The one that was used last, which is likely to be in a cache. */
static struct cohort__ofi_landing *landing_take(struct cohort__ofi *ofi)
{
    struct cohort__list *node = cohort__list_pop_front(&ofi->landings);
    if (!node)
        return landing_create(ofi);
    ofi->num_landings--;
    return COHORT_CONTAINER_OF(node, struct cohort__ofi_landing, link);
}

static void landing_give(struct cohort__ofi *ofi, struct cohort__ofi_landing *landing)
{
    if (ofi->num_landings == COHORT__OFI_NUM_LANDINGS) {
        landing_destroy(landing);
        return;
    }
    ofi->num_landings++;
    cohort__list_push_front(&ofi->landings, &landing->link);
}

void cohort__ofi_landings_fini(struct cohort__ofi *ofi)
{
    struct cohort__list *node;
    while ((node = cohort__list_pop_front(&ofi->landings)))
        landing_destroy(COHORT_CONTAINER_OF(node, struct cohort__ofi_landing, link));
}

/* If a peer is on this host, the kernel ends its connections at the moment when it dies. From
 * another host it may happen that nothing ever comes, neither the bytes nor an error. So bytes from
 * another host arrive in memory of our own, which the provider can keep for as long as it takes. */
static struct cohort__ofi_fetch *fetch_create(struct cohort__ofi *ofi,
                                              struct cohort__ofi_peer *peer, void *destination,
                                              size_t bytes, void *cookie)
{
    struct cohort__ofi_fetch *fetch = cohort__slab_alloc_zero(sizeof *fetch);
    if (!fetch)
        return NULL;
    fetch->operation.kind = COHORT__OFI_FETCH;
    cohort__list_init(&fetch->operation.link);
    cohort__list_init(&fetch->failed);
    fetch->peer = peer;
    fetch->cookie = cookie;
    fetch->bytes = bytes;
    fetch->destination = destination;
    if (!peer->is_here && !(fetch->landing = landing_take(ofi))) {
        cohort__slab_free(fetch);
        return NULL;
    }
    cohort__ofi_expect(ofi, bytes);
    return fetch;
}

static void fetch_destroy(struct cohort__ofi *ofi, struct cohort__ofi_fetch *fetch)
{
    cohort__ofi_expect_end(ofi);
    cohort__list_remove(&fetch->operation.link);
    if (fetch->mr)
        fi_close(&fetch->mr->fid);
    if (fetch->landing)
        landing_give(ofi, fetch->landing);
    cohort__slab_free(fetch);
}

static void fetch_fail(struct cohort__ofi *ofi, struct cohort__ofi_fetch *fetch,
                       cohort_status status)
{
    fetch->status = status;
    fetch->is_reported = true;
    cohort__list_push_back(&ofi->failed, &fetch->failed);
    cohort__ofi_wake(ofi);
}

/* The peer needs not be asked before (ofi_peer.c): the token has come in a message, so it has
 * asked and was answered. */
static enum cohort__net_sent start(struct cohort__ofi *ofi, struct cohort__ofi_fetch *fetch,
                                   const struct token *token, size_t offset)
{
    void *to = fetch->destination;
    ssize_t error = 0;
    if (fetch->landing)
        to = fetch->landing->data;
    else
        error = cohort__ofi_register(ofi, to, fetch->bytes, FI_READ, &fetch->mr);
    struct fid_mr *mr = fetch->landing ? fetch->landing->mr : fetch->mr;
    if (!error)
        error = fi_read(ofi->ep, to, fetch->bytes, mr ? fi_mr_desc(mr) : NULL, fetch->peer->address,
                        token->address + offset, token->key, &fetch->operation.context);
    if (error) {
        struct cohort__ofi_peer *peer = fetch->peer;
        fetch_destroy(ofi, fetch);
        return cohort__ofi_peer_refused(ofi, peer, (int)error);
    }
    cohort__ofi_peer_accepted(ofi, fetch->peer);
    cohort__list_push_back(&ofi->fetches, &fetch->operation.link);
    return COHORT__NET_SENT;
}

enum cohort__net_sent cohort__ofi_fetch(struct cohort__net *net, uint32_t number,
                                        const struct cohort__net_token *token, size_t offset,
                                        void *destination, size_t bytes, void *cookie)
{
    struct cohort__ofi *ofi = (struct cohort__ofi *)net;
    struct token t = token_read(token);
    bool is_inside =
        offset <= t.bytes && bytes <= t.bytes - offset && bytes <= COHORT__OFI_MAX_FETCH;
    pthread_mutex_lock(&ofi->lock);
    struct cohort__ofi_peer *peer = cohort__ofi_peer_get(ofi, number);
    enum cohort__net_sent sent = peer ? COHORT__NET_SENT : cohort__ofi_peer_missing(ofi, number);
    struct cohort__ofi_fetch *fetch =
        peer ? fetch_create(ofi, peer, destination, bytes, cookie) : NULL;
    if (fetch && is_inside) {
        sent = start(ofi, fetch, &t, offset);
    } else if (fetch) { /* the peer's token is wrong: an error, but not of the connection */
        fetch_fail(ofi, fetch, COHORT_ERR_PROTOCOL);
    } else if (peer) {
        sent = cohort__ofi_peer_refused(ofi, peer, -FI_EAGAIN);
    }
    pthread_mutex_unlock(&ofi->lock);
    return sent;
}

void cohort__ofi_fetch_done(struct cohort__ofi *ofi, struct cohort__ofi_fetch *fetch,
                            const char *error)
{
    pthread_mutex_lock(&ofi->lock);
    cohort__list_remove(&fetch->operation.link);
    if (error)
        cohort__ofi_peer_lose(ofi, fetch->peer, error);
    void *cookie = fetch->cookie;
    /* If it is not, nobody else reports it any more, since it is in no list. So the destination
     * stays. */
    bool is_reported = fetch->is_reported;
    if (!is_reported && !error && fetch->landing) {
        pthread_mutex_unlock(&ofi->lock);
        memcpy(fetch->destination, fetch->landing->data, fetch->bytes);
        pthread_mutex_lock(&ofi->lock);
    }
    /* A fetch that still waits in `failed` is destroyed when it is reported. */
    if (cohort__list_is_empty(&fetch->failed))
        fetch_destroy(ofi, fetch);
    pthread_mutex_unlock(&ofi->lock);
    if (!is_reported)
        ofi->net.handlers.fetched(ofi->net.handlers.context, cookie,
                                  error ? COHORT_ERR_PEER_DIED : COHORT_OK);
}

void cohort__ofi_fetches_fail(struct cohort__ofi *ofi, const struct cohort__ofi_peer *peer)
{
    for (struct cohort__list *n = ofi->fetches.next; n != &ofi->fetches; n = n->next) {
        struct cohort__ofi_fetch *fetch =
            COHORT_CONTAINER_OF(n, struct cohort__ofi_fetch, operation.link);
        if (fetch->peer == peer && fetch->landing && !fetch->is_reported)
            fetch_fail(ofi, fetch, COHORT_ERR_PEER_DIED);
    }
}

bool cohort__ofi_fetches_progress(struct cohort__ofi *ofi)
{
    bool any = false;
    struct cohort__list *node;
    while ((node = cohort__list_pop_front(&ofi->failed))) {
        struct cohort__ofi_fetch *fetch =
            COHORT_CONTAINER_OF(node, struct cohort__ofi_fetch, failed);
        void *cookie = fetch->cookie;
        cohort_status status = fetch->status;
        /* A fetch that is still under way is destroyed when it completes. */
        if (cohort__list_is_empty(&fetch->operation.link))
            fetch_destroy(ofi, fetch);
        pthread_mutex_unlock(&ofi->lock);
        ofi->net.handlers.fetched(ofi->net.handlers.context, cookie, status);
        pthread_mutex_lock(&ofi->lock);
        any = true;
    }
    return any;
}

void cohort__ofi_fetches_cancel(struct cohort__ofi *ofi)
{
    struct cohort__list *node;
    pthread_mutex_lock(&ofi->lock);
    while ((node = cohort__list_pop_front(&ofi->fetches))) {
        struct cohort__ofi_fetch *fetch =
            COHORT_CONTAINER_OF(node, struct cohort__ofi_fetch, operation.link);
        if (!fetch->is_reported)
            fetch_fail(ofi, fetch, COHORT_ERR_CANCELLED);
        else if (cohort__list_is_empty(&fetch->failed))
            fetch_destroy(ofi, fetch);
    }
    cohort__ofi_fetches_progress(ofi);
    pthread_mutex_unlock(&ofi->lock);
}
