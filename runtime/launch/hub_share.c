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
#include "runtime/base/descriptors.h"
#include "runtime/base/error.h"
#include "runtime/net/hub.h"

/* The server of a share. It accepts only a few connections at a time, since each needs
 * a descriptor here. The others wait in the listener's queue. When it fails, it goes on until it
 * has told all clients why, since a launcher may end this process as soon as any other has ended.
 */

enum { MAX_VISITORS = 32, BUSY_NANOSECONDS = 5000000 };

struct server {
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

static unsigned locality(const struct server *server, uint32_t slot)
{
    return (unsigned)(server->party->rank + slot);
}

static cohort_status client_died(const struct server *server, uint32_t slot)
{
    return cohort_fail(COHORT_ERR_PEER_DIED,
                       "locality %u has ended while locality %u gave it the memory that this "
                       "host's "
                       "localities share",
                       locality(server, slot), locality(server, 0));
}

/* SLOT is the first one that is missing. */
static cohort_status client_is_late(const struct server *server, uint32_t slot)
{
    char others[32] = "";
    if (server->num_missing > 1)
        snprintf(others, sizeof(others), " and %u others", (unsigned)server->num_missing - 1);
    return cohort_fail(COHORT_ERR_TIMEOUT,
                       "locality %u has waited %.3g s for locality %u%s to take the memory that "
                       "this host's localities share",
                       locality(server, 0), (double)server->party->timeout_ns / 1e9,
                       locality(server, slot), others);
}

static int hub_share_rest(uint64_t deadline);
static cohort_status hub_share_fail(const struct cohort__hub_party *party, const char *what);

/* The kernel limits how many descriptors of a user are in flight, and other processes may have sent
 * some. So this tries again while there are too many. */
static cohort_status send_piece(const struct server *server, int socket,
                                const struct cohort__hub_note *piece)
{
    const struct timespec busy = {.tv_nsec = BUSY_NANOSECONDS};
    for (;;) {
        if (cohort__hub_share_send(socket, piece, server->descriptors + piece->first, piece->num) >=
            0)
            return COHORT_OK;
        if (errno == EPIPE || errno == ECONNRESET)
            return client_died(server, piece->slot);
        bool is_busy = errno == ETOOMANYREFS || errno == EAGAIN || errno == EINTR;
        if (!is_busy)
            return hub_share_fail(server->party, "sending descriptors");
        if (hub_share_rest(server->deadline) == 0)
            return client_is_late(server, piece->slot);
        nanosleep(&busy, NULL);
    }
}

static bool hub_share_wait(int socket, uint64_t deadline);

static cohort_status await_taken(const struct server *server, int socket,
                                 const struct cohort__hub_note *piece)
{
    struct cohort__hub_words words;
    const struct cohort__hub_note *taken = &words.note;
    if (!hub_share_wait(socket, server->deadline))
        return client_is_late(server, piece->slot);
    ssize_t got = recv(socket, &words, sizeof(words), MSG_DONTWAIT | MSG_TRUNC);
    if (got <= 0)
        return client_died(server, piece->slot);
    if (cohort__hub_share_is_told(&words, got, piece->key, piece->slot,
                                  server->party->rank + piece->slot))
        return COHORT_ERR_PEER_DIED;
    if (got != sizeof(*taken) || taken->key != piece->key ||
        taken->kind != COHORT__HUB_NOTE_TAKEN || taken->slot != piece->slot ||
        taken->first != piece->first + piece->num)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "locality %u answers locality %u, which gave it shared memory, with %zd "
                           "bytes that make no sense",
                           locality(server, piece->slot), locality(server, 0), got);
    return COHORT_OK;
}

static cohort_status give(const struct server *server, int socket, uint32_t slot)
{
    struct cohort__hub_note piece = {
        .key = server->party->key, .kind = COHORT__HUB_NOTE_PIECE, .slot = slot};
    cohort_status status = COHORT_OK;
    while (!status && piece.first < server->num_descriptors) {
        uint32_t rest = server->num_descriptors - piece.first;
        piece.num =
            rest < COHORT__HUB_SHARE_PIECE_DESCRIPTORS ? rest : COHORT__HUB_SHARE_PIECE_DESCRIPTORS;
        status = send_piece(server, socket, &piece);
        if (!status)
            status = await_taken(server, socket, &piece);
        piece.first += piece.num;
    }
    return status;
}

/* Gives the client its descriptors. After the first failure, all clients are told that failure. */
static void serve_client(struct server *server, int socket, uint32_t slot)
{
    if (!server->failure.status && give(server, socket, slot))
        cohort__error_copy(&server->failure, cohort__error_slot());
    if (server->failure.status) {
        cohort__error_copy(cohort__error_slot(), &server->failure);
        cohort__hub_share_tell(socket, server->party->key, slot);
    }
    server->served[slot] = 1;
    server->num_missing--;
}

/* Reads what the visitor at SOCKET has sent, or that it has closed the connection. Only clients get
 * an answer. */
