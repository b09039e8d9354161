/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_PEER_H
#define COHORT_RUNTIME_PROC_PEER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/proc/process.h"
#include "runtime/proc/registry.h"

struct cohort__fetch;

/* Private to proc: what a locality knows of another one it talks with. Made when first needed. */
struct cohort__peer {
    uint32_t rank;
    pthread_mutex_t lock; /* of all below */
    bool dead;
    char why[160];                /* it is dead */
    size_t budget;                /* eager bytes that may be sent to it now */
    uint32_t undrained;           /* messages sent to it that it has not said to have drained */
    _Atomic size_t owed;          /* its eager bytes that were consumed and not yet given back */
    _Atomic uint32_t drained;     /* its messages that were drained, and it was not told yet */
    struct cohort__list pending;  /* sends that have to wait, oldest first */
    struct cohort__map announced; /* sends whose payload waits to be fetched, by handle */
    struct cohort__list fetches;  /* fetches that the transport refused */
};

struct cohort__process {
    struct cohort__process_options options;
    const struct cohort__process_handlers *_Atomic handlers; /* never NULL */
    struct cohort__process_handlers own_handlers;
    struct cohort__net *net; /* NULL in a job of one */
    struct cohort__registry *registry;
    size_t eager_max; /* largest payload that goes unasked */
    uint32_t window;  /* messages to one peer that it has not drained, at most */
    _Atomic uint64_t next_handle;
    _Atomic uint64_t sent;
    _Atomic uint64_t received;
    _Atomic uint64_t dropped;
    _Atomic uint64_t under_way; /* sends and fetches that are not done */
    _Atomic bool any_dead;
    _Atomic bool stopped;
    struct cohort__peer *_Atomic peers[]; /* by rank */
};

/* The peer of that rank, made if need be; NULL where memory ran out. */
struct cohort__peer *cohort__peer_get(struct cohort__process *process, uint32_t rank);

void cohort__peer_destroy(struct cohort__peer *peer);

/* What happened to a peer, for send.c and fetch.c. What is under way to or from it ends with
 * STATUS, as it is dead (COHORT_ERR_PEER_DIED) or the job is over (COHORT_ERR_CANCELLED); but for
 * fetches that the transport has: it reports them. */
void cohort__send_writable(struct cohort__process *process, struct cohort__peer *peer);
void cohort__send_end_all(struct cohort__process *process, struct cohort__peer *peer,
                          cohort_status status);
void cohort__send_fetched(struct cohort__process *process, struct cohort__peer *peer,
                          uint64_t handle, bool declined);
void cohort__send_give_back(struct cohort__process *process, struct cohort__peer *peer,
                            size_t bytes);
/* PEER has given CREDIT bytes back, and has drained DRAINED more messages. */
void cohort__send_credited(struct cohort__process *process, struct cohort__peer *peer,
                           size_t credit, uint32_t drained);
/* What PEER is owed goes to it, if it is so much that it can't wait for a message to go with. */
void cohort__send_credit(struct cohort__process *process, struct cohort__peer *peer);
void cohort__fetch_writable(struct cohort__process *process, struct cohort__peer *peer);
void cohort__fetch_end_waiting(struct cohort__process *process, struct cohort__peer *peer,
                               cohort_status status);
void cohort__fetch_piece_done(struct cohort__fetch *fetch, cohort_status status);

#endif
