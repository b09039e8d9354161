/* SPDX-License-Identifier: Apache-2.0 */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/net/ofi_end.h"

/* Addresses ----------------------------------------------------------------------------------- */

static const char transport_name[] = "ofi";

cohort_status cohort__ofi_address_set(struct cohort__ofi *ofi)
{
    const char *provider = ofi->info->fabric_attr->prov_name;
    unsigned char *at = ofi->net.address;
    size_t head = sizeof transport_name + strlen(provider) + 1 + 4;
    size_t room = head < sizeof ofi->net.address ? sizeof ofi->net.address - head : 0;
    int error = fi_getname(&ofi->ep->fid, at + head, &room);
    if (error)
        return cohort__ofi_fail(ofi, "fi_getname", error);
    uint32_t version = htole32(ofi->library->version);
    memcpy(at, transport_name, sizeof transport_name);
    memcpy(at + sizeof transport_name, provider, strlen(provider) + 1);
    memcpy(at + head - 4, &version, 4);
    ofi->raw = at + head;
    ofi->net.address_bytes = head + room;
    return COHORT_OK;
}

/* The text at *AT. *AT moves behind its NUL. NULL if there is no NUL before END. */
static const char *take_text(const unsigned char **at, const unsigned char *end)
{
    const unsigned char *nul = memchr(*at, 0, (size_t)(end - *at));
    if (!nul)
        return NULL;
    const char *text = (const char *)*at;
    *at = nul + 1;
    return text;
}

/* Splits an address into its four parts. Only the transport is compared with ours. */
static cohort_status take_apart(uint32_t number, const unsigned char *at, size_t bytes,
                                struct cohort__ofi_address *ret)
{
    const unsigned char *end = at + bytes;
    ret->transport = bytes > 0 ? take_text(&at, end) : NULL;
    if (!ret->transport)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "peer %u: an address without a transport",
                           number);
    if (strcmp(ret->transport, transport_name) != 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "peer %u uses transport %s, this locality uses %s", number,
                           ret->transport, transport_name);
    ret->provider = at < end ? take_text(&at, end) : NULL;
    if (!ret->provider || end - at <= 4)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "peer %u: a truncated address", number);
    memcpy(&ret->version, at, 4);
    ret->version = le32toh(ret->version);
    ret->raw = at + 4;
    ret->raw_bytes = (size_t)(end - at) - 4;
    return COHORT_OK;
}

/* Reads the address of the peer with this NUMBER. COHORT_ERR_BAD_PARAMETER if it is not an address,
 * or if its transport, provider or version is not ours. *ret points into ADDRESS. */
static cohort_status ofi_address_read(const struct cohort__ofi *ofi, uint32_t number,
                                      const void *address, size_t bytes,
                                      struct cohort__ofi_address *ret)
{
    struct cohort__ofi_address a = {0};
    cohort_status st = take_apart(number, address, bytes, &a);
    if (st != COHORT_OK)
        return st;
    const char *provider = ofi->info->fabric_attr->prov_name;
    if (strcmp(a.provider, provider) != 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "peer %u uses provider %s, this locality uses %s", number, a.provider,
                           provider);
    if (a.version != ofi->library->version)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "peer %u uses libfabric %u.%u, this locality uses %u.%u", number,
                           FI_MAJOR(a.version), FI_MINOR(a.version),
                           FI_MAJOR(ofi->library->version), FI_MINOR(ofi->library->version));
    *ret = a;
    return COHORT_OK;
}

bool cohort__ofi_address_is_tcp(const struct fi_info *info)
{
    const char *provider = info->fabric_attr->prov_name;
    return (strncmp(provider, "tcp", 3) == 0 || strcmp(provider, "net") == 0) &&
           (info->addr_format == FI_SOCKADDR_IN || info->addr_format == FI_SOCKADDR_IN6);
}

