/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/net.h"

#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/wire/envelope.h"

_Static_assert((int)COHORT__NET_TOKEN_BYTES == (int)COHORT__ENVELOPE_TOKEN_BYTES,
               "an announcement's payload is one token");

static inline size_t total(const struct iovec *parts, int num_parts)
{
    size_t bytes = 0;
    for (int i = 0; i < num_parts; i++)
        bytes += parts[i].iov_len;
    return bytes;
}

void cohort__net_destroy(struct cohort__net *net)
{
    if (net)
        net->operations->destroy(net);
}

cohort_status cohort__net_add_peer(struct cohort__net *net, uint32_t peer, const void *address,
                                   size_t bytes)
{
    return net->operations->add_peer(net, peer, address, bytes);
}

struct cohort__net *cohort__net_half_to(const struct cohort__net *net, uint32_t peer)
{
    return net->operations->half_to ? net->operations->half_to(net, peer)
                                    : (struct cohort__net *)net;
}

void cohort__net_remove_peer(struct cohort__net *net, uint32_t peer)
{
    struct cohort__net *half = cohort__net_half_to(net, peer);
    if (half)
        half->operations->remove_peer(half, peer);
}

bool cohort__net_may_lose(const struct cohort__net *net, uint32_t peer)
{
    const struct cohort__net *half = cohort__net_half_to(net, peer);
    return half && half->operations->may_lose && half->operations->may_lose(half, peer);
}

size_t cohort__net_max_message(const struct cohort__net *net, uint32_t peer)
{
    const struct cohort__net *half = cohort__net_half_to(net, peer);
    return half ? half->max_message : 0;
}

enum cohort__net_sent cohort__net_send(struct cohort__net *net, uint32_t peer,
                                       const struct iovec *parts, int num_parts)
{
    size_t bytes = total(parts, num_parts);
    if (bytes > net->max_message) {
        cohort__log(COHORT__LOG_ERROR,
                    "net: %zu bytes for peer %u are no message; %zu are possible", bytes,
                    (unsigned)peer, net->max_message);
        return COHORT__NET_DEAD;
    }
    return net->operations->send(net, peer, parts, num_parts);
}

void cohort__net_release(struct cohort__net_message *message)
{
    if (!message->is_passing)
        message->net->operations->release(message->net, message);
}

cohort_status cohort__net_expose(struct cohort__net *net, uint32_t peer, const void *base,
                                 size_t bytes, void **ret_region,
                                 struct cohort__net_token *ret_token)
{
    struct cohort__net *half = cohort__net_half_to(net, peer);
    if (!half)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "peer %u was never added", (unsigned)peer);
    return half->operations->expose(half, peer, base, bytes, ret_region, ret_token);
}

void cohort__net_withdraw(struct cohort__net *net, uint32_t peer, void *region)
{
    struct cohort__net *half = cohort__net_half_to(net, peer);
    if (half)
        half->operations->withdraw(half, peer, region);
}

enum cohort__net_sent cohort__net_fetch(struct cohort__net *net, uint32_t peer,
                                        const struct cohort__net_token *token, size_t offset,
                                        void *destination, size_t bytes, void *cookie)
{
    struct cohort__net *half = cohort__net_half_to(net, peer);
    return half ? half->operations->fetch(half, peer, token, offset, destination, bytes, cookie)
                : COHORT__NET_DEAD;
}
