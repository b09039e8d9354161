/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_PEER_H
#define COHORT_RUNTIME_PROC_PEER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/base/named_levels.h"
#include "runtime/proc/blocks.h"
#include "runtime/proc/process.h"
#include "runtime/proc/registry.h"

struct cohort__process;

/* A keepalive for a link on which nothing has been sent for a while. When a network has lost a
 * message, the receiver notices it as soon as a later message arrives. The loss of the
 * last message is noticed only if something follows it. So a sender whose messages are not
 * confirmed asks the peer to confirm them, and this question is the later message. The question may
 * be lost as well, so it is repeated, and the pause doubles each time. Model:
 * tests/model/link.pml. */
struct cohort__probe {
    uint32_t number; /* of the next message, at the last check */
    uint32_t num;    /* questions since anything else was sent */
    uint64_t at;     /* when to ask next, as cohort__clock_now, if nothing is sent before */
};

/* Asks on each link where a question is due. Called by the loop's tick. */
void cohort__probe_links(struct cohort__process *process, uint64_t now);

/* Which messages from one peer have come, by their numbers, which count from 0 and wrap around.
 * Messages may overtake each other. Each one comes once. Only the router uses this. */
enum { COHORT__LINK_AHEAD = 1024 }; /* how far one may overtake: more than a window */

struct cohort__link {
    uint32_t next;      /* the first one that has not come */
    uint32_t num_ahead; /* how many of the later ones have come */
    uint64_t looked_at; /* when it was last missed, as cohort__clock_now, if num_ahead > 0 */
    uint64_t missed;    /* for how many nanoseconds, by then */
    uint64_t ahead[COHORT__LINK_AHEAD / 64]; /* a bit for each of those, by its number */
};

/* Records that message NUMBER has come. False: it has come before, or can't have been sent yet. */
bool cohort__link_take(struct cohort__link *link, uint32_t number);

/* To be called several times a second while messages are missing, after those that were there were
 * taken. Whether one counts as lost: later ones have come, and it has been missing for too long. */
bool cohort__link_look(struct cohort__link *link, uint64_t now);

struct cohort__fetch;

/* Private to proc: what a locality knows of another one that it talks with. Made when first
 * needed. */
struct cohort__peer {
    uint32_t rank;
    /* These counters only grow, and wrap around. Only the router changes the last two. */
    _Atomic size_t consumed; /* its eager bytes that were consumed, after the router's handler */
    _Atomic size_t consumed_in_router; /* the same, before that had returned */
    _Atomic uint32_t drained;          /* its messages that have come, with all before them */
    uint32_t num_overtaking;           /* others that have come; the router's */
    struct cohort__link link;          /* which of its messages have come; the router's */
    _Atomic uint64_t received;         /* its messages, except CREDITs; the router's */
    uint32_t num_come;                 /* the same, also what COHORT_FAULT delays; the router's */
    _Atomic uint64_t num_letters;      /* to it */
    struct cohort__list letters;       /* of its registry, that can't be read yet; the router's */
    uint64_t next_letter;              /* the number of the one that is next; the router's */
    bool has_lost_letters;             /* so that none is waited for any more; the router's */
    struct cohort__list assemblies;    /* of its FRAGMENTs, incomplete ones; the router's */
    size_t assembly_bytes;             /* of all of them */

    pthread_mutex_t lock; /* of all below; atomics are changed under it, but read anywhere */
    bool dead;
    bool is_accused;              /* the launcher was told that it can't go on */
    bool is_blamed;               /* and that it is at fault */
    struct cohort__death death;   /* if it is dead */
    size_t budget;                /* eager bytes that may be sent to it now */
    uint32_t undrained;           /* messages sent to it that it has not confirmed as drained */
    _Atomic size_t consumed_told; /* how much it has been told of */
    _Atomic uint32_t drained_told;
    bool is_dropped;              /* by COHORT_FAULT: the transport knows it no more */
    bool is_asked;                /* it has asked which of its messages are drained */
    uint32_t next_number;         /* of messages to it */
    struct cohort__probe probe;   /* of the link to it */
    _Atomic uint64_t sent;        /* messages to it, except CREDITs */
    struct cohort__list pending;  /* sends that have to wait, oldest first */
    struct cohort__map announced; /* sends whose payload waits to be fetched, by handle */
    struct cohort__list fetches;  /* fetches that the transport refused */
};

