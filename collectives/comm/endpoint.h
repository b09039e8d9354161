/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_ENDPOINT_H
#define COHORT_COLLECTIVES_COMM_ENDPOINT_H

#include <stdatomic.h>

#include "cohort/comm.h"
#include "collectives/comm/channel.h"
#include "collectives/comm/gate.h"
#include "collectives/comm/group.h"
#include "collectives/comm/message.h"
#include "collectives/comm/operation.h"
#include "collectives/comm/settings.h"

/* An endpoint is an actor: calls, messages and completions enter its queue, and whoever makes it
 * non-empty runs it. Items run one at a time and never nested, so their state needs no lock. */

enum {
    /* Generations in flight: at most so far beyond the oldest one. It balances how far a site may
     * run ahead of a late one against the memory of an endpoint, which has a slot for each, and
     * against the early messages that its peers keep. Not measured. */
    COHORT__WINDOW = 64,
    /* Failed generations whose error is remembered: as many as a peer may be waiting for. */
    COHORT__FAILURES = COHORT__WINDOW,
    COHORT__FORCED_MAX = 32, /* collectives */
};

struct cohort__failure {
    uint64_t generation;
    struct cohort__error error;
};

/* What was called in a generation that has ended. */
struct cohort__ended {
    uint64_t generation;
    struct cohort__signature signature;
};

/* What an endpoint knows of one generation, and of those that share its place in the window; what
 * is looked at together lies together. */
struct cohort__slot {
    struct cohort__operation *in_flight; /* or NULL */
    struct cohort__list parked;          /* early messages */
    struct cohort__ended ended;          /* the latest */
} __attribute__((aligned(64)));

/* News that need not be told twice, and need no memory to be told. */
struct cohort__event {
    struct cohort__item item;
    atomic_bool is_posted;
};

/* What cohort_comm_next_call has asked for; all zero: nothing. */
struct cohort__next_call {
    bool is_set;
    bool check_asymmetric;
    bool reproducible;
    bool has_root;
    uint32_t root_site;
    cohort_future **ret_rows;
    char algorithm[64]; /* "": none */
};

struct cohort__plan_cache;

struct cohort_comm {
    struct cohort__batch_queue queue;
    struct cohort_comm *next_ready; /* in the list of the thread that runs it */

    /* Fixed. */
    struct cohort__group *group;
    struct cohort__list link;       /* in the inbox's list of endpoints */
    struct cohort__map_node latest; /* in its map of the latest ones of each name and site, */
    bool is_latest;                 /* if it is one; under its lock */
    uint32_t this_site;
    uint32_t root_site;
    uint32_t arity;
    bool is_flat;
    bool is_tree_forced;
    bool auto_generation;
    uint64_t stall_after;
    uint64_t memory_budget; /* of a plan at one site; 0: any */
    bool reproducible;
    uint8_t forced[COHORT__FORCED_MAX];    /* for each collective: the forced row + 1, or 0 */
    struct cohort__comm_settings settings; /* site 0's */
    bool check_asymmetric;                 /* by them or by the options */

    /* The caller's side: calls are ordered by the caller. */
    atomic_bool unreferenced; /* the caller has given it back */
    struct cohort__gate gate;
    struct cohort__next_call next_call;
    struct cohort__plan_cache *plans; /* exec's */
    void (*plans_destroy)(struct cohort__plan_cache *plans);

    /* The actor's side. */
    struct cohort__history history;
    uint64_t oldest;             /* generation in flight; or 0 */
    struct cohort__list waiting; /* calls beyond the window */
    uint32_t num_failures;
    uint32_t num_parked_failures; /* of calls as a whole, in the slots */
    struct cohort__list idle_waiters;
    bool has_left;
    uint64_t gone_from;   /* once it has left: the first generation that it never took part in */
    atomic_bool finished; /* it has left, and nothing of it is under way */
    struct cohort__event tick, death, leave;
    struct cohort__item resume; /* calls that waited for the window */
    bool resume_posted;
    _Atomic uint32_t num_in_flight; /* written by the actor, looked at by the tick */
    struct cohort__channels channels;

