/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/runtime/proc/fake_net.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/proc/peer.h"
#include "tests/support/test.h"

struct message {
    struct cohort__net_message message;
    unsigned char *data;
};

static struct fake_net *fake_of(struct cohort__net *net)
{
    return COHORT_CONTAINER_OF(net, struct fake_net, net);
}

static void remove_peer(struct cohort__net *net, uint32_t peer)
{
    CHECK(!fake_of(net)->is_removed[peer]);
    fake_of(net)->is_removed[peer] = true;
}

static enum cohort__net_sent answer(struct fake_net *fake, uint32_t peer)
{
    CHECK(peer > 0 && peer < FAKE_SIZE);
    if (fake->is_removed[peer])
        return COHORT__NET_DEAD;
    if (fake->accepts == 0)
        return fake->otherwise;
    fake->accepts--;
    return COHORT__NET_SENT;
}

static enum cohort__net_sent on_send(struct cohort__net *net, uint32_t peer,
                                     const struct iovec *parts, int num_parts)
{
    struct fake_net *fake = fake_of(net);
    enum cohort__net_sent sent = answer(fake, peer);
    if (sent != COHORT__NET_SENT)
        return sent;
    struct fake_sent *entry = &fake->sent[fake->num_sent++ % FAKE_KEPT];
    size_t bytes = num_parts > 1 ? parts[1].iov_len : 0;
    CHECK_INT(parts[0].iov_len, COHORT__ENVELOPE_BYTES);
    CHECK(bytes <= FAKE_MAX_PAYLOAD);
    CHECK_OK(
        cohort__envelope_decode(parts[0].iov_base, parts[0].iov_len + bytes, &entry->envelope));
    CHECK_INT(entry->envelope.job_key, FAKE_JOB_KEY);
    CHECK_INT(entry->envelope.epoch, FAKE_EPOCH);
    CHECK_INT(entry->envelope.source_locality, 0);
    entry->peer = peer;
    if (bytes > 0)
        memcpy(entry->payload, parts[1].iov_base,
               bytes < sizeof(entry->payload) ? bytes : sizeof(entry->payload));
    return COHORT__NET_SENT;
}

static void on_release(struct cohort__net *net, struct cohort__net_message *message)
{
    struct message *own = COHORT_CONTAINER_OF(message, struct message, message);
    fake_of(net)->num_messages--;
    free(own->data);
    free(own);
}

static cohort_status on_expose(struct cohort__net *net, uint32_t peer, const void *base,
                               size_t bytes, void **ret_region, struct cohort__net_token *ret_token)
{
    CHECK(base && bytes > 0);
    fake_of(net)->num_regions++;
    memset(ret_token, 't', sizeof(*ret_token));
    *ret_region = net;
    return COHORT_OK;
}

static void on_withdraw(struct cohort__net *net, uint32_t peer, void *region)
{
    CHECK(region == net);
    CHECK(fake_of(net)->num_regions > 0);
    fake_of(net)->num_regions--;
}

static enum cohort__net_sent on_fetch(struct cohort__net *net, uint32_t peer,
                                      const struct cohort__net_token *token, size_t offset,
                                      void *destination, size_t bytes, void *cookie)
{
    struct fake_net *fake = fake_of(net);
    enum cohort__net_sent sent = answer(fake, peer);
    if (sent != COHORT__NET_SENT)
        return sent;
    CHECK(bytes > 0 && bytes <= FAKE_MAX_FETCH);
    CHECK(fake->num_fetches < FAKE_KEPT);
    fake->fetches[fake->num_fetches++] =
        (struct fake_fetch){peer, offset, bytes, destination, cookie};
    return COHORT__NET_SENT;
}

static bool may_lose(const struct cohort__net *net, uint32_t peer)
{
    return COHORT_CONTAINER_OF(net, const struct fake_net, net)->may_lose;
}

static const struct cohort__net_operations operations = {
    .name = "fake",
    .remove_peer = remove_peer,
    .send = on_send,
    .release = on_release,
    .expose = on_expose,
    .withdraw = on_withdraw,
    .fetch = on_fetch,
    .may_lose = may_lose,
};

