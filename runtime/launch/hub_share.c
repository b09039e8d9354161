/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/hub_share.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/net/hub.h"

/* The host of a share. It accepts only a few connections at a time, since each needs
 * a descriptor here. The others wait in the listener's queue. When it fails, it goes on until it
 * has told all guests why, since a launcher may end this process as soon as any other has ended. */

enum { MAX_VISITORS = 32, BUSY_NANOSECONDS = 5000000 };

struct host {
    const struct cohort__hub_party *party;
    uint64_t deadline;
    int listener;
    int visitors[MAX_VISITORS]; /* connections that have not sent HELLO yet */
    uint32_t num_visitors;
    int *descriptors; /* the descriptors of the hub, in order */
    uint32_t num_descriptors;
    unsigned char *served; /* by slot */
    uint32_t num_missing;
    struct cohort__error failure;
};

static unsigned locality(const struct host *host, uint32_t slot)
{
    return (unsigned)(host->party->rank + slot);
}

static cohort_status guest_died(const struct host *host, uint32_t slot)
{
    return cohort_fail(COHORT_ERR_PEER_DIED,
                       "locality %u has ended while locality %u gave it the memory that this "
                       "host's "
                       "localities share",
                       locality(host, slot), locality(host, 0));
}

/* SLOT is the first one that is missing. */
static cohort_status guest_is_late(const struct host *host, uint32_t slot)
{
    char others[32] = "";
    if (host->num_missing > 1)
        snprintf(others, sizeof(others), " and %u others", (unsigned)host->num_missing - 1);
    return cohort_fail(COHORT_ERR_TIMEOUT,
                       "locality %u has waited %.3g s for locality %u%s to take the memory that "
                       "this host's localities share",
                       locality(host, 0), (double)host->party->timeout_ns / 1e9,
                       locality(host, slot), others);
}

static int hub_share_rest(uint64_t deadline);
static cohort_status hub_share_fail(const struct cohort__hub_party *party, const char *what);

/* The kernel limits how many descriptors of a user are in flight, and other processes may have sent
 * some. So this tries again while there are too many. */
static cohort_status send_piece(const struct host *host, int socket,
                                const struct cohort__hub_note *piece)
{
    const struct timespec busy = {.tv_nsec = BUSY_NANOSECONDS};
    for (;;) {
        if (cohort__hub_share_send(socket, piece, host->descriptors + piece->first, piece->num) >=
            0)
            return COHORT_OK;
        if (errno == EPIPE || errno == ECONNRESET)
            return guest_died(host, piece->slot);
        bool is_busy = errno == ETOOMANYREFS || errno == EAGAIN || errno == EINTR;
        if (!is_busy)
            return hub_share_fail(host->party, "sending descriptors");
        if (hub_share_rest(host->deadline) == 0)
            return guest_is_late(host, piece->slot);
        nanosleep(&busy, NULL);
    }
}

static bool hub_share_wait(int socket, uint64_t deadline);

static cohort_status await_taken(const struct host *host, int socket,
                                 const struct cohort__hub_note *piece)
{
    struct cohort__hub_words words;
    const struct cohort__hub_note *taken = &words.note;
    if (!hub_share_wait(socket, host->deadline))
        return guest_is_late(host, piece->slot);
    ssize_t got = recv(socket, &words, sizeof(words), MSG_DONTWAIT | MSG_TRUNC);
    if (got <= 0)
        return guest_died(host, piece->slot);
    if (cohort__hub_share_is_told(&words, got, piece->key, piece->slot,
                                  host->party->rank + piece->slot))
        return COHORT_ERR_PEER_DIED;
    if (got != sizeof(*taken) || taken->key != piece->key ||
        taken->kind != COHORT__HUB_NOTE_TAKEN || taken->slot != piece->slot ||
        taken->first != piece->first + piece->num)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "locality %u answers locality %u, which gave it shared memory, with %zd "
                           "bytes that make no sense",
                           locality(host, piece->slot), locality(host, 0), got);
    return COHORT_OK;
}