bool cohort__ofi_address_is_here(const struct fi_info *info, const void *ours, const void *theirs,
                                 size_t bytes)
{
    struct sockaddr_in6 our6, their6;
    struct sockaddr_in our4, their4;
    if (!cohort__ofi_address_is_tcp(info))
        return false;
    if (info->addr_format == FI_SOCKADDR_IN && bytes >= sizeof our4) {
        memcpy(&our4, ours, sizeof our4);
        memcpy(&their4, theirs, sizeof their4);
        return our4.sin_addr.s_addr == their4.sin_addr.s_addr;
    }
    if (info->addr_format == FI_SOCKADDR_IN6 && bytes >= sizeof our6) {
        memcpy(&our6, ours, sizeof our6);
        memcpy(&their6, theirs, sizeof their6);
        return IN6_ARE_ADDR_EQUAL(&our6.sin6_addr, &their6.sin6_addr) &&
               our6.sin6_scope_id == their6.sin6_scope_id;
    }
    return false;
}

/* Our own connection attempt to a peer's address, to distinguish a busy peer from one that is gone.
 * Only where the provider's addresses are those of TCP listeners. Other peers count as alive. */
enum probe {
    PROBE_PENDING,
    PROBE_ALIVE,
    PROBE_DEAD,
};

/* Asking ------------------------------------------------------------------------------------ */

/* The handshake before anything else goes to a peer.
 *
 * When two ends connect to each other at the same time, one of the two connections is given up. The
 * providers net (libfabric 1.17) and tcp (2.1, too) may give up both, if some other peer has ended
 * before: then one end closes the connection that the other one has been told of, and what that one
 * has sent is lost, though each was a success. This is over once bytes have come back. So an end
 * asks, and sends when it has an answer. Either may be lost, so it asks again after a while, but
 * ever more rarely, since the peer may only be busy.
 *
 * Who is asked asks in return, so that one round trip and a half serve both directions.
 * tests/model/hello.pml is a model of this. */

/* A packet of no messages: who says it (u32), what (u16), and the number of messages (u16, 0); all
 * little-endian. */
enum { HELLO_BYTES = 8, ASKS = 1, ANSWERS = 2 };

/* How long an answer is waited for, first and at most. It doubles each time. */
static const uint64_t ask_first = 10 * 1000 * 1000;
static const uint64_t ask_last = 1000 * 1000 * 1000;

/* So many in succession that the provider fails to send are no accident. */
enum { MOST_FAILED = 4 };

/* Returns libfabric's error. */
static int say(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer, uint16_t what)
{
    unsigned char hello[HELLO_BYTES] = {0};
    uint32_t number = htole32(ofi->number);
    uint16_t word = htole16(what);
    memcpy(hello, &number, 4);
    memcpy(hello + 4, &word, 2);
    int error = cohort__ofi_send_hello(ofi, peer, hello, sizeof hello);
    if (!error && what & ASKS) {
        uint64_t delay = peer->ask_delay * 2;
        peer->ask_delay = delay < ask_first ? ask_first : delay > ask_last ? ask_last : delay;
        peer->ask_after = cohort__clock_now() + peer->ask_delay;
    }
    return error;
}

int cohort__ofi_hello_ask(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer)
{
    int error = cohort__clock_now() >= peer->ask_after ? say(ofi, peer, ASKS) : 0;
    return error ? error : -FI_EAGAIN;
}

void cohort__ofi_hello_failed(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer,
                              const char *why)
{
    peer->ask_after = 0;
    if (!peer->is_met && ++peer->num_failed == MOST_FAILED)
        cohort__ofi_peer_lose(ofi, peer, why);
}

/* An answer that can't leave now is asked for again. */
static void take(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer, uint16_t what)
{
    if (what & ANSWERS && !peer->is_met) {
        peer->is_met = true;
        cohort__ofi_peer_accepted(ofi, peer);
    }
    bool asks = !peer->is_met && peer->ask_after == 0;
    if (what & ASKS)
        (void)say(ofi, peer, ANSWERS | (asks ? ASKS : 0));
}

bool cohort__ofi_hello_take(struct cohort__ofi *ofi, const unsigned char *data, size_t bytes)
{
    uint32_t number;
    uint16_t what, num_messages;
    if (bytes != HELLO_BYTES)
        return false;
    memcpy(&number, data, 4);
    memcpy(&what, data + 4, 2);
    memcpy(&num_messages, data + 6, 2);
    what = le16toh(what);
    if (num_messages != 0 || what == 0 || what > (ASKS | ANSWERS))
        return false;
    pthread_mutex_lock(&ofi->lock);
    struct cohort__ofi_peer *peer = cohort__ofi_peer_living(ofi, le32toh(number));
    if (peer)
        take(ofi, peer, what);
    pthread_mutex_unlock(&ofi->lock);
    return true;
}

