/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_SEND_H
#define COHORT_RUNTIME_PROC_SEND_H

#include <stdbool.h>

#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/net/net.h"
#include "runtime/wire/envelope.h"

struct cohort__process;

/* One message to another locality. The caller fills in the first part and keeps the struct and the
 * payload until `done`. Small payloads go at once, as far as the peer's budget reaches; all others
 * are announced, and stay here until the peer has fetched them or has said that it won't. */
struct cohort__send {
    struct cohort__envelope envelope; /* kind, instance, generation, sites, fingerprint, tag, and
                                         handle where there is no payload to announce */
    const void *payload;
    size_t bytes;
    /* The struct and the payload are the caller's again. From any thread, also during the call of
     * cohort__send_start; must not wait. COHORT_ERR_PEER_DIED, COHORT_ERR_NETWORK, .._NO_MEMORY. */
    void (*done)(struct cohort__send *send, cohort_status status);
    bool declined;  /* at `done`: the peer had no use for what was announced */
    bool is_inline; /* at `done`: that is during the call of cohort__send_start */

    /* Private to send.c. */
    struct cohort__list pending;
    struct cohort__map_node announced;
    void *region;
    struct cohort__net_token token;
};

/* Sends to RANK, another locality. Any thread; never waits. */
void cohort__send_start(struct cohort__process *process, uint32_t rank, struct cohort__send *send);

/* Sends ENVELOPE, a DATA, with BYTES at PAYLOAD to RANK, if that can be done at once and eagerly:
 * then nothing is left to be told of it. False: nothing has been done, and cohort__send_start does
 * it, or says why not. Any thread; never waits. */
bool cohort__send_try(struct cohort__process *process, uint32_t rank,
                      struct cohort__envelope *envelope, const void *payload, size_t bytes);

/* Once start has returned: the handle of the announcement, 0 where there was none. It stays valid
 * as a number: failing operations name it to the peer. */
uint64_t cohort__send_handle(const struct cohort__send *send);

/* Sends ENVELOPE with a copy of PAYLOAD, which is not charged to the budget and must fit into a
 * message: for control messages. What becomes of it is not told; where it can't be sent, the peer
 * is dead. */
void cohort__send_control(struct cohort__process *process, uint32_t rank,
                          const struct cohort__envelope *envelope, const void *payload,
                          size_t bytes);

/* How many messages may have been sent to one peer that it has not drained, in a job of SIZE
 * localities. */
uint32_t cohort__send_window(uint32_t size);

#endif
