/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_UNIT_RUNTIME_NET_STATION_H
#define COHORT_TESTS_UNIT_RUNTIME_NET_STATION_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/net/net.h"
#include "runtime/wire/envelope.h"

/* One end of a transport that counts what its handlers are told. */
enum { STATION_MAX_PEERS = 8 };

struct station {
    struct cohort__net *net;
    bool keep;                        /* messages are kept in `kept` instead of released */
    struct cohort__net_message *kept; /* the last one */
    struct station *peer;             /* an end of this process that has to be driven too */
    _Atomic unsigned long num_messages;
    _Atomic unsigned long num_fetched;
    _Atomic unsigned long num_failed; /* fetches among the ended ones */
    cohort_status fetch_status;       /* of the last fetch that failed */
    _Atomic unsigned num_writable[STATION_MAX_PEERS];
    _Atomic unsigned num_unreachable[STATION_MAX_PEERS];
    char why[128];
    _Atomic unsigned long num_broken;
    unsigned char front[COHORT__ENVELOPE_BYTES]; /* of the last message that was broken */
    void (*on_message)(struct station *station, const struct cohort__net_message *message);
    void (*on_fetched)(struct station *station, cohort_status status);
    void *data;
};

/* The handlers for `station` as their context. */
struct cohort__net_handlers station_handlers(struct station *station);

/* One call of progress, also for the peer in this process. */
bool station_turn(struct station *station);

/* Turns until *COUNTER is at least WANT. Fails the test after 120 s. */
void station_until(struct station *station, const _Atomic unsigned long *counter,
                   unsigned long want);
void station_until_unreachable(struct station *station, uint32_t peer);

/* Sends, and waits for `writable` if necessary. */
enum cohort__net_sent station_send(struct station *station, uint32_t peer, const void *data,
                                   size_t bytes);
enum cohort__net_sent station_fetch(struct station *station, uint32_t peer,
                                    const struct cohort__net_token *token, size_t offset,
                                    void *destination, size_t bytes);

/* Blocks on the poller's fd for at most MILLISECONDS, if it may block. Returns whether the fd
 * became readable, or whether it did not block because something was there already. */
bool station_block(struct station *station, int milliseconds);

uint64_t station_now(void);

#endif