/* Probing ------------------------------------------------------------------------------------- */

static enum probe verdict(int error)
{
    switch (error) {
    case EINPROGRESS:
        return PROBE_PENDING;
    case ECONNREFUSED:
    case ECONNRESET:
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
        return PROBE_DEAD;
    default: /* connected, or something is missing here, which proves nothing */
        return PROBE_ALIVE;
    }
}

static int begin(const void *address, size_t bytes, int *ret_fd)
{
    struct sockaddr_storage name;
    if (bytes < sizeof(sa_family_t) || bytes > sizeof name)
        return EINVAL;
    memcpy(&name, address, bytes);
    int fd = socket(name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    *ret_fd = fd;
    return connect(fd, (struct sockaddr *)&name, (socklen_t)bytes) == 0 ? 0 : errno;
}

static int look(int fd)
{
    struct pollfd entry = {.fd = fd, .events = POLLOUT};
    if (poll(&entry, 1, 0) == 0)
        return EINPROGRESS;
    int error = 0;
    socklen_t bytes = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

/* Gives the attempt up. *FD may be -1. */
static void probe_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Begins the attempt (if *FD is -1) or continues it. Never blocks. *FD is -1 when it returns ALIVE
 * or DEAD. */
static enum probe probe(const struct fi_info *info, const void *address, size_t bytes, int *fd)
{
    if (!cohort__ofi_address_is_tcp(info))
        return PROBE_ALIVE;
    enum probe v = verdict(*fd < 0 ? begin(address, bytes, fd) : look(*fd));
    if (v != PROBE_PENDING)
        probe_end(fd);
    return v;
}

/* The peers, and what is done about a peer that does not answer ------------------------------- */

/* How long every attempt has to be refused before we probe whether the peer is alive, and the
 * interval between later probes. There are about fifteen attempts in 50 ms. So a peer that is slow
 * for a moment is not probed, and a sender that waits for a dead one hardly notices the delay. Not
 * measured. */
static const uint64_t probe_first = 50 * 1000 * 1000;
static const uint64_t probe_next = 1000 * 1000 * 1000;

/* How long to wait before trying again what was refused: the first and the longest delay. It
 * doubles each time. */
static const uint64_t retry_first = 25 * 1000;
static const uint64_t retry_last = 5 * 1000 * 1000;

static struct cohort__ofi_peer *find(const struct cohort__ofi *ofi, uint32_t number)
{
    struct cohort__map_node *node =
        cohort__map_find(&ofi->peers, cohort__hash_u64(number), NULL, NULL);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__ofi_peer, node) : NULL;
}

cohort_status cohort__ofi_peer_add(struct cohort__net *net, uint32_t number, const void *address,
                                   size_t bytes)
{
    struct cohort__ofi *ofi = (struct cohort__ofi *)net;
    struct cohort__ofi_address a = {0};
    cohort_status st = ofi_address_read(ofi, number, address, bytes, &a);
    if (st != COHORT_OK)
        return st;
    struct cohort__ofi_peer *peer = calloc(1, sizeof *peer + a.raw_bytes);
    if (!peer)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for peer %u", number);
    peer->number = number;
    peer->probe_fd = -1;
    peer->is_here = cohort__ofi_address_is_here(ofi->info, ofi->raw, a.raw, a.raw_bytes);
    peer->raw_bytes = a.raw_bytes;
    memcpy(peer->raw, a.raw, a.raw_bytes);
    cohort__list_init(&peer->blocked);
    cohort__list_init(&peer->lost);
    pthread_mutex_lock(&ofi->lock);
    if (find(ofi, number)) {
        pthread_mutex_unlock(&ofi->lock);
        free(peer);
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "peer %u is there already", number);
    }
    cohort__map_insert(&ofi->peers, &peer->node, cohort__hash_u64(number));
    cohort__list_push_back(&ofi->all_peers, &peer->link);
    pthread_mutex_unlock(&ofi->lock);
    return COHORT_OK;
}

