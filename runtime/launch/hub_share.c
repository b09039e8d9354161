/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/hub_share.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/net/hub.h"
#include "runtime/launch/hub_share_private.h"

/* The part that host and guests have in common. */

cohort_status cohort__hub_share_fail(const struct cohort__hub_party *party, const char *what)
{
    char who[32] = "this locality";
    bool is_full = errno == ENOMEM || errno == EMFILE || errno == ENFILE || errno == ENOBUFS;
    if (party)
        snprintf(who, sizeof(who), "locality %u", (unsigned)party->rank);
    return cohort_fail(is_full ? COHORT_ERR_NO_MEMORY : COHORT_ERR_SYSTEM,
                       "%s can't share memory with the others of this host: %s: %s", who, what,
                       strerror(errno));
}

socklen_t cohort__hub_share_address(uint64_t listener_id, struct sockaddr_un *ret_address)
{
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX}; /* sun_path[0] is 0: abstract */
    int length = snprintf(ret_address->sun_path + 1, sizeof(ret_address->sun_path) - 1,
                          "cohort.%016llx", (unsigned long long)listener_id);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

bool cohort__hub_share_is_same_user(int socket)
{
    struct ucred peer;
    socklen_t bytes = sizeof(peer);
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

int cohort__hub_share_rest(uint64_t deadline)
{
    uint64_t now = cohort__clock_now();
    uint64_t rest = now < deadline ? (deadline - now + 999999) / 1000000 : 0;
    return rest < INT_MAX ? (int)rest : INT_MAX;
}

bool cohort__hub_share_wait(int socket, uint64_t deadline)
{
    struct pollfd pollfd = {.fd = socket, .events = POLLIN};
    for (;;) {
        int rest = cohort__hub_share_rest(deadline);
        if (poll(&pollfd, 1, rest) > 0)
            return true;
        if (rest == 0)
            return false;
    }
}

ssize_t cohort__hub_share_send(int socket, const struct cohort__hub_note *note,
                               const int *descriptors, uint32_t num)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(COHORT__HUB_SHARE_PIECE_DESCRIPTORS * sizeof(int))];
    } control = {0};
    struct iovec iovec = {.iov_base = (void *)note, .iov_len = sizeof(*note)};
    struct msghdr message = {.msg_iov = &iovec, .msg_iovlen = 1};
    if (num > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(num * sizeof(int));
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(num * sizeof(int));
        memcpy(CMSG_DATA(&control.head), descriptors, num * sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void cohort__hub_share_tell(int socket, uint64_t key, uint32_t slot)
{
    struct cohort__hub_words words = {
        .note = {.key = key, .kind = COHORT__HUB_NOTE_FAILED, .slot = slot}};
    snprintf(words.text, sizeof(words.text), "%s", cohort_error_message());
    send(socket, &words, sizeof(words.note) + strlen(words.text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool cohort__hub_share_is_told(struct cohort__hub_words *words, ssize_t got, uint64_t key,
                               uint32_t slot, uint32_t rank)
{
    if (got < (ssize_t)sizeof(words->note) || got >= (ssize_t)sizeof(*words) ||
        words->note.key != key || words->note.kind != COHORT__HUB_NOTE_FAILED ||
        words->note.slot != slot)
        return false;
    words->text[(size_t)got - sizeof(words->note)] = 0;
    (void)cohort_fail(COHORT_ERR_PEER_DIED, "locality %u says: %s", (unsigned)rank, words->text);
    return true;
}

cohort_status cohort__hub_share_init(struct cohort__hub_share *share)
{
    struct sockaddr_un address;
    uint64_t listener_id;
    if (getrandom(&listener_id, sizeof(listener_id), 0) != sizeof(listener_id))
        return cohort__hub_share_fail(NULL, "getrandom");
    socklen_t bytes = cohort__hub_share_address(listener_id, &address);
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0)
        return cohort__hub_share_fail(NULL, "socket");
    if (bind(listener, (struct sockaddr *)&address, bytes) || listen(listener, SOMAXCONN)) {
        cohort_status status = cohort__hub_share_fail(NULL, "a socket to listen at");
        close(listener);
        return status;
    }
    *share = (struct cohort__hub_share){listener, listener_id};
    return COHORT_OK;
}

void cohort__hub_share_fini(struct cohort__hub_share *share)
{
    if (share->listener >= 0)
        close(share->listener);
    share->listener = -1;
}

/* For slot 0: creates the hub, and returns it when all others have it. */
static cohort_status host(struct cohort__hub_share *share, const struct cohort__hub_party *party,
                          uint64_t deadline, struct cohort__hub **ret_hub)
{
    struct cohort__hub *hub = NULL;
    (void)cohort__hub_create(&hub, party->size); /* if this fails, the others are told why */
    cohort_status status = cohort__hub_share_serve(share->listener, party, deadline, hub);
    if (status)
        cohort__hub_destroy(hub);
    else
        *ret_hub = hub;
    return status;
}

cohort_status cohort__hub_share_meet(struct cohort__hub_share *share,
                                     const struct cohort__hub_party *party,
                                     struct cohort__hub **ret_hub)
{
    uint64_t deadline = cohort__clock_after(party->patience_ns);
    cohort_status status = party->slot == 0 ? host(share, party, deadline, ret_hub)
                                            : cohort__hub_share_fetch(party, deadline, ret_hub);
    cohort__hub_share_fini(share); /* so that a guest that comes too late gets an error */
    return status;
}
