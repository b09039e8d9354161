/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/bootstrap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/stream.h"
#include "runtime/loop/timer.h"
#include "runtime/proc/control.h"
#include "runtime/proc/drain.h"

/* Where there is a launcher, `stream` is the connection to it. Where there is none, `drain` is run
 * here. Calls of other threads become requests to the loop. */
struct cohort__bootstrap {
    struct cohort__loop *loop;
    struct cohort__bootstrap_handlers handlers;
    struct cohort__stream *stream;
    int fd; /* until it becomes the stream; else -1 */
    uint32_t rank;
    uint32_t size;
    uint32_t epoch;
    uint32_t workers;
    uint32_t sharing;
    uint32_t slot;
    uint32_t num_hosts;
    uint32_t host;
    char host_address[COHORT__CONTROL_MAX_HOST_ADDRESS];
    uint64_t key;
    struct cohort__control_address *addresses; /* in one block with the bytes; NULL: not yet */
    struct cohort__error exchange_error;       /* what came instead of addresses */
    bool released;
    bool lost;
    bool closing; /* no handler is called any more */

    struct cohort__loop_request finished;
    struct cohort__loop_request counts; /* with the following four; one is asked for at a time */
    uint64_t counts_round;
    uint64_t counts_sent;
    uint64_t counts_received;
    bool counts_busy;

    struct cohort__drain drain;
    struct cohort__timer pause;
    bool pausing;
};

struct failure {
    struct cohort__loop_request request;
    struct cohort__bootstrap *bootstrap;
    char text[];
};

static void send_control(struct cohort__bootstrap *bootstrap, const struct cohort__control *control)
{
    struct cohort__packer packer = {0};
    cohort__control_pack(&packer, control);
    cohort_status status = packer.status;
    if (!status)
        status = cohort__stream_send(bootstrap->stream, packer.data, packer.bytes);
    cohort__packer_fini(&packer);
    if (!status || bootstrap->lost || bootstrap->released || bootstrap->closing ||
        !bootstrap->addresses)
        return;
    bootstrap->lost = true;
    bootstrap->handlers.launcher_lost(bootstrap->handlers.context, cohort_error_message());
}

static cohort_status store_addresses(struct cohort__bootstrap *bootstrap,
                                     const struct cohort__control *control)
{
    if (control->size != bootstrap->size || bootstrap->addresses)
        return cohort_fail(COHORT_ERR_PROTOCOL, "the launcher sent %u addresses, not %u once",
                           (unsigned)control->size, (unsigned)bootstrap->size);
    size_t bytes = control->size * sizeof(*control->addresses);
    for (uint32_t i = 0; i < control->size; i++)
        bytes += control->addresses[i].bytes;
    bootstrap->addresses = malloc(bytes);
    if (!bootstrap->addresses)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "addresses of the localities: out of memory");
    unsigned char *next = (unsigned char *)(bootstrap->addresses + control->size);
    for (uint32_t i = 0; i < control->size; i++) {
        const struct cohort__control_address *address = &control->addresses[i];
        bootstrap->addresses[i] =
            (struct cohort__control_address){.data = next, .bytes = address->bytes};
        if (address->bytes > 0)
            memcpy(next, address->data, address->bytes);
        next += address->bytes;
    }
    cohort__loop_stop(bootstrap->loop);
    return COHORT_OK;
}

/* No exchange any more. */
static void fail_exchange(struct cohort__bootstrap *bootstrap)
{
    cohort__error_copy(&bootstrap->exchange_error, cohort__error_slot());
    cohort__loop_stop(bootstrap->loop);
}

