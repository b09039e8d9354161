/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/net/hub.h"
#include "runtime/launch/hub_share_private.h"

/* The host of a share. It accepts only a few connections at a time, since each needs a descriptor
 * here. The others wait in the listener's queue. When it fails, it goes on until it has told all
 * guests why, since a launcher may end this process as soon as any other has ended. */

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
    return cohort_fail(
        COHORT_ERR_PEER_DIED,
        "locality %u has ended while locality %u gave it the memory that this host's "
        "localities share",
        locality(host, slot), locality(host, 0));
}

/* SLOT is the first one that is missing. */
static cohort_status is_late(const struct host *host, uint32_t slot)
{
    char others[32] = "";
    if (host->num_missing > 1)
        snprintf(others, sizeof(others), " and %u others", (unsigned)host->num_missing - 1);
    return cohort_fail(COHORT_ERR_TIMEOUT,
                       "locality %u has waited %.3g s for locality %u%s to take the memory that "
                       "this host's localities share",
                       locality(host, 0), (double)host->party->patience_ns / 1e9,
                       locality(host, slot), others);
}

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
            return cohort__hub_share_fail(host->party, "sending descriptors");
        if (cohort__hub_share_rest(host->deadline) == 0)
            return is_late(host, piece->slot);
        nanosleep(&busy, NULL);
    }
}

static cohort_status await_taken(const struct host *host, int socket,
                                 const struct cohort__hub_note *piece)
{
    struct cohort__hub_words words;
    const struct cohort__hub_note *taken = &words.note;
    if (!cohort__hub_share_wait(socket, host->deadline))
        return is_late(host, piece->slot);
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

/* Accepts one connection. It is no failure if the other side has closed it again, or belongs to
 * another user. */
static cohort_status let_in(struct host *host)
{
    int socket = accept4(host->listener, NULL, NULL, SOCK_CLOEXEC);
    if (socket < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS
                   ? cohort__hub_share_fail(host->party, "accept")
                   : COHORT_OK;
    if (cohort__hub_share_is_same_user(socket))
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
    if (poll(pollfds, num + 1, cohort__hub_share_rest(host->deadline)) <= 0)
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
    while (!status && host->num_missing > 0 && cohort__hub_share_rest(host->deadline) > 0)
        status = turn(host);
    while (slot < host->party->size && host->served[slot])
        slot++;
    if (host->failure.status) {
        cohort__error_copy(cohort__error_slot(), &host->failure);
        status = host->failure.status;
    } else if (!status && host->num_missing > 0) {
        status = is_late(host, slot);
    }
    return status;
}

cohort_status cohort__hub_share_serve(int listener, const struct cohort__hub_party *party,
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
        status = cohort__hub_share_fail(party, "places of the localities");
    }
    for (uint32_t i = 0; i < host.num_visitors; i++)
        close(host.visitors[i]);
    cohort__error_fini(&host.failure);
    free(host.served);
    free(host.descriptors);
    return status;
}
