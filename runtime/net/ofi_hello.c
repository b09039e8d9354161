/* SPDX-License-Identifier: Apache-2.0 */
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
#include <endian.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "runtime/base/clock.h"
#include "runtime/net/ofi_end.h"

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
