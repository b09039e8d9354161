/* SPDX-License-Identifier: Apache-2.0 */
/* Outgoing messages. They are copied here, and sent from the copy. Asking the provider to copy
 * (FI_INJECT) is no faster. Besides, ofi_rxm 1.17 then doesn't copy when its socket is full: if the
 * caller changes the bytes after the call, the changed bytes are sent. */
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "runtime/base/container.h"
#include "runtime/base/log.h"
#include "runtime/net/ofi_end.h"

static struct cohort__ofi_send *send_create(struct cohort__ofi *ofi)
{
    struct cohort__ofi_send *send = aligned_alloc(_Alignof(struct cohort__ofi_send), sizeof *send);
    if (!send)
        return NULL;
    if (cohort__ofi_register(ofi, send->data, sizeof send->data, FI_SEND, &send->mr)) {
        free(send);
        return NULL;
    }
    send->operation.kind = COHORT__OFI_SEND;
    cohort__list_init(&send->operation.link);
    ofi->num_sends++;
    return send;
}

static struct cohort__ofi_send *send_take(struct cohort__ofi *ofi)
{
    struct cohort__list *node = cohort__list_pop_front(&ofi->sends);
    if (node)
        return COHORT_CONTAINER_OF(node, struct cohort__ofi_send, operation.link);
    return ofi->num_sends < COHORT__OFI_NUM_SENDS ? send_create(ofi) : NULL;
}

static void send_give(struct cohort__ofi *ofi, struct cohort__ofi_send *send)
{
    send->peer = NULL;
    cohort__list_push_front(&ofi->sends, &send->operation.link);
}

static size_t gather(unsigned char *to, const struct iovec *parts, int num_parts)
{
    size_t bytes = 0;
    for (int i = 0; i < num_parts; i++) {
        if (parts[i].iov_len > 0)
            memcpy(to + bytes, parts[i].iov_base, parts[i].iov_len);
        bytes += parts[i].iov_len;
    }
    return bytes;
}

enum cohort__net_sent cohort__ofi_send(struct cohort__net *net, uint32_t number,
                                       const struct iovec *parts, int num_parts)
{
    struct cohort__ofi *ofi = (struct cohort__ofi *)net;
    pthread_mutex_lock(&ofi->lock);
    struct cohort__ofi_peer *peer = cohort__ofi_peer_get(ofi, number);
    enum cohort__net_sent sent = peer ? COHORT__NET_SENT : cohort__ofi_peer_missing(ofi, number);
    struct cohort__ofi_send *send = peer ? send_take(ofi) : NULL;
    if (send) {
        send->peer = peer;
        size_t bytes = gather(send->data, parts, num_parts);
        ssize_t error = fi_send(ofi->ep, send->data, bytes, send->mr ? fi_mr_desc(send->mr) : NULL,
                                peer->address, &send->operation.context);
        if (error) {
            send_give(ofi, send);
            sent = cohort__ofi_peer_refused(ofi, peer, (int)error);
        } else {
            cohort__ofi_peer_accepted(ofi, peer);
            cohort__list_push_back(&ofi->sending, &send->operation.link);
        }
    } else if (peer) {
        sent = cohort__ofi_peer_wait(ofi, peer);
    }
    pthread_mutex_unlock(&ofi->lock);
    return sent;
}

void cohort__ofi_send_done(struct cohort__ofi *ofi, struct cohort__ofi_send *send,
                           const char *error)
{
    pthread_mutex_lock(&ofi->lock);
    /* ofi_rxm lets an outsider's message decide which of its sends has ended. It may name a send
     * that is not under way. */
    bool is_ours = send->peer != NULL;
    if (is_ours && error)
        cohort__ofi_peer_lose(ofi, send->peer, error);
    if (is_ours) {
        cohort__list_remove(&send->operation.link);
        send_give(ofi, send);
    }
    pthread_mutex_unlock(&ofi->lock);
    if (!is_ours)
        cohort__log(COHORT__LOG_WARN, "net: a send has ended that was not under way: %s",
                    error ? error : "well");
}

static void send_free(struct cohort__ofi_send *send)
{
    if (send->mr)
        fi_close(&send->mr->fid);
    free(send);
}

void cohort__ofi_sends_fini(struct cohort__ofi *ofi)
{
    struct cohort__list *node;
    cohort__list_splice_back(&ofi->sends, &ofi->sending);
    while ((node = cohort__list_pop_front(&ofi->sends)))
        send_free(COHORT_CONTAINER_OF(node, struct cohort__ofi_send, operation.link));
}
