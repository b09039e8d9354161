/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/loop/stream.h"
#include "runtime/net/hub.h"
#include "runtime/launch/bootstrap_private.h"

/* A locality that cohortrun has started. cohortrun runs the drain and reports deaths. */

struct launched {
    struct cohort__bootstrap base;
    struct cohort__stream *stream;
    int fd;                              /* the connection until the stream takes it; else -1 */
    int number;                          /* of its descriptor, as long as this struct exists */
    pthread_mutex_t speaking;            /* who sends, or changes `stream` */
    struct cohort__error exchange_error; /* the error that came instead of addresses */
    bool lost;
    bool has_finished;
};

static struct launched *launched_of(struct cohort__bootstrap *bootstrap)
{
    return COHORT_CONTAINER_OF(bootstrap, struct launched, base);
}

/* A launcher that this locality has lost can't say when it may exit. If it lives, it takes the exit
 * for a death. */
static void leave_if_lost(struct launched *launched)
{
    if (launched->lost && launched->has_finished)
        launched->base.handlers.exit_allowed(launched->base.handlers.context);
}

static void send_control(struct launched *launched, const struct cohort__control *control)
{
    struct cohort__packer packer = {0};
    cohort__control_pack(&packer, control);
    cohort_status status = packer.status;
    pthread_mutex_lock(&launched->speaking);
    if (!status)
        status = cohort__stream_send(launched->stream, packer.data, packer.bytes);
    pthread_mutex_unlock(&launched->speaking);
    cohort__packer_fini(&packer);
    if (!status || launched->lost || launched->base.released || launched->base.closing ||
        !launched->base.addresses)
        return;
    launched->lost = true;
    launched->base.handlers.launcher_lost(launched->base.handlers.context, cohort_error_message());
    leave_if_lost(launched);
}

static cohort_status addresses_came(struct launched *launched,
                                    const struct cohort__control *control)
{
    if (control->size != launched->base.job.size || launched->base.addresses)
        return cohort_fail(COHORT_ERR_PROTOCOL, "the launcher sent %u addresses, not %u once",
                           (unsigned)control->size, (unsigned)launched->base.job.size);
    cohort_status status =
        cohort__bootstrap_store_addresses(&launched->base, control->addresses, control->size);
    if (!status)
        cohort__loop_stop(launched->base.loop);
    return status;
}

/* Ends the exchange, with the error in the error slot. What comes behind the first one is what
 * became of it: others who have ended because of it, or the launcher. */
static void fail_exchange(struct launched *launched)
{
    if (!launched->exchange_error.status)
        cohort__error_copy(&launched->exchange_error, cohort__error_slot());
    cohort__loop_stop(launched->base.loop);
}

static cohort_status died(struct launched *launched, const struct cohort__control *control)
{
    if (control->rank >= launched->base.job.size)
        return cohort_fail(COHORT_ERR_PROTOCOL, "the launcher names locality %u of %u",
                           (unsigned)control->rank, (unsigned)launched->base.job.size);
    if (launched->base.addresses) {
        launched->base.handlers.died(launched->base.handlers.context, control->rank, control->order,
                                     control->text);
        return COHORT_OK;
    }
    (void)cohort_fail(COHORT_ERR_PEER_DIED, "%s", control->text);
    fail_exchange(launched);
    return COHORT_OK;
}

static cohort_status returned(struct launched *launched, const struct cohort__control *control)
{
    if (launched->base.handlers.returned)
        launched->base.handlers.returned(launched->base.handlers.context, control->text);
    return COHORT_OK;
}

static cohort_status dispatch(void *context, const struct cohort__control *control)
{
    struct launched *launched = context;
    switch (control->kind) {
    case COHORT__CONTROL_ADDRESSES:
        return addresses_came(launched, control);
    case COHORT__CONTROL_COUNT:
        launched->base.handlers.count_asked(launched->base.handlers.context, control->round);
        return COHORT_OK;
    case COHORT__CONTROL_EXIT:
        cohort__bootstrap_release(&launched->base);
        return COHORT_OK;
    case COHORT__CONTROL_DIED:
        return died(launched, control);
    case COHORT__CONTROL_RETURNED:
        return returned(launched, control);
    case COHORT__CONTROL_LETTER:
        if (launched->base.addresses && launched->base.handlers.letter)
            launched->base.handlers.letter(launched->base.handlers.context, control->letter.data,
                                           control->letter.bytes);
        return COHORT_OK;
    default:
        return cohort_fail(COHORT_ERR_PROTOCOL, "the launcher sent %s",
                           cohort__control_kind_name(control->kind));
    }
}

