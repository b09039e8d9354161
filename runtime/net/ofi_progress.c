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

static void ofi_receive_done(struct cohort__ofi *ofi, struct cohort__ofi_receive *receive,
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

/* The completion queue, and the poller that the event loop runs. */
#include <errno.h>
#include <poll.h>
#include <sys/timerfd.h>

#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include "runtime/base/bell.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/log.h"
#include "runtime/net/ofi_end.h"

/* How many completions one call of progress handles at most, so that other work gets its turn. */
enum { MAX_COMPLETIONS = 64, BATCH = 16 };

/* After how many nanoseconds to try again to post receives for which there was no memory. */
static const uint64_t post_again = 10 * 1000 * 1000;

void cohort__ofi_wake(struct cohort__ofi *ofi)
{
    atomic_store(&ofi->has_work, true);
    if (atomic_load(&ofi->is_armed) && !cohort__bell_ring(ofi->wake_fd))
        cohort__log(COHORT__LOG_WARN, "net: writing to an eventfd failed");
}

static void complete(struct cohort__ofi *ofi, void *context, size_t bytes, const char *error)
{
    struct cohort__ofi_operation *operation = context;
    switch (operation->kind) {
    case COHORT__OFI_RECEIVE:
        ofi_receive_done(ofi, COHORT_CONTAINER_OF(operation, struct cohort__ofi_receive, operation),
                         bytes, error);
        break;
    case COHORT__OFI_SEND:
        cohort__ofi_send_done(
            ofi, COHORT_CONTAINER_OF(operation, struct cohort__ofi_send, operation), error);
        break;
    case COHORT__OFI_FETCH:
        cohort__ofi_fetch_done(
            ofi, COHORT_CONTAINER_OF(operation, struct cohort__ofi_fetch, operation), error);
        break;
    }
}

static void serial_begin(struct cohort__ofi *ofi)
{
    if (ofi->is_serial)
        pthread_mutex_lock(&ofi->lock);
}

static void serial_end(struct cohort__ofi *ofi)
{
    if (ofi->is_serial)
        pthread_mutex_unlock(&ofi->lock);
}

/* One operation has failed. False: there was no such entry after all. */
static bool complete_error(struct cohort__ofi *ofi)
{
    struct fi_cq_err_entry entry = {0};
    serial_begin(ofi);
    bool is_one = fi_cq_readerr(ofi->cq, &entry, 0) >= 1;
    serial_end(ofi);
    if (!is_one)
        return false;
    const char *why = ofi->library->strerror(entry.err);
    if (entry.op_context)
        complete(ofi, entry.op_context, 0, why);
    else
        cohort__log(COHORT__LOG_INFO, "net: %s reports: %s", ofi->info->fabric_attr->prov_name,
                    why);
    return true;
}

/* What the handlers send goes out together. */
static void handle(struct cohort__ofi *ofi, const struct fi_cq_msg_entry *entries, ssize_t num)
{
    atomic_store_explicit(&ofi->is_handling, true, memory_order_relaxed);
    for (ssize_t i = 0; i < num; i++)
        complete(ofi, entries[i].op_context, entries[i].len, NULL);
    atomic_store_explicit(&ofi->is_handling, false, memory_order_relaxed);
    if (!atomic_load(&ofi->has_work))
        return;
    pthread_mutex_lock(&ofi->lock);
    cohort__ofi_batches_progress(ofi);
    pthread_mutex_unlock(&ofi->lock);
}

static bool drain(struct cohort__ofi *ofi)
{
    int num_done = 0;
    while (num_done < MAX_COMPLETIONS) {
        struct fi_cq_msg_entry entries[BATCH];
        /* When a caller's first bytes are cut short, or the caller closes, the tcp provider of 1.17
         * reads errno for the reason, though nothing has set it. With an old EAGAIN in errno it
         * would keep the connection, and poll it for ever. */
        serial_begin(ofi);
        errno = 0;
        ssize_t n = fi_cq_read(ofi->cq, entries, BATCH);
        serial_end(ofi);
        if (n == -FI_EAVAIL && complete_error(ofi)) {
            num_done++;
            continue;
        }
        if (n <= 0)
            break;
        handle(ofi, entries, n);
        num_done += (int)n;
        if (n < BATCH)
            break;
    }
    return num_done > 0;
}

static bool work(struct cohort__ofi *ofi, bool had_completions)
{
    uint64_t when;
    pthread_mutex_lock(&ofi->lock);
    atomic_store(&ofi->has_work, false);
    bool any = cohort__ofi_fetches_progress(ofi);
    any |= cohort__ofi_batches_progress(ofi);
    any |= cohort__ofi_peers_progress(ofi, had_completions);
    if (cohort__ofi_receives_post(ofi) || cohort__ofi_peers_ready(ofi, &when) ||
        !cohort__list_is_empty(&ofi->blocked))
        atomic_store(&ofi->has_work, true);
    pthread_mutex_unlock(&ofi->lock);
    return any;
}

bool cohort__ofi_progress(void *context)
{
    struct cohort__ofi *ofi = context;
    bool any = drain(ofi);
    if (atomic_load(&ofi->has_work))
        any |= work(ofi, any);
    return any;
}

/* Sleeping and waking take longer than the moment by which a block may be late. */
void cohort__ofi_expect(struct cohort__ofi *ofi, size_t bytes)
{
    enum { START = 200 * 1000, MOST = 5 * 1000 * 1000 };                          /* ns */
    uint64_t until = cohort__clock_now() + START + (bytes < MOST ? bytes : MOST); /* 1 GB/s */
    if (until > atomic_load_explicit(&ofi->expects_until, memory_order_relaxed))
        atomic_store_explicit(&ofi->expects_until, until, memory_order_relaxed);
    atomic_fetch_add_explicit(&ofi->num_blocks, 1, memory_order_relaxed);
}

void cohort__ofi_expect_end(struct cohort__ofi *ofi)
{
    atomic_fetch_sub_explicit(&ofi->num_blocks, 1, memory_order_relaxed);
}

bool cohort__ofi_expects(void *context)
{
    struct cohort__ofi *ofi = context;
    return atomic_load_explicit(&ofi->num_blocks, memory_order_relaxed) > 0 &&
           cohort__clock_now() < atomic_load_explicit(&ofi->expects_until, memory_order_relaxed);
}

static void timer_set(struct cohort__ofi *ofi, uint64_t when)
{
    uint64_t now = cohort__clock_now();
    uint64_t delay = when > now ? when - now : 1;
    struct itimerspec spec = {.it_value = {.tv_sec = (time_t)(delay / 1000000000),
                                           .tv_nsec = (long)(delay % 1000000000)}};
    timerfd_settime(ofi->retry_fd, 0, &spec, NULL);
}

/* Whether the queue is empty. If so, its descriptor becomes readable when it no longer is. */
static bool queue_arm(struct cohort__ofi *ofi)
{
    struct fid *fids[] = {&ofi->cq->fid};
    if (!ofi->wait)
        return fi_trywait(ofi->fabric, fids, 1) == 0;
    serial_begin(ofi);
    int error = cohort__ofi_wait_set_look(ofi->wait);
    serial_end(ofi);
    return error == -FI_ETIMEDOUT;
}

bool cohort__ofi_arm(void *context)
{
    struct cohort__ofi *ofi = context;
    /* First set the flag, then look at the lists. Threads that fill the lists do it the other way
     * round, so no wake-up is lost. */
    atomic_store(&ofi->is_armed, true);
    bool may_block = queue_arm(ofi);
    uint64_t when = UINT64_MAX;
    if (may_block && atomic_load(&ofi->has_work)) {
        pthread_mutex_lock(&ofi->lock);
        may_block = cohort__list_is_empty(&ofi->failed) && cohort__list_is_empty(&ofi->batches) &&
                    !cohort__ofi_peers_ready(ofi, &when);
        if (ofi->num_posted < COHORT__OFI_NUM_RECEIVES && when == UINT64_MAX)
            when = cohort__clock_now() + post_again;
        pthread_mutex_unlock(&ofi->lock);
    }
    if (may_block && when != UINT64_MAX)
        timer_set(ofi, when);
    if (!may_block)
        atomic_store(&ofi->is_armed, false);
    return may_block;
}

void cohort__ofi_disarm(void *context)
{
    struct cohort__ofi *ofi = context;
    struct itimerspec never = {0};
    atomic_store(&ofi->is_armed, false);
    /* Always: a thread may have decided on the wake-up while we were armed, and ring only now. */
    cohort__bell_silence(ofi->wake_fd);
    if (atomic_load(&ofi->has_work))
        timerfd_settime(ofi->retry_fd, 0, &never, NULL);
}

void cohort__ofi_linger(struct cohort__ofi *ofi)
{
    for (int i = 0; i < 200; i++) {
        while (drain(ofi))
            ;
        pthread_mutex_lock(&ofi->lock);
        bool done = cohort__ofi_batches_end(ofi) && cohort__list_is_empty(&ofi->sending);
        pthread_mutex_unlock(&ofi->lock);
        if (done)
            return;
        poll(NULL, 0, 1);
    }
}