static cohort_status died(struct cohort__bootstrap *bootstrap,
                          const struct cohort__control *control)
{
    char text[COHORT__CONTROL_MAX_TEXT + 1];
    snprintf(text, sizeof(text), "%.*s", (int)control->text_bytes, control->text);
    if (control->rank >= bootstrap->size)
        return cohort_fail(COHORT_ERR_PROTOCOL, "the launcher names locality %u of %u",
                           (unsigned)control->rank, (unsigned)bootstrap->size);
    if (bootstrap->addresses) {
        bootstrap->handlers.died(bootstrap->handlers.context, control->rank, text);
        return COHORT_OK;
    }
    (void)cohort_fail(COHORT_ERR_PEER_DIED, "%s", text);
    fail_exchange(bootstrap);
    return COHORT_OK;
}

static cohort_status dispatch(void *context, const struct cohort__control *control)
{
    struct cohort__bootstrap *bootstrap = context;
    switch (control->kind) {
    case COHORT__CONTROL_ADDRESSES:
        return store_addresses(bootstrap, control);
    case COHORT__CONTROL_COUNT:
        bootstrap->handlers.count_asked(bootstrap->handlers.context, control->round);
        return COHORT_OK;
    case COHORT__CONTROL_EXIT:
        bootstrap->released = true;
        bootstrap->handlers.exit_allowed(bootstrap->handlers.context);
        return COHORT_OK;
    case COHORT__CONTROL_DIED:
        return died(bootstrap, control);
    default:
        return cohort_fail(COHORT_ERR_PROTOCOL, "the launcher sent %s",
                           cohort__control_kind_name(control->kind));
    }
}

/* With the reason in the error slot. */
static void lose(struct cohort__bootstrap *bootstrap)
{
    if (bootstrap->lost || bootstrap->released)
        return;
    bootstrap->lost = true;
    if (bootstrap->addresses)
        bootstrap->handlers.launcher_lost(bootstrap->handlers.context, cohort_error_message());
    else
        fail_exchange(bootstrap);
}

static void message_arrived(void *context, const void *message, size_t bytes)
{
    if (cohort__control_read(message, bytes, "the launcher", dispatch, context))
        lose(context);
}

static void stream_ended(void *context, cohort_status status)
{
    if (!status)
        (void)cohort_fail(COHORT_ERR_NETWORK, "the launcher has ended");
    lose(context);
}

/* Reads all of BYTES; the socket may be blocking or, left so by a program before us, not. */
static cohort_status read_fully(int fd, void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = read(fd, (char *)data + done, bytes - done);
        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0) {
            return cohort_fail(COHORT_ERR_NETWORK, "the launcher has ended");
        } else if (errno == EAGAIN) {
            poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
        } else if (errno != EINTR) {
            return cohort_fail(COHORT_ERR_NETWORK, "connection to the launcher: %s",
                               strerror(errno));
        }
    }
    return COHORT_OK;
}

static cohort_status welcomed(void *context, const struct cohort__control *control)
{
    struct cohort__bootstrap *bootstrap = context;
    if (control->kind == COHORT__CONTROL_DIED)
        return cohort_fail(COHORT_ERR_PEER_DIED, "%.*s", (int)control->text_bytes, control->text);
    if (control->kind != COHORT__CONTROL_WELCOME)
        return cohort_fail(COHORT_ERR_PROTOCOL, "the launcher sent %s, not WELCOME",
                           cohort__control_kind_name(control->kind));
    if (control->version != COHORT__CONTROL_VERSION)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "cohortrun speaks version %u of the control protocol, this program "
                           "version %d",
                           (unsigned)control->version, COHORT__CONTROL_VERSION);
    bootstrap->rank = control->rank;
    bootstrap->size = control->size;
    bootstrap->epoch = control->epoch;
    bootstrap->workers = control->workers;
    bootstrap->sharing = control->sharing;
    bootstrap->slot = control->slot;
    bootstrap->num_hosts = control->num_hosts;
    bootstrap->host = control->host;
    snprintf(bootstrap->host_address, sizeof(bootstrap->host_address), "%.*s",
             (int)control->host_address_bytes, control->host_address);
    bootstrap->key = control->key;
    return COHORT_OK;
}