static void hear(struct server *server, int socket)
{
    struct cohort__hub_note hello;
    ssize_t got = recv(socket, &hello, sizeof(hello), MSG_DONTWAIT | MSG_TRUNC);
    bool is_client = got == sizeof(hello) && hello.key == server->party->key &&
                     hello.kind == COHORT__HUB_NOTE_HELLO && hello.slot > 0 &&
                     hello.slot < server->party->size && !server->served[hello.slot];
    if (is_client)
        serve_client(server, socket, hello.slot);
}

static bool hub_share_is_same_user(int socket);

/* Accepts one connection. It is no failure if the other side has closed it again, or belongs to
 * another user. */
static cohort_status let_in(struct server *server)
{
    int socket = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
    if (socket < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS
                   ? hub_share_fail(server->party, "accept")
                   : COHORT_OK;
    if (hub_share_is_same_user(socket))
        server->visitors[server->num_visitors++] = socket;
    else
        close(socket);
    return COHORT_OK;
}

/* Waits until something has happened, or until the deadline, and handles it. */
static cohort_status turn(struct server *server)
{
    struct pollfd pollfds[MAX_VISITORS + 1];
    uint32_t num = server->num_visitors;
    for (uint32_t i = 0; i < num; i++)
        pollfds[i] = (struct pollfd){.fd = server->visitors[i], .events = POLLIN};
    pollfds[num] =
        (struct pollfd){.fd = num < MAX_VISITORS ? server->listener : -1, .events = POLLIN};
    if (poll(pollfds, num + 1, hub_share_rest(server->deadline)) <= 0)
        return COHORT_OK;
    for (uint32_t i = num; i-- > 0;) {
        if (!pollfds[i].revents)
            continue;
        hear(server, server->visitors[i]);
        close(server->visitors[i]);
        server->visitors[i] = server->visitors[--server->num_visitors];
    }
    return pollfds[num].revents ? let_in(server) : COHORT_OK;
}

static cohort_status serve_all(struct server *server)
{
    cohort_status status = COHORT_OK;
    uint32_t slot = 1;
    while (!status && server->num_missing > 0 && hub_share_rest(server->deadline) > 0)
        status = turn(server);
    while (slot < server->party->size && server->served[slot])
        slot++;
    if (server->failure.status) {
        cohort__error_copy(cohort__error_slot(), &server->failure);
        status = server->failure.status;
    } else if (!status && server->num_missing > 0) {
        status = client_is_late(server, slot);
    }
    return status;
}

/* Works until DEADLINE. If HUB is NULL, the reason is in the error slot, and the clients are told.
 */
static cohort_status hub_share_serve(int listener, const struct cohort__hub_party *party,
                                     uint64_t deadline, const struct cohort__hub *hub)
{
    struct server server = {.party = party,
                            .deadline = deadline,
                            .listener = listener,
                            .num_descriptors = party->size + 1,
                            .num_missing = party->size - 1};
    cohort_status status = COHORT_OK;
    server.descriptors = malloc(server.num_descriptors * sizeof(*server.descriptors));
    server.served = calloc(party->size, 1);
    if (!hub)
        cohort__error_copy(&server.failure, cohort__error_slot());
    if (server.descriptors && server.served) {
        if (hub) {
            server.descriptors[0] = hub->memory;
            memcpy(server.descriptors + 1, hub->doorbells,
                   party->size * sizeof(*server.descriptors));
        }
        status = serve_all(&server);
    } else {
        status = hub_share_fail(party, "places of the localities");
    }
    for (uint32_t i = 0; i < server.num_visitors; i++)
        close(server.visitors[i]);
    cohort__error_fini(&server.failure);
    free(server.served);
    free(server.descriptors);
    return status;
}

/* A client of a share. It receives descriptors until it has all of them. */

struct client {
    const struct cohort__hub_party *party;
    uint64_t deadline;
    int socket;
    int *descriptors;
    uint32_t num; /* how many it has */
    uint32_t total;
};

static unsigned server_rank(const struct client *client)
{
    return (unsigned)(client->party->rank - client->party->slot);
}

static cohort_status server_died(const struct client *client)
{
    return cohort_fail(COHORT_ERR_PEER_DIED,
                       "locality %u waits for the memory that this host's localities share, but "
                       "locality %u, which gives it, has ended",
                       (unsigned)client->party->rank, server_rank(client));
}

static cohort_status server_is_late(const struct client *client)
{
    return cohort_fail(COHORT_ERR_TIMEOUT,
                       "locality %u has waited %.3g s for the memory that this host's localities "
                       "share, which locality %u gives",
                       (unsigned)client->party->rank, (double)client->party->timeout_ns / 1e9,
                       server_rank(client));
}

/* Connects to the server. This waits only if the server's queue is full. */
static cohort_status go(struct client *client)
{
    int rest = hub_share_rest(client->deadline);
    struct timeval limit = {rest / 1000, rest % 1000 * 1000 + 1}; /* 0 would mean for ever */
    struct sockaddr_un address;
    socklen_t bytes = cohort__hub_share_address(client->party->listener_id, &address);
    client->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (client->socket < 0 ||
        setsockopt(client->socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)))
        return hub_share_fail(client->party, "socket");
    while (connect(client->socket, (struct sockaddr *)&address, bytes)) {
        if (errno == ECONNREFUSED)
            return server_died(client);
        if (errno == EAGAIN)
            return server_is_late(client);
        if (errno != EINTR)
            return hub_share_fail(client->party, "connect");
    }
    if (hub_share_is_same_user(client->socket))
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_PROTOCOL,
                       "locality %u can't share memory with locality %u of this host, which is "
                       "another user's",
                       (unsigned)client->party->rank, server_rank(client));
}

