/* SPDX-License-Identifier: Apache-2.0 */
/* Outgoing messages. What is small enough is copied by the provider itself, straight from the
 * caller's parts; else we copy. Either way the parts are the caller's again at once. */
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "runtime/base/container.h"
#include "runtime/net/ofi_end.h"

static struct cohort__ofi_send *send_take(struct cohort__ofi *ofi)
{
    struct cohort__list *node = cohort__list_pop_front(&ofi->sends);
    if (node)
        return COHORT_CONTAINER_OF(node, struct cohort__ofi_send, operation.link);
    if (ofi->num_sends == COHORT__OFI_NUM_SENDS)
        return NULL;
    struct cohort__ofi_send *send = calloc(1, sizeof *send);
    if (!send)
        return NULL;
    send->operation.kind = COHORT__OFI_SEND;
    cohort__list_init(&send->operation.link);
    ofi->num_sends++;
    return send;
}

static void send_give(struct cohort__ofi *ofi, struct cohort__ofi_send *send)
{
    send->peer = NULL;
    cohort__list_push_front(&ofi->sends, &send->operation.link);
}

/* Gives SEND a buffer of its own; it keeps it. */
static bool buffer_ready(struct cohort__ofi *ofi, struct cohort__ofi_send *send)
{
    if (send->data)
        return true;
    unsigned char *data = malloc(COHORT__OFI_MAX_MESSAGE);
    if (!data)
        return false;
    if (cohort__ofi_register(ofi, data, COHORT__OFI_MAX_MESSAGE, FI_SEND, &send->mr)) {
        free(data);
        return false;
    }
    send->data = data;
    return true;
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

static ssize_t start(struct cohort__ofi *ofi, struct cohort__ofi_send *send,
                     const struct iovec *parts, int num_parts, size_t bytes)
{
    struct cohort__ofi_peer *peer = send->peer;
    struct fi_msg msg = {
        .msg_iov = parts,
        .iov_count = (size_t)num_parts,
        .addr = peer->address,
        .context = &send->operation.context,
    };
    if (bytes <= ofi->info->tx_attr->inject_size &&
        (size_t)num_parts <= ofi->info->tx_attr->iov_limit)
        return fi_sendmsg(ofi->ep, &msg, FI_INJECT | FI_COMPLETION);
    if (!buffer_ready(ofi, send))
        return -FI_EAGAIN;
    gather(send->data, parts, num_parts);
    return fi_send(ofi->ep, send->data, bytes, send->mr ? fi_mr_desc(send->mr) : NULL,
                   peer->address, &send->operation.context);
}

enum cohort__net_sent cohort__ofi_send(struct cohort__net *net, uint32_t number,
                                       const struct iovec *parts, int num_parts)
{
    struct cohort__ofi *ofi = (struct cohort__ofi *)net;
    enum cohort__net_sent sent = COHORT__NET_DEAD;
    size_t bytes = 0;
    for (int i = 0; i < num_parts; i++)
        bytes += parts[i].iov_len;
    pthread_mutex_lock(&ofi->lock);
    struct cohort__ofi_peer *peer = cohort__ofi_peer_get(ofi, number);
    struct cohort__ofi_send *send = peer ? send_take(ofi) : NULL;
    if (send) {
        send->peer = peer;
        ssize_t error = start(ofi, send, parts, num_parts, bytes);
        if (error) {
            send_give(ofi, send);
            sent = cohort__ofi_peer_refused(ofi, peer, (int)error);
        } else {
            cohort__ofi_peer_accepted(ofi, peer);
            cohort__list_push_back(&ofi->sending, &send->operation.link);
            sent = COHORT__NET_SENT;
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
    if (error)
        cohort__ofi_peer_lose(ofi, send->peer, error);
    cohort__list_remove(&send->operation.link);
    send_give(ofi, send);
    pthread_mutex_unlock(&ofi->lock);
}

static void send_free(struct cohort__ofi_send *send)
{
    if (send->mr)
        fi_close(&send->mr->fid);
    free(send->data);
    free(send);
}

void cohort__ofi_sends_fini(struct cohort__ofi *ofi)
{
    struct cohort__list *node;
    cohort__list_splice_back(&ofi->sends, &ofi->sending);
    while ((node = cohort__list_pop_front(&ofi->sends)))
        send_free(COHORT_CONTAINER_OF(node, struct cohort__ofi_send, operation.link));
}