    /* The large ones last, so that the others share cache lines. */
    struct cohort__slot slots[COHORT__WINDOW]; /* by generation modulo the window */
    struct cohort__failure failures[COHORT__FAILURES];
};

/* Any thread: ITEM is run by this endpoint, maybe before the call returns. If the endpoint has
 * left, or does so now, it may be gone then, unless the caller has a reference to its group. */
void cohort__endpoint_post(struct cohort_comm *comm, struct cohort__item *item);

/* The same without an item, if nobody runs it: what comes until turn_end, on this stack, is its
 * turn. False: it has to be posted. */
bool cohort__endpoint_turn_begin(struct cohort_comm *comm);
void cohort__endpoint_turn_end(struct cohort_comm *comm);

cohort_status cohort__endpoint_create(struct cohort_comm **ret_comm, struct cohort__group *group,
                                      uint32_t site);

/* When nothing refers to it any more. */
void cohort__endpoint_destroy(struct cohort_comm *comm);

/* The endpoint's turn: a message has come in. Takes it. */
void cohort__endpoint_receive(struct cohort_comm *comm, struct cohort__message *message);

/* The following are comm's own, in the endpoint's turn. */

/* failure.c: whether somebody has told of the failure of GENERATION, which has not started here
 * yet, or is just starting. */
bool cohort__endpoint_is_told(const struct cohort_comm *comm, uint64_t generation);

/* operation.c: the operation in flight; the first call that waits for the window; the error of a
 * failed generation. NULL: there is none. */
struct cohort__operation *cohort__endpoint_find(struct cohort_comm *comm, uint64_t generation);
struct cohort__operation *cohort__endpoint_first_waiting(const struct cohort_comm *comm);
const struct cohort__error *cohort__endpoint_failure(const struct cohort_comm *comm,
                                                     uint64_t generation);
/* Starts what waited for the window. */
void cohort__endpoint_run_resume(struct cohort_comm *comm, struct cohort__item *item);

/* reception.c: hands in the early messages for GENERATION, which has just started; tells the
 * sources of those below GENERATION that are left out; gets rid of all, since this site has left.
 */
void cohort__endpoint_unpark(struct cohort_comm *comm, uint64_t generation);
void cohort__endpoint_sweep_below(struct cohort_comm *comm, uint64_t generation);
void cohort__endpoint_release_parked(struct cohort_comm *comm);

/* idle.c: whether no call is in flight or waits; and what is to be done then. */
bool cohort__endpoint_is_idle(const struct cohort_comm *comm);
void cohort__endpoint_when_idle(struct cohort_comm *comm);

/* Something has ended, so that the endpoint may be idle; mostly nobody wants to know. */
static inline void cohort__endpoint_over(struct cohort_comm *comm)
{
    bool matters = comm->has_left || !cohort__list_is_empty(&comm->idle_waiters);
    if (matters && cohort__endpoint_is_idle(comm))
        cohort__endpoint_when_idle(comm);
}

/* For a message whose sender has to be told ANSWER, in the endpoint's turn. ERROR: why it has
 * FAILED, or what was called instead; NULL with the other answers. */
void cohort__endpoint_answer(struct cohort_comm *comm, uint32_t site, uint64_t generation,
                             enum cohort__answer answer, const struct cohort__error *error);

/* Fails all that is in flight and all that comes: the user is gone, or the job ends. */
void cohort__endpoint_leave(struct cohort_comm *comm);

/* Posts a look at what has been waiting for long. */
void cohort__endpoint_tick(struct cohort_comm *comm);

/* Posts the news that a locality has died. */
void cohort__endpoint_peer_died(struct cohort_comm *comm);

#endif
