/* SPDX-License-Identifier: Apache-2.0 */
/* Incoming messages. A fixed number of buffers is posted at all times, however many are held by
 * their receivers. If no buffers were posted, the provider would store messages without any
 * limit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "runtime/base/container.h"
#include "runtime/net/ofi_end.h"
#include "runtime/wire/envelope.h"

static struct cohort__ofi_receive *receive_create(struct cohort__ofi *ofi)
{
    struct cohort__ofi_receive *receive =
        aligned_alloc(_Alignof(struct cohort__ofi_receive), sizeof *receive);
    if (!receive)
        return NULL;
    receive->operation.kind = COHORT__OFI_RECEIVE;
    cohort__list_init(&receive->operation.link);
    receive->message = (struct cohort__net_message){
        .net = &ofi->net,
        .data = receive->data,
        .capacity = sizeof *receive,
    };
    if (cohort__ofi_register(ofi, receive->data, sizeof receive->data, FI_RECV, &receive->mr)) {
        free(receive);
        return NULL;
    }
    cohort__list_push_back(&ofi->all_receives, &receive->all);
    return receive;
}

static void receive_destroy(struct cohort__ofi_receive *receive)
{
    cohort__list_remove(&receive->all);
    if (receive->mr)
        fi_close(&receive->mr->fid);
    free(receive);
}

static struct cohort__ofi_receive *receive_take(struct cohort__ofi *ofi)
{
    struct cohort__list *node = cohort__list_pop_front(&ofi->receives);
    if (!node)
        return receive_create(ofi);
    ofi->num_free_receives--;
    return COHORT_CONTAINER_OF(node, struct cohort__ofi_receive, operation.link);
}

static void receive_give(struct cohort__ofi *ofi, struct cohort__ofi_receive *receive)
{
    if (ofi->num_free_receives == COHORT__OFI_NUM_RECEIVES) {
        receive_destroy(receive);
        return;
    }
    ofi->num_free_receives++;
    cohort__list_push_front(&ofi->receives, &receive->operation.link);
}

static void receive_release(struct cohort__ofi *ofi, struct cohort__ofi_receive *receive)
{
    pthread_mutex_lock(&ofi->lock);
    receive_give(ofi, receive);
    pthread_mutex_unlock(&ofi->lock);
}

/* What came is no packet, or ERROR says why less came. The envelope that it began with may tell who
 * has sent it. */
static void tell_broken(struct cohort__ofi *ofi, struct cohort__ofi_receive *receive, size_t bytes,
                        const char *error)
{
    const struct cohort__net_handlers *handlers = &ofi->net.handlers;
    char why[80];
    if (!error)
        snprintf(why, sizeof why, "%zu bytes are no packet", bytes);
    handlers->broken(handlers->context, receive->data, COHORT__ENVELOPE_BYTES, !error,
                     error ? error : why);
    receive_release(ofi, receive);
}

/* A single message keeps the buffer as long as its receiver wants. Several share it, so they are
 * passing. */
static void deliver(struct cohort__ofi *ofi, struct cohort__ofi_receive *receive,
                    struct cohort__packet_reader *reader)
{
    const struct cohort__net_handlers *handlers = &ofi->net.handlers;
    if (reader->num == 1) {
        const unsigned char *data;
        cohort__packet_reader_next(reader, &data, &receive->message.bytes);
        handlers->message(handlers->context, &receive->message);
        return;
    }
    struct cohort__net_message message = {.net = &ofi->net, .is_passing = true};
    while (cohort__packet_reader_next(reader, &message.data, &message.bytes)) {
        message.capacity = message.bytes;
        handlers->message(handlers->context, &message);
    }
    receive_release(ofi, receive);
}

int cohort__ofi_receives_post(struct cohort__ofi *ofi)
{
    while (ofi->num_posted < COHORT__OFI_NUM_RECEIVES) {
        struct cohort__ofi_receive *receive = receive_take(ofi);
        if (!receive)
            return -FI_ENOMEM;
        /* If it fails, no earlier sender is taken for its own. */
        memset(receive->data, 0, COHORT__ENVELOPE_BYTES);
        ssize_t error = fi_recv(ofi->ep, receive->data, sizeof receive->data,
                                receive->mr ? fi_mr_desc(receive->mr) : NULL, FI_ADDR_UNSPEC,
                                &receive->operation.context);
        if (error) {
            receive_give(ofi, receive);
            return (int)error;
        }
        ofi->num_posted++;
    }
    return 0;
}

void cohort__ofi_receive_done(struct cohort__ofi *ofi, struct cohort__ofi_receive *receive,
                              size_t bytes, const char *error)
{
    pthread_mutex_lock(&ofi->lock);
    ofi->num_posted--;
    bool is_closing = ofi->is_closing;
    if (!is_closing && cohort__ofi_receives_post(ofi))
        cohort__ofi_wake(ofi);
    pthread_mutex_unlock(&ofi->lock);
    if (!error && bytes > sizeof receive->data)
        error = "the provider tells more bytes than there is room for";
    bool is_hello = !error && cohort__ofi_hello_take(ofi, receive->data, bytes);
    if (is_hello || is_closing) {
        receive_release(ofi, receive);
        return;
    }
    struct cohort__packet_reader reader;
    if (!error && cohort__packet_reader_init(&reader, receive->data, bytes))
        deliver(ofi, receive, &reader);
    else
        tell_broken(ofi, receive, bytes, error);
}

void cohort__ofi_release(struct cohort__net *net, struct cohort__net_message *message)
{
    struct cohort__ofi *ofi = (struct cohort__ofi *)net;
    receive_release(ofi, COHORT_CONTAINER_OF(message, struct cohort__ofi_receive, message));
}

void cohort__ofi_receives_fini(struct cohort__ofi *ofi)
{
    while (!cohort__list_is_empty(&ofi->all_receives))
        receive_destroy(
            COHORT_CONTAINER_OF(ofi->all_receives.next, struct cohort__ofi_receive, all));
}
