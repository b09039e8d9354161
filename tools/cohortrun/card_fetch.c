/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: fetches the card of a running job from its cohortrun. */
#include "tools/cohortrun/card_fetch.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/loop/stream.h"
#include "tools/cohortrun/bytes.h"
#include "tools/cohortrun/node_look.h"

/* cohortrun may be starting thousands of localities. */
static const uint64_t patience_ns = 5000000000;

struct fetch {
    int pid;
    int socket;
    uint64_t deadline;
};

static cohort_status is_gone(const struct fetch *fetch)
{
    return cohort_fail(COHORT_ERR_PEER_DIED, "cohortrun %d has ended meanwhile", fetch->pid);
}

/* COHORT_OK: something can be read, or the end. */
static cohort_status wait_for(const struct fetch *fetch)
{
    struct pollfd pollfd = {.fd = fetch->socket, .events = POLLIN};
    for (;;) {
        uint64_t now = cohort__clock_now();
        if (now >= fetch->deadline)
            return cohort_fail(COHORT_ERR_TIMEOUT,
                               "cohortrun %d does not answer; is it stopped, or another one's?",
                               fetch->pid);
        if (poll(&pollfd, 1, (int)((fetch->deadline - now) / 1000000) + 1) > 0)
            return COHORT_OK;
    }
}

static cohort_status read_all(const struct fetch *fetch, unsigned char *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        cohort_status status = wait_for(fetch);
        if (status)
            return status;
        ssize_t got = recv(fetch->socket, data + done, bytes - done, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno == ECONNRESET))
            return is_gone(fetch);
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return cohort_fail(COHORT_ERR_SYSTEM, "cohortrun %d: %s", fetch->pid, strerror(errno));
        done += got > 0 ? (size_t)got : 0;
    }
    return COHORT_OK;
}

static cohort_status is_wrong(const struct fetch *fetch)
{
    return cohort_fail(COHORT_ERR_PROTOCOL, "cohortrun %d does not speak as it should", fetch->pid);
}

/* The caller frees it. */
static cohort_status read_message(const struct fetch *fetch, unsigned char **ret_message,
                                  size_t *ret_bytes)
{
    unsigned char head[COHORT__STREAM_HEAD_BYTES];
    cohort_status status = read_all(fetch, head, sizeof(head));
    if (status)
        return status;
    size_t bytes = bytes_get_u32(head);
    unsigned char *message = bytes <= CARD_MAX_BYTES ? malloc(bytes + 1) : NULL;
    if (!message)
        return is_wrong(fetch);
    status = read_all(fetch, message, bytes);
    if (status) {
        free(message);
        return status;
    }
    *ret_message = message;
    *ret_bytes = bytes;
    return COHORT_OK;
}

static cohort_status read_card(const struct fetch *fetch, struct card **ret_card)
{
    unsigned char *message;
    size_t bytes;
    cohort_status status = read_message(fetch, &message, &bytes);
    if (status)
        return status;
    status = card_read(ret_card, message, bytes);
    free(message);
    return status;
}

/* Other hosts -------------------------------------------------------------------------------- */

static cohort_status take_look(const struct fetch *fetch, struct card_far *far,
                               enum node_look_kind kind, const unsigned char *data, size_t bytes)
{
    if (kind == NODE_LOOK_WRONG) {
        snprintf(far->why, sizeof(far->why), "%.*s",
                 (int)(bytes < sizeof(far->why) ? bytes : sizeof(far->why)), (const char *)data);
        return COHORT_OK;
    }
    if (far->is_whole)
        return is_wrong(fetch);
    unsigned char *look = realloc(far->look, far->bytes + bytes + 1);
    if (!look)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    memcpy(look + far->bytes, data, bytes);
    far->look = look;
    far->bytes += bytes;
    far->is_whole = kind == NODE_LOOK_LAST;
    return COHORT_OK;
}

/* COHORT_ERR_PROTOCOL: MESSAGE makes no sense. */
static cohort_status take_far(const struct fetch *fetch, struct card_far *fars, uint32_t num,
                              const unsigned char *message, size_t bytes)
{
    const uint32_t rank = bytes >= CARD_LOOK_HEAD_BYTES ? bytes_get_u32(message + 1) : num;
    if (rank >= num)
        return is_wrong(fetch);
    if (message[0] == CARD_LOOK && message[5] < NODE_LOOK_NUM_KINDS)
        return take_look(fetch, &fars[rank], (enum node_look_kind)message[5],
                         message + CARD_LOOK_HEAD_BYTES, bytes - CARD_LOOK_HEAD_BYTES);
    if (message[0] != CARD_SILENT || bytes != CARD_SILENT_BYTES ||
        bytes_get_u32(message + 5) > num - rank)
        return is_wrong(fetch);
    for (uint32_t i = rank; i < rank + bytes_get_u32(message + 5); i++) {
        fars[i].is_silent = true;
        fars[i].silence = bytes_get_u32(message + 9);
    }
    return COHORT_OK;
}