/* The launcher is lost. The reason is in the error slot. */
static void lose(struct launched *launched)
{
    if (launched->lost || launched->base.released)
        return;
    launched->lost = true;
    if (launched->base.addresses)
        launched->base.handlers.launcher_lost(launched->base.handlers.context,
                                              cohort_error_message());
    else
        fail_exchange(launched);
    leave_if_lost(launched);
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

/* Reads exactly BYTES bytes. The socket may be blocking, or non-blocking if an earlier program has
 * left it so. */
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
    struct launched *launched = context;
    if (control->kind == COHORT__CONTROL_DIED)
        return cohort_fail(COHORT_ERR_PEER_DIED, "%s", control->text);
    if (control->kind != COHORT__CONTROL_WELCOME)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "the launcher sent %s, not WELCOME: another program of this locality "
                           "has joined the job",
                           cohort__control_kind_name(control->kind));
    if (control->version != COHORT__CONTROL_VERSION)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "cohortrun speaks version %u of the control protocol, this program "
                           "version %d",
                           (unsigned)control->version, COHORT__CONTROL_VERSION);
    launched->base.job.rank = control->rank;
    launched->base.job.size = control->size;
    launched->base.job.epoch = control->epoch;
    launched->base.job.workers = control->workers;
    launched->base.job.sharing = control->sharing;
    launched->base.job.slot = control->slot;
    launched->base.job.num_hosts = control->num_hosts;
    launched->base.job.host = control->host;
    snprintf(launched->base.job.host_address, sizeof(launched->base.job.host_address), "%s",
             control->host_address);
    launched->base.job.key = control->key;
    launched->base.job.keeps_going = control->keeps_going;
    return COHORT_OK;
}

static cohort_status read_welcome(struct launched *launched)
{
    unsigned char head[COHORT__STREAM_HEAD_BYTES];
    unsigned char message[COHORT__CONTROL_MAX_TEXT + 256]; /* a WELCOME or a DIED */
    cohort_status status = read_fully(launched->fd, head, sizeof(head));
    if (status)
        return status;
    size_t bytes = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
    if (bytes > sizeof(message))
        return cohort_fail(COHORT_ERR_PROTOCOL, "the launcher's welcome has %zu bytes", bytes);
    status = read_fully(launched->fd, message, bytes);
    if (status)
        return status;
    return cohort__control_read(message, bytes, "the launcher", welcomed, launched);
}

/* Writes a message without the loop, in one piece. It is short, so either all of it has room in the
 * socket, or nothing. */
static bool write_directly(int fd, const struct cohort__control *control)
{
    struct cohort__packer packer = {0};
    cohort__control_pack(&packer, control);
    unsigned char head[COHORT__STREAM_HEAD_BYTES];
    cohort__stream_head(head, packer.bytes);
    struct iovec parts[] = {{head, sizeof(head)}, {packer.data, packer.bytes}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t bytes = -1;
    if (!packer.status)
        bytes = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    cohort__packer_fini(&packer);
    return bytes > 0;
}

/* Sends the reason to the launcher, without a loop. If this program has read anything other than a
 * welcome, it has perhaps taken it from another program of this locality (for example its parent),
 * which waits for that message. If it has not come to reading, the others wait for it. So the
 * launcher has to know. */
static void tell_refusal(int fd, const char *text)
{
    (void)!write_directly(fd,
                          &(struct cohort__control){.kind = COHORT__CONTROL_FAILED, .text = text});
}

static cohort_status take_descriptor(const char *text, int *ret_fd)
{
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
    *ret_fd = (int)number;
    return COHORT_OK;
}

static cohort_status open_stream(struct launched *launched)
{
    struct cohort__stream_handlers handlers = {launched, message_arrived, stream_ended};
    int fd = launched->fd;
    pthread_mutex_lock(&launched->speaking);
    launched->fd = -1; /* the stream owns it, even if opening fails */
    cohort_status status =
        cohort__stream_open(&launched->stream, launched->base.loop, fd, "the launcher",
                            COHORT__CONTROL_MAX_MESSAGE, &handlers);
    if (status)
        launched->number = -1;
    pthread_mutex_unlock(&launched->speaking);
    return status;
}

static cohort_status exchange(struct cohort__bootstrap *bootstrap, const void *address,
                              size_t bytes)
{
    struct launched *launched = launched_of(bootstrap);
    cohort_status status = open_stream(launched);
    if (status)
        return status;
    send_control(launched, &(struct cohort__control){.kind = COHORT__CONTROL_HELLO,
                                                     .version = COHORT__CONTROL_VERSION,
                                                     .pid = (uint64_t)getpid(),
                                                     .address = {address, bytes}});
    cohort__loop_run(bootstrap->loop);
    if (!launched->exchange_error.status)
        return COHORT_OK;
    cohort__error_copy(cohort__error_slot(), &launched->exchange_error);
    return launched->exchange_error.status;
}

static void finished(struct cohort__bootstrap *bootstrap)
{
    struct launched *launched = launched_of(bootstrap);
    send_control(launched, &(struct cohort__control){.kind = COHORT__CONTROL_FINISHED});
    launched->has_finished = true;
    leave_if_lost(launched);
}

static void ask_returned(struct cohort__bootstrap *bootstrap)
{
    struct launched *launched = launched_of(bootstrap);
    if (launched->stream && !bootstrap->released)
        send_control(launched, &(struct cohort__control){.kind = COHORT__CONTROL_ASK_RETURNED});
}

static void counted(struct cohort__bootstrap *bootstrap)
{
    send_control(launched_of(bootstrap),
                 &(struct cohort__control){.kind = COHORT__CONTROL_COUNTS,
                                           .round = bootstrap->counts.round,
                                           .sent = bootstrap->counts.sent,
                                           .received = bootstrap->counts.received,
                                           .busy = bootstrap->counts.busy});
}

static void failed(struct cohort__bootstrap *bootstrap, const char *text)
{
    struct launched *launched = launched_of(bootstrap);
    if (launched->fd >= 0) /* the failure came before the exchange */
        (void)open_stream(launched);
    if (launched->stream)
        send_control(launched,
                     &(struct cohort__control){.kind = COHORT__CONTROL_FAILED, .text = text});
}

/* On success `speaking` stays locked: the abort is the last that the launcher reads. */
static bool try_abort(struct launched *launched, const struct cohort__control *control)
{
    pthread_mutex_lock(&launched->speaking);
    bool is_free = !launched->stream || cohort__stream_is_written(launched->stream);
    if (is_free && launched->number >= 0 && write_directly(launched->number, control))
        return true;
    pthread_mutex_unlock(&launched->speaking);
    return false;
}

static bool abort_launched(struct cohort__bootstrap *bootstrap, int code, const char *reason)
{
    enum { TRIES = 1000, PAUSE_NANOSECONDS = 1000000 };
    const struct cohort__control control = {
        .kind = COHORT__CONTROL_ABORT, .code = (uint32_t)code, .text = reason};
    for (int i = 0; i < TRIES; i++) {
        if (try_abort(launched_of(bootstrap), &control))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NANOSECONDS}, NULL);
    }
    return false;
}

