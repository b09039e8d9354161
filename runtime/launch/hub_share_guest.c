/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "runtime/net/hub.h"
#include "runtime/launch/hub_share_private.h"

/* A guest of a share. It receives descriptors until it has all of them. */

struct guest {
    const struct cohort__hub_party *party;
    uint64_t deadline;
    int socket;
    int *descriptors;
    uint32_t num; /* how many it has */
    uint32_t total;
};

static unsigned host_rank(const struct guest *guest)
{
    return (unsigned)(guest->party->rank - guest->party->slot);
}

static cohort_status host_died(const struct guest *guest)
{
    return cohort_fail(COHORT_ERR_PEER_DIED,
                       "locality %u waits for the memory that this host's localities share, but "
                       "locality %u, which gives it, has ended",
                       (unsigned)guest->party->rank, host_rank(guest));
}

static cohort_status is_late(const struct guest *guest)
{
    return cohort_fail(COHORT_ERR_TIMEOUT,
                       "locality %u has waited %.3g s for the memory that this host's localities "
                       "share, which locality %u gives",
                       (unsigned)guest->party->rank, (double)guest->party->patience_ns / 1e9,
                       host_rank(guest));
}

/* Connects to the host. This waits only if the host's queue is full. */
static cohort_status go(struct guest *guest)
{
    int rest = cohort__hub_share_rest(guest->deadline);
    struct timeval limit = {rest / 1000, rest % 1000 * 1000 + 1}; /* 0 would mean for ever */
    struct sockaddr_un address;
    socklen_t bytes = cohort__hub_share_address(guest->party->listener_id, &address);
    guest->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (guest->socket < 0 ||
        setsockopt(guest->socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)))
        return cohort__hub_share_fail(guest->party, "socket");
    while (connect(guest->socket, (struct sockaddr *)&address, bytes)) {
        if (errno == ECONNREFUSED)
            return host_died(guest);
        if (errno == EAGAIN)
            return is_late(guest);
        if (errno != EINTR)
            return cohort__hub_share_fail(guest->party, "connect");
    }
    if (cohort__hub_share_is_same_user(guest->socket))
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_PROTOCOL,
                       "locality %u can't share memory with locality %u of this host, which is "
                       "another user's",
                       (unsigned)guest->party->rank, host_rank(guest));
}

static cohort_status say(const struct guest *guest, enum cohort__hub_note_kind kind)
{
    struct cohort__hub_note note = {
        .key = guest->party->key, .kind = kind, .slot = guest->party->slot, .first = guest->num};
    if (cohort__hub_share_send(guest->socket, &note, NULL, 0) >= 0)
        return COHORT_OK;
    return errno == EPIPE || errno == ECONNRESET
               ? host_died(guest)
               : cohort__hub_share_fail(guest->party, "asking for descriptors");
}

/* Keeps the descriptors that came with MESSAGE, even if the message is wrong, so that they get
 * closed later. Closes those that are too many. Returns how many it keeps. */
static uint32_t keep(struct guest *guest, struct msghdr *message)
{
    uint32_t before = guest->num;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        size_t num = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < num; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
            if (guest->num < guest->total)
                guest->descriptors[guest->num++] = descriptor;
            else
                close(descriptor);
        }
    }
    return guest->num - before;
}

static cohort_status out_of_descriptors(const struct guest *guest)
{
    struct rlimit limit = {0};
    getrlimit(RLIMIT_NOFILE, &limit);
    return cohort_fail(COHORT_ERR_NO_MEMORY,
                       "locality %u can't take the memory that this host's localities share: that "
                       "is %u descriptors, and it may have %llu open (ulimit -n)",
                       (unsigned)guest->party->rank, (unsigned)guest->total,
                       (unsigned long long)limit.rlim_cur);
}

static cohort_status take_piece(struct guest *guest)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(COHORT__HUB_SHARE_PIECE_DESCRIPTORS * sizeof(int))];
    } control;
    struct cohort__hub_words words;
    const struct cohort__hub_note *piece = &words.note;
    struct iovec iovec = {.iov_base = &words, .iov_len = sizeof(words)};
    struct msghdr message = {.msg_iov = &iovec,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    uint32_t first = guest->num;
    if (!cohort__hub_share_wait(guest->socket, guest->deadline))
        return is_late(guest);
    ssize_t got = recvmsg(guest->socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT | MSG_TRUNC);
    if (got <= 0)
        return host_died(guest);
    uint32_t num = keep(guest, &message);
    if (cohort__hub_share_is_told(&words, got, guest->party->key, guest->party->slot,
                                  host_rank(guest)))
        return COHORT_ERR_PEER_DIED;
    bool is_piece = got == sizeof(*piece) && piece->key == guest->party->key &&
                    piece->kind == COHORT__HUB_NOTE_PIECE && piece->slot == guest->party->slot &&
                    piece->first == first && piece->num > 0 && piece->num <= guest->total - first &&
                    piece->num <= COHORT__HUB_SHARE_PIECE_DESCRIPTORS;
    if (is_piece && num < piece->num && message.msg_flags & MSG_CTRUNC)
        return out_of_descriptors(guest);
    if (is_piece && num == piece->num)
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_PROTOCOL,
                       "locality %u is sent %zd bytes with %u descriptors by locality %u, which "
                       "are no piece of the memory that this host's localities share",
                       (unsigned)guest->party->rank, got, (unsigned)num, host_rank(guest));
}

static cohort_status take_all(struct guest *guest)
{
    cohort_status status = go(guest);
    if (!status)
        status = say(guest, COHORT__HUB_NOTE_HELLO);
    while (!status && guest->num < guest->total) {
        status = take_piece(guest);
        if (status) /* before the others notice that this locality ends */
            cohort__hub_share_tell(guest->socket, guest->party->key, guest->party->slot);
        else
            status = say(guest, COHORT__HUB_NOTE_TAKEN);
    }
    return status;
}

cohort_status cohort__hub_share_fetch(const struct cohort__hub_party *party, uint64_t deadline,
                                      struct cohort__hub **ret_hub)
{
    struct guest guest = {
        .party = party, .deadline = deadline, .socket = -1, .total = party->size + 1};
    guest.descriptors = malloc(guest.total * sizeof(*guest.descriptors));
    if (!guest.descriptors)
        return cohort__hub_share_fail(party, "descriptors");
    cohort_status status = take_all(&guest);
    if (guest.socket >= 0)
        close(guest.socket);
    if (!status)
        status =
            cohort__hub_adopt(ret_hub, guest.descriptors[0], guest.descriptors + 1, party->size);
    else
        for (uint32_t i = 0; i < guest.num; i++)
            close(guest.descriptors[i]);
    free(guest.descriptors);
    return status;
}