static cohort_status give(const struct host *host, int socket, uint32_t slot)
{
    struct cohort__hub_note piece = {
        .key = host->party->key, .kind = COHORT__HUB_NOTE_PIECE, .slot = slot};
    cohort_status status = COHORT_OK;
    while (!status && piece.first < host->num_descriptors) {
        uint32_t rest = host->num_descriptors - piece.first;
        piece.num =
            rest < COHORT__HUB_SHARE_PIECE_DESCRIPTORS ? rest : COHORT__HUB_SHARE_PIECE_DESCRIPTORS;
        status = send_piece(host, socket, &piece);
        if (!status)
            status = await_taken(host, socket, &piece);
        piece.first += piece.num;
    }
    return status;
}

/* Gives the guest its descriptors. After the first failure, all guests are told that failure. */
static void serve_guest(struct host *host, int socket, uint32_t slot)
{
    if (!host->failure.status && give(host, socket, slot))
        cohort__error_copy(&host->failure, cohort__error_slot());
    if (host->failure.status) {
        cohort__error_copy(cohort__error_slot(), &host->failure);
        cohort__hub_share_tell(socket, host->party->key, slot);
    }
    host->served[slot] = 1;
    host->num_missing--;
}

/* Reads what the visitor at SOCKET has sent, or that it has closed the connection. Only guests get
 * an answer. */
static void hear(struct host *host, int socket)
{
    struct cohort__hub_note hello;
    ssize_t got = recv(socket, &hello, sizeof(hello), MSG_DONTWAIT | MSG_TRUNC);
    bool is_guest = got == sizeof(hello) && hello.key == host->party->key &&
                    hello.kind == COHORT__HUB_NOTE_HELLO && hello.slot > 0 &&
                    hello.slot < host->party->size && !host->served[hello.slot];
    if (is_guest)
        serve_guest(host, socket, hello.slot);
}

static bool hub_share_is_same_user(int socket);

/* Accepts one connection. It is no failure if the other side has closed it again, or belongs to
 * another user. */
static cohort_status let_in(struct host *host)
{
    int socket = accept4(host->listener, NULL, NULL, SOCK_CLOEXEC);
    if (socket < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS
                   ? hub_share_fail(host->party, "accept")
                   : COHORT_OK;
    if (hub_share_is_same_user(socket))
        host->visitors[host->num_visitors++] = socket;
    else
        close(socket);
    return COHORT_OK;
}

/* Waits until something has happened, or until the deadline, and handles it. */
static cohort_status turn(struct host *host)
{
    struct pollfd pollfds[MAX_VISITORS + 1];
    uint32_t num = host->num_visitors;
    for (uint32_t i = 0; i < num; i++)
        pollfds[i] = (struct pollfd){.fd = host->visitors[i], .events = POLLIN};
    pollfds[num] =
        (struct pollfd){.fd = num < MAX_VISITORS ? host->listener : -1, .events = POLLIN};
    if (poll(pollfds, num + 1, hub_share_rest(host->deadline)) <= 0)
        return COHORT_OK;
    for (uint32_t i = num; i-- > 0;) {
        if (!pollfds[i].revents)
            continue;
        hear(host, host->visitors[i]);
        close(host->visitors[i]);
        host->visitors[i] = host->visitors[--host->num_visitors];
    }
    return pollfds[num].revents ? let_in(host) : COHORT_OK;
}

static cohort_status serve_all(struct host *host)
{
    cohort_status status = COHORT_OK;
    uint32_t slot = 1;
    while (!status && host->num_missing > 0 && hub_share_rest(host->deadline) > 0)
        status = turn(host);
    while (slot < host->party->size && host->served[slot])
        slot++;
    if (host->failure.status) {
        cohort__error_copy(cohort__error_slot(), &host->failure);
        status = host->failure.status;
    } else if (!status && host->num_missing > 0) {
        status = guest_is_late(host, slot);
    }
    return status;
}

/* Works until DEADLINE. If HUB is NULL, the reason is in the error slot, and the guests are told.
 */
static cohort_status hub_share_serve(int listener, const struct cohort__hub_party *party,
                                     uint64_t deadline, const struct cohort__hub *hub)
{
    struct host host = {.party = party,
                        .deadline = deadline,
                        .listener = listener,
                        .num_descriptors = party->size + 1,
                        .num_missing = party->size - 1};
    cohort_status status = COHORT_OK;
    host.descriptors = malloc(host.num_descriptors * sizeof(*host.descriptors));
    host.served = calloc(party->size, 1);
    if (!hub)
        cohort__error_copy(&host.failure, cohort__error_slot());
    if (host.descriptors && host.served) {
        if (hub) {
            host.descriptors[0] = hub->memory;
            memcpy(host.descriptors + 1, hub->doorbells, party->size * sizeof(*host.descriptors));
        }
        status = serve_all(&host);
    } else {
        status = hub_share_fail(party, "places of the localities");
    }
    for (uint32_t i = 0; i < host.num_visitors; i++)
        close(host.visitors[i]);
    cohort__error_fini(&host.failure);
    free(host.served);
    free(host.descriptors);
    return status;
}

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
                       (unsigned)guest->party->rank, (double)guest->party->timeout_ns / 1e9,
                       host_rank(guest));
}