static void accuse(struct cohort__bootstrap *bootstrap, uint32_t rank, bool at_fault,
                   const char *why)
{
    send_control(launched_of(bootstrap), &(struct cohort__control){.kind = COHORT__CONTROL_ACCUSE,
                                                                   .rank = rank,
                                                                   .at_fault = at_fault,
                                                                   .text = why});
}

static void letter(struct cohort__bootstrap *bootstrap, const void *data, size_t bytes)
{
    send_control(launched_of(bootstrap), &(struct cohort__control){.kind = COHORT__CONTROL_LETTER,
                                                                   .letter = {data, bytes}});
}

static void close_launched(struct cohort__bootstrap *bootstrap)
{
    struct launched *launched = launched_of(bootstrap);
    if (launched->stream && bootstrap->released)
        send_control(launched, &(struct cohort__control){.kind = COHORT__CONTROL_BYE});
    cohort__stream_close(launched->stream);
    if (launched->fd >= 0)
        close(launched->fd);
    cohort__error_fini(&launched->exchange_error);
    pthread_mutex_destroy(&launched->speaking);
    free(launched);
}

void cohort__bootstrap_refuse_launcher(const char *environment, const char *why)
{
    int fd = -1;
    struct cohort__error error = {0}; /* WHY may be its message */
    cohort__error_copy(&error, cohort__error_slot());
    if (take_descriptor(environment, &fd) == COHORT_OK) {
        tell_refusal(fd, why);
        close(fd);
    }
    cohort__error_copy(cohort__error_slot(), &error);
    cohort__error_fini(&error);
}

static const struct cohort__bootstrap_way way = {
    .exchange = exchange,
    .finished = finished,
    .ask_returned = ask_returned,
    .counted = counted,
    .failed = failed,
    .abort = abort_launched,
    .accuse = accuse,
    .letter = letter,
    .close = close_launched,
};

cohort_status cohort__bootstrap_open_launcher(struct cohort__bootstrap **ret_bootstrap,
                                              const char *environment)
{
    struct launched *launched = calloc(1, sizeof(*launched));
    if (!launched)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "bootstrap: out of memory");
    launched->base.way = &way;
    launched->base.job.has_launcher = true;
    launched->base.job.tells_deaths = true;
    launched->base.job.joins_traces = true;
    launched->fd = -1;
    pthread_mutex_init(&launched->speaking, NULL);
    cohort_status status = take_descriptor(environment, &launched->fd);
    launched->number = launched->fd;
    if (!status)
        status = cohort__hub_inherit(&launched->base.hub);
    if (!status)
        status = read_welcome(launched);
    /* Of deaths, and its own, the launcher knows. */
    if (status && status != COHORT_ERR_PEER_DIED && status != COHORT_ERR_NETWORK &&
        launched->fd >= 0)
        tell_refusal(launched->fd, cohort_error_message());
    if (status) {
        cohort__hub_destroy(launched->base.hub);
        close_launched(&launched->base);
        return status;
    }
    *ret_bootstrap = &launched->base;
    return COHORT_OK;
}