static cohort_status read_welcome(struct cohort__bootstrap *bootstrap)
{
    unsigned char head[COHORT__STREAM_HEAD_BYTES];
    unsigned char message[COHORT__CONTROL_MAX_TEXT + 256]; /* of WELCOME, or DIED */
    cohort_status status = read_fully(bootstrap->fd, head, sizeof(head));
    if (status)
        return status;
    size_t bytes = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
    if (bytes > sizeof(message))
        return cohort_fail(COHORT_ERR_PROTOCOL, "the launcher's welcome has %zu bytes", bytes);
    status = read_fully(bootstrap->fd, message, bytes);
    if (status)
        return status;
    return cohort__control_read(message, bytes, "the launcher", welcomed, bootstrap);
}

/* -1 and COHORT_OK: there is no launcher. */
static cohort_status take_descriptor(int *ret_fd)
{
    const char *text = getenv("COHORT_CONTROL_FD");
    *ret_fd = -1;
    if (!text)
        return COHORT_OK;
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno || end == text || *end || number < 0 || number > INT32_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "COHORT_CONTROL_FD is '%.40s'", text);
    int domain = 0;
    socklen_t bytes = sizeof(domain);
    if (getsockopt((int)number, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) || domain != AF_UNIX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "COHORT_CONTROL_FD is %ld, which is no connection to cohortrun: the "
                           "program between has closed it",
                           number);
    fcntl((int)number, F_SETFD, FD_CLOEXEC);
    unsetenv("COHORT_CONTROL_FD");
    *ret_fd = (int)number;
    return COHORT_OK;
}

static cohort_status be_alone(struct cohort__bootstrap *bootstrap)
{
    bootstrap->size = bootstrap->epoch = bootstrap->sharing = bootstrap->num_hosts = 1;
    snprintf(bootstrap->host_address, sizeof(bootstrap->host_address), "127.0.0.1");
    cohort__drain_init(&bootstrap->drain, 1);
    if (getrandom(&bootstrap->key, sizeof(bootstrap->key), 0) != sizeof(bootstrap->key))
        return cohort_fail(COHORT_ERR_SYSTEM, "random number for the job: %s", strerror(errno));
    return COHORT_OK;
}

static void run_finished(struct cohort__loop *loop, struct cohort__loop_request *request);
static void run_counts(struct cohort__loop *loop, struct cohort__loop_request *request);
static void pause_over(struct cohort__timer *timer);

cohort_status cohort__bootstrap_create(struct cohort__bootstrap **ret_bootstrap,
                                       struct cohort__loop *loop,
                                       const struct cohort__bootstrap_handlers *handlers)
{
    struct cohort__bootstrap *bootstrap = calloc(1, sizeof(*bootstrap));
    if (!bootstrap)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "bootstrap: out of memory");
    bootstrap->loop = loop;
    bootstrap->handlers = *handlers;
    bootstrap->fd = -1;
    bootstrap->finished.run = run_finished;
    bootstrap->counts.run = run_counts;
    bootstrap->pause.expired = pause_over;
    cohort_status status = take_descriptor(&bootstrap->fd);
    if (!status)
        status = bootstrap->fd >= 0 ? read_welcome(bootstrap) : be_alone(bootstrap);
    if (status) {
        cohort__bootstrap_destroy(bootstrap);
        return status;
    }
    *ret_bootstrap = bootstrap;
    return COHORT_OK;
}

void cohort__bootstrap_destroy(struct cohort__bootstrap *bootstrap)
{
    if (!bootstrap)
        return;
    bootstrap->closing = true;
    if (bootstrap->pausing)
        cohort__loop_timer_cancel(bootstrap->loop, &bootstrap->pause);
    cohort__loop_run_requests(bootstrap->loop); /* ours among them */
    if (bootstrap->stream && bootstrap->released)
        send_control(bootstrap, &(struct cohort__control){.kind = COHORT__CONTROL_BYE});
    cohort__stream_close(bootstrap->stream);
    if (bootstrap->fd >= 0)
        close(bootstrap->fd);
    cohort__error_fini(&bootstrap->exchange_error);
    free(bootstrap->addresses);
    free(bootstrap);
}