static cohort_status read_far(const struct fetch *fetch, struct card_far *fars, uint32_t num)
{
    bool is_over = false;
    cohort_status status = COHORT_OK;
    while (!is_over && !status) {
        unsigned char *message;
        size_t bytes;
        status = read_message(fetch, &message, &bytes);
        if (status)
            break;
        is_over = bytes == 1 && message[0] == CARD_END;
        if (!is_over)
            status = take_far(fetch, fars, num, message, bytes);
        free(message);
    }
    return status;
}

void card_far_destroy(struct card_far *fars, uint32_t num)
{
    for (uint32_t i = 0; fars && i < num; i++)
        free(fars[i].look);
    free(fars);
}

/* -------------------------------------------------------------------------------------------- */

/* The first byte, and the ledger with it. */
static cohort_status read_ledger(const struct fetch *fetch, int *ret_ledger)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    char byte;
    struct iovec iovec = {.iov_base = &byte, .iov_len = sizeof(byte)};
    struct msghdr message = {.msg_iov = &iovec,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    cohort_status status = wait_for(fetch);
    if (status)
        return status;
    if (recvmsg(fetch->socket, &message, MSG_CMSG_CLOEXEC) != sizeof(byte))
        return is_gone(fetch);
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *ret_ledger = -1;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
        memcpy(ret_ledger, CMSG_DATA(head), sizeof(int));
    return COHORT_OK;
}

/* Another process may have taken the name: one of another user, or of another space of pids. */
static bool is_it(const struct fetch *fetch)
{
    struct ucred peer;
    socklen_t bytes = sizeof(peer);
    return getsockopt(fetch->socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
           peer.uid == geteuid() && peer.pid == fetch->pid;
}

static cohort_status connect_to(struct fetch *fetch)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX}; /* sun_path[0] is 0: abstract */
    char name[CARD_NAME_BYTES];
    card_name((uint32_t)geteuid(), fetch->pid, name);
    memcpy(address.sun_path + 1, name, strlen(name));
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    fetch->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fetch->socket < 0)
        return cohort_fail(COHORT_ERR_SYSTEM, "socket: %s", strerror(errno));
    if (connect(fetch->socket, (struct sockaddr *)&address, bytes) == 0 && is_it(fetch))
        return COHORT_OK;
    int error = errno;
    close(fetch->socket);
    return error == EAGAIN ? cohort_fail(COHORT_ERR_TIMEOUT,
                                         "cohortrun %d does not answer; is it stopped?", fetch->pid)
                           : cohort_fail(COHORT_ERR_STATE,
                                         "process %d is no cohortrun of this user", fetch->pid);
}

/* The card, and what follows it. */
static cohort_status read_answer(const struct fetch *fetch, struct card **ret_card,
                                 struct card_far **ret_fars)
{
    struct card *card = NULL;
    cohort_status status = read_card(fetch, &card);
    if (status)
        return status;
    struct card_far *fars = calloc(card->size + 1, sizeof(*fars));
    status = fars ? read_far(fetch, fars, card->size)
                  : cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    if (status) {
        card_far_destroy(fars, card->size);
        free(card);
        return status;
    }
    *ret_card = card;
    *ret_fars = fars;
    return COHORT_OK;
}

cohort_status card_fetch(int pid, struct card **ret_card, int *ret_ledger,
                         struct card_far **ret_fars)
{
    struct fetch fetch = {.pid = pid, .deadline = cohort__clock_after(patience_ns)};
    int ledger = -1;
    cohort_status status = connect_to(&fetch);
    if (status)
        return status;
    status = read_ledger(&fetch, &ledger);
    if (!status)
        status = read_answer(&fetch, ret_card, ret_fars);
    close(fetch.socket);
    if (status && ledger >= 0)
        close(ledger);
    else if (!status)
        *ret_ledger = ledger;
    return status;
}

size_t card_find(int *ret_pids, size_t max)
{
    size_t num = 0;
    char line[512];
    FILE *sockets = fopen("/proc/net/unix", "re");
    while (sockets && fgets(line, sizeof(line), sockets)) {
        unsigned user;
        int pid;
        unsigned state;
        const char *name = strstr(line, " @cohort-job-");
        if (!name || sscanf(name + 2, CARD_NAME_FORMAT, &user, &pid) != 2 || user != geteuid() ||
            sscanf(line, "%*s %*s %*s %x", &state) != 1 || state != 0x10000)
            continue; /* the flags of one that listens */
        if (num < max)
            ret_pids[num] = pid;
        num++;
    }
    if (sockets)
        fclose(sockets);
    return num;
}