static void open_as(struct fake_net *fake, struct cohort__process_options options)
{
    *fake = (struct fake_net){.accepts = ~0u, .otherwise = COHORT__NET_AGAIN};
    options.rank = 0;
    options.size = FAKE_SIZE;
    options.job_key = FAKE_JOB_KEY;
    options.epoch = FAKE_EPOCH;
    if (options.eager_budget == 0)
        options.eager_budget = FAKE_BUDGET;
    CHECK_OK(cohort__process_create(&fake->process, &options));
    fake->net.operations = &operations;
    fake->net.max_message = COHORT__ENVELOPE_BYTES + FAKE_MAX_PAYLOAD;
    fake->net.max_fetch = FAKE_MAX_FETCH;
    fake->net.max_fetches = 4;
    fake->net.handlers = cohort__process_net_handlers(fake->process);
    cohort__process_attach_net(fake->process, &fake->net);
}

void fake_net_open(struct fake_net *fake, size_t budget)
{
    open_as(fake, (struct cohort__process_options){.eager_budget = budget});
}

void fake_net_open_launched(struct fake_net *fake,
                            void (*accuse)(void *context, uint32_t rank, bool at_fault,
                                           const char *why),
                            void (*letter)(void *context, const void *data, size_t bytes),
                            void *context)
{
    open_as(fake, (struct cohort__process_options){
                      .accuse = accuse, .letter = letter, .launcher = context});
}

void fake_net_open_faulty(struct fake_net *fake, const struct cohort__fault *fault)
{
    open_as(fake, (struct cohort__process_options){.fault = fault});
}

void fake_net_open_turning(struct fake_net *fake, void (*more)(void *context))
{
    open_as(fake, (struct cohort__process_options){.more = more});
}

void fake_net_close(struct fake_net *fake)
{
    cohort__process_stop(fake->process);
    CHECK(!cohort__process_traffic(fake->process).busy);
    CHECK_INT(fake->num_regions, 0);
    CHECK_INT(fake->num_messages, 0);
    cohort__process_destroy(fake->process);
}

void fake_net_deliver_bytes(struct fake_net *fake, const void *data, size_t bytes)
{
    struct message *own = test_malloc(sizeof(*own));
    own->data = test_malloc(bytes > 0 ? bytes : 1);
    memcpy(own->data, data, bytes);
    own->message = (struct cohort__net_message){
        .net = &fake->net, .data = own->data, .bytes = bytes, .capacity = 4096};
    fake->num_messages++;
    fake->net.handlers.message(fake->net.handlers.context, &own->message);
}

uint32_t fake_net_next_number(const struct fake_net *fake, uint32_t source)
{
    struct cohort__peer *peer = cohort__peer_get(fake->process, source);
    CHECK(peer);
    return peer->link.next;
}

void fake_net_deliver(struct fake_net *fake, uint32_t source, struct cohort__envelope envelope,
                      const void *payload, size_t bytes)
{
    unsigned char data[COHORT__ENVELOPE_BYTES + 15360];
    CHECK(bytes <= sizeof(data) - COHORT__ENVELOPE_BYTES);
    envelope.job_key = FAKE_JOB_KEY;
    envelope.epoch = FAKE_EPOCH;
    envelope.source_locality = source;
    envelope.number = fake_net_next_number(fake, source);
    envelope.payload_bytes = (uint32_t)bytes;
    cohort__envelope_encode(&envelope, data);
    if (bytes > 0)
        memcpy(data + COHORT__ENVELOPE_BYTES, payload, bytes);
    fake_net_deliver_bytes(fake, data, COHORT__ENVELOPE_BYTES + bytes);
}

void fake_net_writable(struct fake_net *fake, uint32_t peer)
{
    fake->net.handlers.writable(fake->net.handlers.context, peer);
}

void fake_net_fetched(struct fake_net *fake, size_t index, cohort_status status)
{
    CHECK(index < fake->num_fetches);
    fake->net.handlers.fetched(fake->net.handlers.context, fake->fetches[index].cookie, status);
}
