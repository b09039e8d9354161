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

static cohort_status read_card(const struct fetch *fetch, struct card **ret_card)
{
    unsigned char head[COHORT__STREAM_HEAD_BYTES];
    cohort_status status = read_all(fetch, head, sizeof(head));
    if (status)
        return status;
    size_t bytes = bytes_get_u32(head);
    unsigned char *message = bytes <= CARD_MAX_BYTES ? malloc(bytes + 1) : NULL;
    if (!message)
        return cohort_fail(COHORT_ERR_PROTOCOL, "cohortrun %d does not speak as it should",
                           fetch->pid);
    status = read_all(fetch, message, bytes);
    if (!status)
        status = card_read(ret_card, message, bytes);
    free(message);
    return status;
}

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

cohort_status card_fetch(int pid, struct card **ret_card, int *ret_ledger)
{
    struct fetch fetch = {.pid = pid, .deadline = cohort__clock_after(patience_ns)};
    int ledger = -1;
    cohort_status status = connect_to(&fetch);
    if (status)
        return status;
    status = read_ledger(&fetch, &ledger);
    if (!status)
        status = read_card(&fetch, ret_card);
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