/* Nothing goes to PEER any more. This does not close an existing connection. */
static void disconnect(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer)
{
    peer->is_dead = true;
    cohort__list_remove(&peer->blocked);
    probe_end(&peer->probe_fd);
    cohort__ofi_batch_drop(ofi, peer);
    if (peer->is_known)
        fi_av_remove(ofi->av, &peer->address, 1, 0);
    peer->is_known = false;
    cohort__ofi_fetches_fail(ofi, peer);
}

void cohort__ofi_peer_remove(struct cohort__net *net, uint32_t number)
{
    struct cohort__ofi *ofi = (struct cohort__ofi *)net;
    pthread_mutex_lock(&ofi->lock);
    struct cohort__ofi_peer *peer = find(ofi, number);
    if (peer) {
        cohort__map_remove(&ofi->peers, &peer->node);
        cohort__list_remove(&peer->lost);
        disconnect(ofi, peer);
        cohort__ofi_wake(ofi);
    }
    pthread_mutex_unlock(&ofi->lock);
}

void cohort__ofi_peer_lose(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer, const char *why)
{
    if (peer->is_dead)
        return;
    peer->why = why;
    disconnect(ofi, peer);
    cohort__list_push_back(&ofi->lost, &peer->lost);
    cohort__ofi_wake(ofi);
}

struct cohort__ofi_peer *cohort__ofi_peer_living(struct cohort__ofi *ofi, uint32_t number)
{
    struct cohort__ofi_peer *peer = find(ofi, number);
    if (!peer || peer->is_dead)
        return NULL;
    if (peer->is_known)
        return peer;
    if (fi_av_insert(ofi->av, peer->raw, 1, &peer->address, 0, NULL) != 1) {
        cohort__ofi_peer_lose(ofi, peer, "the provider does not accept its address");
        return NULL;
    }
    peer->is_known = true;
    return peer;
}

struct cohort__ofi_peer *cohort__ofi_peer_get(struct cohort__ofi *ofi, uint32_t number)
{
    return ofi->is_closing ? NULL : cohort__ofi_peer_living(ofi, number);
}

enum cohort__net_sent cohort__ofi_peer_missing(const struct cohort__ofi *ofi, uint32_t number)
{
    const struct cohort__ofi_peer *peer = ofi->is_closing ? NULL : find(ofi, number);
    return peer && !cohort__list_is_empty(&peer->lost) ? COHORT__NET_AGAIN : COHORT__NET_DEAD;
}

static void block(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer)
{
    cohort__list_remove(&peer->blocked);
    cohort__list_push_back(&ofi->blocked, &peer->blocked);
    cohort__ofi_wake(ofi);
}

enum cohort__net_sent cohort__ofi_peer_wait(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer)
{
    ofi->lacks_send = true;
    if (cohort__list_is_empty(&ofi->sending)) /* out of memory: no completion will come */
        ofi->was_refused = true;
    block(ofi, peer);
    return COHORT__NET_AGAIN;
}

enum cohort__net_sent cohort__ofi_peer_refused(struct cohort__ofi *ofi,
                                               struct cohort__ofi_peer *peer, int error)
{
    if (error != -FI_EAGAIN) {
        cohort__ofi_peer_lose(ofi, peer, ofi->library->strerror(-error));
        return COHORT__NET_AGAIN;
    }
    if (peer->refused_since == 0) {
        ofi->retry_delay = retry_first;
        peer->refused_since = cohort__clock_now();
        peer->probe_after = peer->refused_since + probe_first;
    }
    ofi->was_refused = true;
    block(ofi, peer);
    return COHORT__NET_AGAIN;
}

void cohort__ofi_peer_accepted(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer)
{
    if (peer->refused_since == 0)
        return;
    peer->refused_since = 0;
    ofi->retry_delay = retry_first;
}

/* Whether the memory that ofi_rxm allocates for a connection is available. If it is not, the
 * provider tries again and again, and never reports it. */