/* Connects to the host. This waits only if the host's queue is full. */
static cohort_status go(struct guest *guest)
{
    int rest = hub_share_rest(guest->deadline);
    struct timeval limit = {rest / 1000, rest % 1000 * 1000 + 1}; /* 0 would mean for ever */
    struct sockaddr_un address;
    socklen_t bytes = cohort__hub_share_address(guest->party->listener_id, &address);
    guest->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (guest->socket < 0 ||
        setsockopt(guest->socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)))
        return hub_share_fail(guest->party, "socket");
    while (connect(guest->socket, (struct sockaddr *)&address, bytes)) {
        if (errno == ECONNREFUSED)
            return host_died(guest);
        if (errno == EAGAIN)
            return is_late(guest);
        if (errno != EINTR)
            return hub_share_fail(guest->party, "connect");
    }
    if (hub_share_is_same_user(guest->socket))
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
               : hub_share_fail(guest->party, "asking for descriptors");
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
    if (!hub_share_wait(guest->socket, guest->deadline))
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

static cohort_status hub_share_fetch(const struct cohort__hub_party *party, uint64_t deadline,
                                     struct cohort__hub **ret_hub)
{
    struct guest guest = {
        .party = party, .deadline = deadline, .socket = -1, .total = party->size + 1};
    guest.descriptors = malloc(guest.total * sizeof(*guest.descriptors));
    if (!guest.descriptors)
        return hub_share_fail(party, "descriptors");
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

/* The part that host and guests have in common. */

/* Sets the error for errno. PARTY is NULL as long as the localities don't know their ranks. */
static cohort_status hub_share_fail(const struct cohort__hub_party *party, const char *what)
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

/* Whether the process at the other end of SOCKET belongs to the same user. */
static bool hub_share_is_same_user(int socket)
{
    struct ucred peer;
    socklen_t bytes = sizeof(peer);
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

/* Milliseconds until DEADLINE, in the form that poll expects. */
static int hub_share_rest(uint64_t deadline)
{
    uint64_t now = cohort__clock_now();
    uint64_t rest = now < deadline ? (deadline - now + 999999) / 1000000 : 0;
    return rest < INT_MAX ? (int)rest : INT_MAX;
}

/* Waits until something has come. Returns false if DEADLINE has passed. */
static bool hub_share_wait(int socket, uint64_t deadline)
{
    struct pollfd pollfd = {.fd = socket, .events = POLLIN};
    for (;;) {
        int rest = hub_share_rest(deadline);
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
        return hub_share_fail(NULL, "getrandom");
    socklen_t bytes = cohort__hub_share_address(listener_id, &address);
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0)
        return hub_share_fail(NULL, "socket");
    if (bind(listener, (struct sockaddr *)&address, bytes) || listen(listener, SOMAXCONN)) {
        cohort_status status = hub_share_fail(NULL, "a socket to listen at");
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
    cohort_status status = hub_share_serve(share->listener, party, deadline, hub);
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
    uint64_t deadline = cohort__clock_after(party->timeout_ns);
    cohort_status status = party->slot == 0 ? host(share, party, deadline, ret_hub)
                                            : hub_share_fetch(party, deadline, ret_hub);
    cohort__hub_share_fini(share); /* so that a guest that comes too late gets an error */
    return status;
}