struct cohort__process {
    struct cohort__process_options options;
    const struct cohort__process_handlers *_Atomic handlers; /* never NULL */
    struct cohort__process_handlers own_handlers;
    const struct cohort__process_handlers *_Atomic remote_handlers; /* never NULL */
    struct cohort__process_handlers own_remote_handlers;
    struct cohort__net *net; /* NULL in a job with one locality */
    struct cohort__registry *registry;
    struct cohort__blocks blocks;      /* of cohort_memory_alloc */
    uint32_t *hosts, *domains, *cores; /* of the localities, see positions.h */
    uint32_t num_named_levels;
    struct {
        char name[COHORT__NAMED_LEVEL_NAME + 1];
        uint32_t *group_of;
    } named_levels[COHORT__NAMED_LEVELS_MAX];
    uint32_t window; /* the most messages to one peer that it has not drained */
    _Atomic uint64_t next_handle;
    _Atomic uint64_t dropped;
    bool has_gaps;                /* messages of a peer have overtaken others; the router's */
    uint64_t probe_at;            /* when to check the links again; the tick's */
    _Atomic uint64_t under_way;   /* sends that are kept, and fetches */
    _Atomic uint32_t num_noticed; /* deaths that no launcher has numbered */
    _Atomic uint32_t num_news;    /* see cohort__process_death_news */
    _Atomic bool any_dead;
    _Atomic bool has_more; /* see cohort__process_more */
    _Atomic bool stopped;
    _Atomic bool watches;                 /* see cohort__process_watch */
    struct cohort__list delayed;          /* see router.c; the router's */
    struct cohort__peer *_Atomic peers[]; /* by rank */
};

/* The largest payload of one message to PEER. */
static inline size_t cohort__peer_max_payload(const struct cohort__process *process,
                                              const struct cohort__peer *peer)
{
    size_t bytes = cohort__net_max_message(process->net, peer->rank);
    return bytes > COHORT__ENVELOPE_BYTES ? bytes - COHORT__ENVELOPE_BYTES : 0;
}

struct cohort__peer *cohort__peer_make(struct cohort__process *process, uint32_t rank);

/* The peer of that rank, which is made if necessary. NULL where memory ran out. */
static inline struct cohort__peer *cohort__peer_get(struct cohort__process *process, uint32_t rank)
{
    struct cohort__peer *peer = atomic_load_explicit(&process->peers[rank], memory_order_acquire);
    return peer ? peer : cohort__peer_make(process, rank);
}

void cohort__peer_destroy(struct cohort__peer *peer);

/* Events of a peer, for send.c and fetch.c. The two functions end_some and end_waiting end what is
 * under way to or from a peer with STATUS: the peer is dead (COHORT_ERR_PEER_DIED) or the job is
 * over (COHORT_ERR_CANCELLED). They don't end fetches that the transport has: the transport reports
 * those. end_some ends at most so many sends, and returns true if it has; each takes a microsecond
 * or two, and the loop's thread has other things to do. */
enum { COHORT__SENDS_OF_A_TURN = 1000 };
void cohort__send_writable(struct cohort__process *process, struct cohort__peer *peer);
bool cohort__send_end_some(struct cohort__process *process, struct cohort__peer *peer,
                           cohort_status status);
void cohort__send_fetched(struct cohort__process *process, struct cohort__peer *peer,
                          uint64_t handle, bool declined);
/* BYTES bytes that PEER has sent eagerly are consumed. WAS_KEPT: the message was kept, so it may be
 * after the router's handler and in any thread. */
void cohort__send_give_back(struct cohort__process *process, struct cohort__peer *peer,
                            size_t bytes, bool was_kept);
/* PEER gives CREDIT bytes back, and has drained DRAINED more messages. */
void cohort__send_credited(struct cohort__process *process, struct cohort__peer *peer,
                           size_t credit, uint32_t drained);
/* Sends PEER the credit that is due, if it is too much to wait for the next message to PEER. */
void cohort__send_credit(struct cohort__process *process, struct cohort__peer *peer);
/* PEER asks which of its messages are drained. */
void cohort__send_asked(struct cohort__process *process, struct cohort__peer *peer);
/* What the transport has said of a message to RANK. If that says that none can come there, RANK is
 * lost. Not under the peer's lock. */
void cohort__send_refused(struct cohort__process *process, uint32_t rank,
                          enum cohort__net_sent sent);
/* Asks PEER which of our messages are drained. Under its lock. */
enum cohort__net_sent cohort__send_ask(struct cohort__process *process, struct cohort__peer *peer);
void cohort__fetch_writable(struct cohort__process *process, struct cohort__peer *peer);
void cohort__fetch_end_waiting(struct cohort__process *process, struct cohort__peer *peer,
                               cohort_status status);
void cohort__fetch_piece_done(struct cohort__fetch *fetch, cohort_status status);

#endif
