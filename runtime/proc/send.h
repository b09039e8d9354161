/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_SEND_H
#define COHORT_RUNTIME_PROC_SEND_H

#include <stdbool.h>

#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/net/net.h"
#include "runtime/wire/envelope.h"

struct cohort__process;

/* One message to another locality. The caller fills in the first part, and keeps the struct and the
 * payload until `done` is called. Small payloads go at once (eager), as long as the peer's budget
 * allows, in several messages if the transport wants that. All others are announced, and stay here
 * until the peer has fetched them or has declined them. */
struct cohort__send {
    struct cohort__envelope envelope; /* kind, instance, generation, sites, fingerprint, tag, and,
                                       * if there is no payload to announce, handle */
    const void *payload;
    size_t bytes;
    /* The struct and the payload belong to the caller again. Called from any thread, also during
     * the call of cohort__send_start. Must not wait. COHORT_ERR_PEER_DIED, COHORT_ERR_NETWORK,
     * .._NO_MEMORY, .._CANCELLED (the job is over). */
    void (*done)(struct cohort__send *send, cohort_status status);
    bool declined;  /* at `done`: the peer has declined what was announced */
    bool is_inline; /* at `done`: it is called during cohort__send_start */

    /* Private to send.c. */
    struct cohort__list pending;
    struct cohort__map_node announced;
    void *region;
    struct cohort__net_token token;
    size_t sent; /* bytes that have gone in fragments */
};

/* Sends to RANK, another locality. Any thread; never waits. */
void cohort__send_start(struct cohort__process *process, uint32_t rank, struct cohort__send *send);

/* Sends ENVELOPE, of kind DATA, with BYTES at PAYLOAD to RANK, if that can be done at once and
 * eagerly. True: it is sent, and nothing more will be reported. False: nothing has been done. The
 * caller then calls cohort__send_start, which sends it or reports the error. Any thread; never
 * waits. */
bool cohort__send_try(struct cohort__process *process, uint32_t rank,
                      struct cohort__envelope *envelope, const void *payload, size_t bytes);

/* After cohort__send_start has returned: the handle of the announcement, or 0 if there was none.
 * The number stays valid: operations that fail give it to the peer. */
uint64_t cohort__send_handle(const struct cohort__send *send);

/* For control messages: sends ENVELOPE with a copy of PAYLOAD, which does not count for the budget
 * and must fit into one message. The result is not reported. If it can't be sent, the peer counts
 * as dead. */
void cohort__send_control(struct cohort__process *process, uint32_t rank,
                          const struct cohort__envelope *envelope, const void *payload,
                          size_t bytes);

/* How much of the budget a DATA takes that has ENVELOPE and BYTES of payload, until it is read. At
 * the peer it takes some 450 bytes more than its payload, and 560 with a tag of its own, so short
 * ones count as 10 bytes: by the default budget, of 256 KiB, no more than 26,214 of them are kept
 * there, in 14 MiB. Those without payload count only in channels (generation 0), as their number is
 * what calls need elsewhere. */
enum { COHORT__EAGER_LEAST = 10 };
static inline size_t cohort__eager_bytes(const struct cohort__envelope *envelope, size_t bytes)
{
    if (bytes == 0 && envelope->generation != 0)
        return 0;
    return bytes < COHORT__EAGER_LEAST ? COHORT__EAGER_LEAST : bytes;
}

/* How many messages that a peer has not drained yet may have been sent to it, in a job of SIZE
 * localities. */
uint32_t cohort__send_window(uint32_t size);

#endif