static cohort_status say(const struct client *client, enum cohort__hub_note_kind kind)
{
    struct cohort__hub_note note = {
        .key = client->party->key, .kind = kind, .slot = client->party->slot, .first = client->num};
    if (cohort__hub_share_send(client->socket, &note, NULL, 0) >= 0)
        return COHORT_OK;
    return errno == EPIPE || errno == ECONNRESET
               ? server_died(client)
               : hub_share_fail(client->party, "asking for descriptors");
}

/* Keeps the descriptors that came with MESSAGE, even if the message is wrong, so that they get
 * closed later. Closes those that are too many. Returns how many it keeps. */
static uint32_t keep(struct client *client, struct msghdr *message)
{
    uint32_t before = client->num;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        size_t num = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < num; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
            if (client->num < client->total)
                client->descriptors[client->num++] = descriptor;
            else
                close(descriptor);
        }
    }
    return client->num - before;
}

static cohort_status out_of_descriptors(const struct client *client)
{
    struct rlimit limit = {0};
    getrlimit(RLIMIT_NOFILE, &limit);
    return cohort_fail(COHORT_ERR_NO_MEMORY,
                       "locality %u can't take the memory that this host's localities share: that "
                       "is %u descriptors, and it may have %llu open (ulimit -n)",
                       (unsigned)client->party->rank, (unsigned)client->total,
                       (unsigned long long)limit.rlim_cur);
}

static cohort_status take_piece(struct client *client)
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
    uint32_t first = client->num;
    if (!hub_share_wait(client->socket, client->deadline))
        return server_is_late(client);
    ssize_t got = recvmsg(client->socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT | MSG_TRUNC);
    if (got <= 0)
        return server_died(client);
    uint32_t num = keep(client, &message);
    if (cohort__hub_share_is_told(&words, got, client->party->key, client->party->slot,
                                  server_rank(client)))
        return COHORT_ERR_PEER_DIED;
    bool is_piece = got == sizeof(*piece) && piece->key == client->party->key &&
                    piece->kind == COHORT__HUB_NOTE_PIECE && piece->slot == client->party->slot &&
                    piece->first == first && piece->num > 0 &&
                    piece->num <= client->total - first &&
                    piece->num <= COHORT__HUB_SHARE_PIECE_DESCRIPTORS;
    if (is_piece && num < piece->num && message.msg_flags & MSG_CTRUNC)
        return out_of_descriptors(client);
    if (is_piece && num == piece->num)
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_PROTOCOL,
                       "locality %u is sent %zd bytes with %u descriptors by locality %u, which "
                       "are no piece of the memory that this host's localities share",
                       (unsigned)client->party->rank, got, (unsigned)num, server_rank(client));
}

static cohort_status take_all(struct client *client)
{
    cohort_status status = go(client);
    if (!status)
        status = say(client, COHORT__HUB_NOTE_HELLO);
    while (!status && client->num < client->total) {
        status = take_piece(client);
        if (status) /* before the others notice that this locality ends */
            cohort__hub_share_tell(client->socket, client->party->key, client->party->slot);
        else
            status = say(client, COHORT__HUB_NOTE_TAKEN);
    }
    return status;
}

static cohort_status hub_share_fetch(const struct cohort__hub_party *party, uint64_t deadline,
                                     struct cohort__hub **ret_hub)
{
    struct client client = {
        .party = party, .deadline = deadline, .socket = -1, .total = party->size + 1};
    client.descriptors = malloc(client.total * sizeof(*client.descriptors));
    if (!client.descriptors)
        return hub_share_fail(party, "descriptors");
    cohort_status status = take_all(&client);
    if (client.socket >= 0)
        close(client.socket);
    if (!status)
        status =
            cohort__hub_adopt(ret_hub, client.descriptors[0], client.descriptors + 1, party->size);
    else
        for (uint32_t i = 0; i < client.num; i++)
            close(client.descriptors[i]);
    free(client.descriptors);
    return status;
}

/* The part that server and clients have in common. */

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
    return cohort__descriptors_send(socket, note, sizeof(*note), descriptors, num, MSG_DONTWAIT);
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
static cohort_status create_and_serve(struct cohort__hub_share *share,
                                      const struct cohort__hub_party *party, uint64_t deadline,
                                      struct cohort__hub **ret_hub)
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
    cohort_status status = party->slot == 0 ? create_and_serve(share, party, deadline, ret_hub)
                                            : hub_share_fetch(party, deadline, ret_hub);
    cohort__hub_share_fini(share); /* so that a client that comes too late gets an error */
    return status;
}
