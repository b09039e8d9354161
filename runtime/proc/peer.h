/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_PEER_H
#define COHORT_RUNTIME_PROC_PEER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/proc/link.h"
#include "runtime/proc/probe.h"
#include "runtime/proc/process.h"
#include "runtime/proc/registry.h"

struct cohort__fetch;

/* Private to proc: what a locality knows of another one it talks with. Made when first needed. */
struct cohort__peer {
    uint32_t rank;
    /* All of them only grow, and wrap around. The last two are the router's, who alone counts. */
    _Atomic size_t consumed; /* eager bytes that it sent, and that may be sent once more: */
    _Atomic size_t consumed_in_router; /* these before the router's handler had returned */
    _Atomic uint32_t drained;          /* messages of it */
    struct cohort__link link;          /* which of its messages have come. Likewise, as: */
    struct cohort__list letters;       /* of its registry's; of each a part is missing */

    pthread_mutex_t lock; /* of all below; what is atomic is changed under it, and read anywhere */
    bool dead;
    bool lost;                    /* the transport says so; the launcher's word is waited for, */
    uint64_t lost_at;             /* since then */
    struct cohort__death death;   /* dead or lost */
    size_t budget;                /* eager bytes that may be sent to it now */
    uint32_t undrained;           /* messages sent to it that it has not said to have drained */
    _Atomic size_t consumed_told; /* as far as it has been told */
    _Atomic uint32_t drained_told;
    bool is_asked;                /* it wants to hear what of its messages is drained */
    uint32_t next_number;         /* of messages to it */
    struct cohort__probe probe;   /* of the link to it */
    _Atomic uint64_t sent;        /* messages to it, but for CREDITs */
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
    _Atomic uint64_t received; /* counted by the router only */
    _Atomic uint64_t dropped;
    bool has_gaps;                /* messages of some peer have overtaken others; the router's */
    uint64_t probe_at;            /* when links are to be looked at again; the tick's */
    _Atomic uint64_t under_way;   /* sends that were kept, and fetches */
    _Atomic uint32_t num_noticed; /* deaths that no launcher has numbered */
    _Atomic bool any_dead;
    _Atomic bool any_lost;
    _Atomic bool stopped;
    struct cohort__peer *_Atomic peers[]; /* by rank */
};

struct cohort__peer *cohort__peer_make(struct cohort__process *process, uint32_t rank);

/* The peer of that rank, made if need be; NULL where memory ran out. */
static inline struct cohort__peer *cohort__peer_get(struct cohort__process *process, uint32_t rank)
{
    struct cohort__peer *peer = atomic_load_explicit(&process->peers[rank], memory_order_acquire);
    return peer ? peer : cohort__peer_make(process, rank);
}

void cohort__peer_destroy(struct cohort__peer *peer);

/* What happened to a peer, for send.c and fetch.c. What is under way to or from it ends with
 * STATUS, as it is dead (COHORT_ERR_PEER_DIED) or the job is over (COHORT_ERR_CANCELLED); but for
 * fetches that the transport has: it reports them. */
void cohort__send_writable(struct cohort__process *process, struct cohort__peer *peer);
void cohort__send_end_all(struct cohort__process *process, struct cohort__peer *peer,
                          cohort_status status);
void cohort__send_fetched(struct cohort__process *process, struct cohort__peer *peer,
                          uint64_t handle, bool declined);
/* BYTES that PEER has sent eagerly are consumed; WAS_KEPT: they left the router first. */
void cohort__send_give_back(struct cohort__process *process, struct cohort__peer *peer,
                            size_t bytes, bool was_kept);
/* PEER has given CREDIT bytes back, and has drained DRAINED more messages. */
void cohort__send_credited(struct cohort__process *process, struct cohort__peer *peer,
                           size_t credit, uint32_t drained);
/* What PEER is owed goes to it, if it is so much that it can't wait for a message to go with. */
void cohort__send_credit(struct cohort__process *process, struct cohort__peer *peer);
/* PEER asks what of its messages is drained. */
void cohort__send_asked(struct cohort__process *process, struct cohort__peer *peer);
/* Asks PEER that. Under its lock. */
enum cohort__net_sent cohort__send_ask(struct cohort__process *process, struct cohort__peer *peer);
void cohort__fetch_writable(struct cohort__process *process, struct cohort__peer *peer);
void cohort__fetch_end_waiting(struct cohort__process *process, struct cohort__peer *peer,
                               cohort_status status);
void cohort__fetch_piece_done(struct cohort__fetch *fetch, cohort_status status);

#endif