static bool has_memory(void)
{
    enum { CONNECTION_BYTES = 16 << 20 };
    void *memory = mmap(NULL, CONNECTION_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    munmap(memory, CONNECTION_BYTES);
    return true;
}

/* The peer's process listens. A slow answer is no error: the peer may be computing. */
static void await(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer, uint64_t now)
{
    peer->probe_after = now + probe_next;
    if (peer->ask_after == 0 && now - peer->refused_since >= probe_next && !has_memory())
        cohort__ofi_peer_lose(ofi, peer, NULL);
}

/* Probes a peer that has been refused for long. ofi_rxm connects again and again to a port where
 * nothing listens any more, and never reports it. */
static void probe_refused(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer, uint64_t now)
{
    if (peer->refused_since == 0 || now < peer->probe_after)
        return;
    switch (probe(ofi->info, peer->raw, peer->raw_bytes, &peer->probe_fd)) {
    case PROBE_PENDING:
        break;
    case PROBE_ALIVE:
        await(ofi, peer, now);
        break;
    case PROBE_DEAD:
        cohort__ofi_peer_lose(ofi, peer, "nobody listens at its address");
        break;
    }
}

static bool say_lost(struct cohort__ofi *ofi)
{
    bool any = false;
    struct cohort__list *node;
    while ((node = cohort__list_pop_front(&ofi->lost))) {
        struct cohort__ofi_peer *peer = COHORT_CONTAINER_OF(node, struct cohort__ofi_peer, lost);
        uint32_t number = peer->number;
        const char *why = peer->why;
        pthread_mutex_unlock(&ofi->lock);
        ofi->net.handlers.unreachable(ofi->net.handlers.context, number, why);
        pthread_mutex_lock(&ofi->lock);
        any = true;
    }
    return any;
}

/* Whether blocked senders may try again. What the provider has refused is tried again after each
 * completion, and from time to time, since the provider doesn't report when it has made a
 * connection. */
static bool may_retry(const struct cohort__ofi *ofi, bool had_completions)
{
    if (cohort__list_is_empty(&ofi->blocked))
        return false;
    if (ofi->lacks_send && !cohort__list_is_empty(&ofi->sends))
        return true;
    return ofi->was_refused && (had_completions || cohort__clock_now() >= ofi->retry_at);
}

bool cohort__ofi_peers_ready(const struct cohort__ofi *ofi, uint64_t *ret_when)
{
    if (!cohort__list_is_empty(&ofi->lost) || may_retry(ofi, false))
        return true;
    *ret_when =
        ofi->was_refused && !cohort__list_is_empty(&ofi->blocked) ? ofi->retry_at : UINT64_MAX;
    return false;
}

static bool say_writable(struct cohort__ofi *ofi)
{
    struct cohort__list waiting;
    struct cohort__list *node;
    uint64_t now = cohort__clock_now();
    cohort__list_init(&waiting);
    cohort__list_splice_back(&waiting, &ofi->blocked);
    if (ofi->was_refused) {
        ofi->retry_at = now + ofi->retry_delay;
        ofi->retry_delay *= ofi->retry_delay < retry_last ? 2 : 1;
    }
    ofi->lacks_send = false;
    ofi->was_refused = false;
    while ((node = cohort__list_pop_front(&waiting))) {
        struct cohort__ofi_peer *peer = COHORT_CONTAINER_OF(node, struct cohort__ofi_peer, blocked);
        uint32_t number = peer->number;
        probe_refused(ofi, peer, now);
        if (peer->is_dead)
            continue; /* `unreachable` is called for it, with the reason, and not `writable` */
        if (cohort__ofi_batch_send(ofi, peer))
            continue; /* it waits again */
        pthread_mutex_unlock(&ofi->lock);
        ofi->net.handlers.writable(ofi->net.handlers.context, number);
        pthread_mutex_lock(&ofi->lock);
    }
    return true;
}

bool cohort__ofi_peers_progress(struct cohort__ofi *ofi, bool had_completions)
{
    bool any = may_retry(ofi, had_completions) && say_writable(ofi);
    return say_lost(ofi) || any;
}

void cohort__ofi_peers_fini(struct cohort__ofi *ofi)
{
    struct cohort__list *node;
    while ((node = cohort__list_pop_front(&ofi->all_peers))) {
        struct cohort__ofi_peer *peer = COHORT_CONTAINER_OF(node, struct cohort__ofi_peer, link);
        probe_end(&peer->probe_fd);
        free(peer);
    }
    cohort__map_fini(&ofi->peers);
}