static cohort_status open_stream(struct cohort__bootstrap *bootstrap)
{
    struct cohort__stream_handlers handlers = {bootstrap, message_arrived, stream_ended};
    int fd = bootstrap->fd;
    bootstrap->fd = -1; /* the stream's, also where that fails */
    return cohort__stream_open(&bootstrap->stream, bootstrap->loop, fd, "the launcher",
                               COHORT__CONTROL_MAX_MESSAGE, &handlers);
}

static cohort_status exchange_alone(struct cohort__bootstrap *bootstrap, const void *address,
                                    size_t bytes)
{
    struct cohort__control_address own = {address, bytes};
    cohort_status status =
        store_addresses(bootstrap, &(struct cohort__control){.size = 1, .addresses = &own});
    cohort__loop_run(bootstrap->loop); /* uses up the stop */
    return status;
}

cohort_status cohort__bootstrap_exchange(struct cohort__bootstrap *bootstrap, const void *address,
                                         size_t bytes)
{
    if (bytes > COHORT__CONTROL_MAX_ADDRESS)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "an address of %zu bytes is above %d", bytes,
                           COHORT__CONTROL_MAX_ADDRESS);
    if (bootstrap->addresses || bootstrap->stream)
        return cohort_fail(COHORT_ERR_STATE, "addresses have been exchanged already");
    if (bootstrap->fd < 0)
        return exchange_alone(bootstrap, address, bytes);
    cohort_status status = open_stream(bootstrap);
    if (status)
        return status;
    send_control(bootstrap, &(struct cohort__control){.kind = COHORT__CONTROL_HELLO,
                                                      .version = COHORT__CONTROL_VERSION,
                                                      .pid = (uint64_t)getpid(),
                                                      .address = {address, bytes}});
    cohort__loop_run(bootstrap->loop);
    if (!bootstrap->exchange_error.status)
        return COHORT_OK;
    cohort__error_copy(cohort__error_slot(), &bootstrap->exchange_error);
    return bootstrap->exchange_error.status;
}

uint32_t cohort__bootstrap_rank(const struct cohort__bootstrap *bootstrap)
{
    return bootstrap->rank;
}

uint32_t cohort__bootstrap_size(const struct cohort__bootstrap *bootstrap)
{
    return bootstrap->size;
}

uint64_t cohort__bootstrap_key(const struct cohort__bootstrap *bootstrap)
{
    return bootstrap->key;
}

uint32_t cohort__bootstrap_epoch(const struct cohort__bootstrap *bootstrap)
{
    return bootstrap->epoch;
}

uint32_t cohort__bootstrap_workers(const struct cohort__bootstrap *bootstrap)
{
    return bootstrap->workers;
}

uint32_t cohort__bootstrap_sharing(const struct cohort__bootstrap *bootstrap)
{
    return bootstrap->sharing;
}

uint32_t cohort__bootstrap_slot(const struct cohort__bootstrap *bootstrap)
{
    return bootstrap->slot;
}

uint32_t cohort__bootstrap_num_hosts(const struct cohort__bootstrap *bootstrap)
{
    return bootstrap->num_hosts;
}

uint32_t cohort__bootstrap_host(const struct cohort__bootstrap *bootstrap)
{
    return bootstrap->host;
}

const char *cohort__bootstrap_host_address(const struct cohort__bootstrap *bootstrap)
{
    return bootstrap->host_address;
}

bool cohort__bootstrap_has_launcher(const struct cohort__bootstrap *bootstrap)
{
    return bootstrap->stream || bootstrap->fd >= 0;
}

const void *cohort__bootstrap_address(const struct cohort__bootstrap *bootstrap, uint32_t rank,
                                      size_t *ret_bytes)
{
    *ret_bytes = bootstrap->addresses[rank].bytes;
    return bootstrap->addresses[rank].data;
}

/* Alone, the drain is asked and answered here. */
static void ask_own_counts(struct cohort__bootstrap *bootstrap)
{
    if (!bootstrap->closing)
        bootstrap->handlers.count_asked(bootstrap->handlers.context,
                                        cohort__drain_begin(&bootstrap->drain));
}

static void pause_over(struct cohort__timer *timer)
{
    struct cohort__bootstrap *bootstrap =
        COHORT_CONTAINER_OF(timer, struct cohort__bootstrap, pause);
    bootstrap->pausing = false;
    ask_own_counts(bootstrap);
}

static void answer_own_counts(struct cohort__bootstrap *bootstrap)
{
    switch (cohort__drain_answer(&bootstrap->drain, bootstrap->counts_round, bootstrap->counts_sent,
                                 bootstrap->counts_received, bootstrap->counts_busy)) {
    case COHORT__DRAIN_WAIT:
        break;
    case COHORT__DRAIN_AGAIN: {
        uint64_t pause = cohort__drain_pause_ns(&bootstrap->drain);
        bootstrap->pausing = true;
        cohort__loop_timer(bootstrap->loop, &bootstrap->pause, cohort__clock_after(pause));
        break;
    }
    case COHORT__DRAIN_DONE:
        bootstrap->released = true;
        bootstrap->handlers.exit_allowed(bootstrap->handlers.context);
        break;
    }
}

static void run_finished(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct cohort__bootstrap *bootstrap =
        COHORT_CONTAINER_OF(request, struct cohort__bootstrap, finished);
    if (bootstrap->stream)
        send_control(bootstrap, &(struct cohort__control){.kind = COHORT__CONTROL_FINISHED});
    else
        ask_own_counts(bootstrap);
}

static void run_counts(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct cohort__bootstrap *bootstrap =
        COHORT_CONTAINER_OF(request, struct cohort__bootstrap, counts);
    if (!bootstrap->stream) {
        if (!bootstrap->closing)
            answer_own_counts(bootstrap);
        return;
    }
    send_control(bootstrap, &(struct cohort__control){.kind = COHORT__CONTROL_COUNTS,
                                                      .round = bootstrap->counts_round,
                                                      .sent = bootstrap->counts_sent,
                                                      .received = bootstrap->counts_received,
                                                      .busy = bootstrap->counts_busy});
}

static void run_failure(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct failure *failure = COHORT_CONTAINER_OF(request, struct failure, request);
    if (failure->bootstrap->fd >= 0) /* it failed before the exchange */
        (void)open_stream(failure->bootstrap);
    if (failure->bootstrap->stream)
        send_control(failure->bootstrap,
                     &(struct cohort__control){.kind = COHORT__CONTROL_FAILED,
                                               .text = failure->text,
                                               .text_bytes = strlen(failure->text)});
    free(failure);
}

void cohort__bootstrap_finished(struct cohort__bootstrap *bootstrap)
{
    cohort__loop_request(bootstrap->loop, &bootstrap->finished);
}

void cohort__bootstrap_report_counts(struct cohort__bootstrap *bootstrap, uint64_t round,
                                     uint64_t sent, uint64_t received, bool busy)
{
    bootstrap->counts_round = round;
    bootstrap->counts_sent = sent;
    bootstrap->counts_received = received;
    bootstrap->counts_busy = busy;
    cohort__loop_request(bootstrap->loop, &bootstrap->counts);
}

void cohort__bootstrap_report_failure(struct cohort__bootstrap *bootstrap, const char *text)
{
    size_t bytes = strlen(text) + 1;
    struct failure *failure = malloc(sizeof(*failure) + bytes);
    if (!failure)
        return; /* it will be seen to end, only without a reason */
    failure->request.run = run_failure;
    failure->bootstrap = bootstrap;
    memcpy(failure->text, text, bytes);
    cohort__loop_request(bootstrap->loop, &failure->request);
}
