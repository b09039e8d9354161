/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_ENDPOINT_H
#define COHORT_COLLECTIVES_COMM_ENDPOINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/comm.h"
#include "cohort/layout.h"
#include "collectives/comm/actor.h"
#include "collectives/comm/channels.h"
#include "collectives/comm/fingerprint.h"
#include "collectives/comm/gate.h"
#include "collectives/comm/group.h"
#include "collectives/comm/hooks.h"
#include "collectives/comm/settings.h"
#include "runtime/base/error.h"
#include "runtime/base/map.h"
#include "runtime/base/misuse.h"
#include "runtime/base/tree.h"
#include "runtime/task/scheduler.h"

/* What one site has of its communicator. It is an actor: calls, messages and completions are its
 * items, and what is said to happen in the endpoint's turn needs no lock. This is the state; who
 * changes it is above: endpoint_life.c the whole, operation.c the calls in flight and those that
 * wait, early.c the parked messages, channel*.c the channels, idle.c who waits for all that. */

enum {
    /* Generations in the window, from the oldest one in flight on. It balances how far a site may
     * run ahead of a late one against the memory of an endpoint, which has a place for each, and
     * against the early messages that its peers keep. Not measured. */
    COHORT__WINDOW = 64,
    /* Failed generations whose error is remembered: as many as peers may be waiting for. */
    COHORT__FAILURES = COHORT__WINDOW,
    COHORT__FORCED_MAX = 32, /* the number of collectives, at most */
};

struct cohort__failure {
    uint64_t generation;
    uint64_t fingerprint;
    bool is_refused; /* see struct cohort__operation */
    struct cohort__error error;
};

/* What was called in a generation that has ended. */
struct cohort__ended {
    uint64_t generation;
    struct cohort__signature signature;
};

/* What an endpoint knows of one generation, and of those that share its place in the window. Fields
 * that are used together lie together. */
struct cohort__window_place {
    struct cohort__operation *in_flight; /* or NULL */
    uint32_t num_parked;                 /* early messages, and marks, see early.h */
    struct cohort__ended ended;          /* the latest generation that has ended here */
} __attribute__((aligned(64)));

/* The early messages, see early.h. */
struct cohort__early {
    struct cohort__map places;       /* all of them, by what they are for */
    struct cohort__tree generations; /* and by those */
    uint32_t num_failures;           /* those of whole calls */
};

/* An event that need not be told twice. Posting it needs no memory. */
struct cohort__event {
    struct cohort__item item;
    atomic_bool is_posted;
};

/* What is special about the next call: it has options of its own, a deadline; its task is in a
 * scope. */
enum { COHORT__NEXT_OPTIONS = 1, COHORT__NEXT_DEADLINE = 2, COHORT__NEXT_SCOPE = 4 };

/* What cohort_comm_next_call has set, or what all calls of the communicator have. All zero:
 * nothing.
 */
struct cohort__next_call {
    uint8_t has; /* COHORT__NEXT_* */
    bool check_asymmetric;
    bool reproducible;
    bool has_root;
    uint32_t root_site;
    uint64_t deadline; /* ns */
    cohort_future **ret_rows;
    const cohort_layout *in_layout; /* the caller's */
    const cohort_layout *out_layout;
    char algorithm[64]; /* "": none */
};

struct cohort__deadlines;
struct cohort__plan_cache;
struct cohort__scoped_run;
struct cohort__operation;

/* An algorithm that the user forces. The folder comm does not know the table of algorithms. */
struct cohort__forced {
    uint8_t row;   /* its number in the table + 1; 0: none */
    uint8_t inner; /* of a composed one: that of the row among its leaders, + 1; 0: any */
};

struct cohort_comm {
    /* What every call touches is in the first two cache lines, and in the window. With thousands of
     * sites in a locality the lines of an endpoint have left the caches by its next call. */
    struct cohort__actor actor; /* first */
    struct cohort__group *group;
    struct cohort__plan_cache *_Atomic plans; /* exec's; the caller's side */
    struct cohort__gate gate;                 /* the caller's side */
    uint32_t this_site;
    uint32_t root_site;
    bool auto_generation;
    _Atomic uint64_t num_turns;    /* calls of cohort/survivors.h so far */
    _Atomic uint32_t acknowledged; /* the order of the last death that is; 0: none */
    bool reproducible;
    bool check_asymmetric; /* set by the settings or by the options */
    bool has_left;         /* the actor's side */
    bool knows_leaver;     /* another site has left while a call needed it; the actor's side */
    _Atomic uint32_t num_in_flight;     /* written in the endpoint's turn, read by the tick */
    uint64_t oldest;                    /* generation in flight, or 0; the actor's side */
    struct cohort__history history;     /* the actor's side */
    struct cohort__list waiting;        /* calls that can't start yet, in order; the actor's side */
    struct cohort__list idle_waiters;   /* see idle.c; the actor's side */
    struct cohort__site_line *line;     /* of the ledger; NULL once it has left */
    struct cohort__next_call next_call; /* the caller's side; mostly only its beginning is read */

    /* Fixed. */
    struct cohort__list link;       /* in the inbox's list of endpoints */
    struct cohort__map_node latest; /* in the inbox's map of the latest ones by name and site */
    bool is_latest;                 /* whether it is in that map; under the inbox's lock */
    uint32_t arity;
    bool is_flat;
    bool is_tree_forced;
    uint32_t flat_fallback_threshold; /* for those made out of it; 0: the tree is forced */
    uint64_t stall_after;
    uint64_t deadline;                                /* of each call, ns; 0: none */
    uint64_t memory_budget;                           /* limit for a plan at one site; 0: none */
    struct cohort__forced forced[COHORT__FORCED_MAX]; /* for each collective */
    struct cohort__comm_settings settings;            /* site 0's */

    /* The caller's side. The caller does not make two calls at the same time. */
    /* The caller's, and one for each split whose part here is not over. 0: it has been given back.
     */
    _Atomic uint32_t refs;
    void (*plans_destroy)(struct cohort__plan_cache *plans);
    struct cohort__deadlines *_Atomic deadlines; /* NULL: none of its calls has had one */
    struct cohort__scoped_run *latest_scoped;    /* NULL: no call of a task in a scope yet */
    uint32_t num_scoped;                         /* runs since the last prune */
    struct cohort__hook_bytes hook_bytes; /* of the call that is being made, if there are hooks */

    /* The actor's side. */
    uint32_t num_failures;
    uint64_t gone_from; /* once it has left: the first generation in which it takes no part */
    /* Futures that are still to complete, besides those of calls in flight, sets and gets: see
     * cohort__endpoint_begin, and verdict.h. */
    _Atomic uint32_t num_open;
    atomic_bool finished; /* it has left, and nothing of it is under way */
    struct cohort__event tick, leave, scoped_prune, more, untold;
    uint64_t untold_generation;     /* of that event; written by who posts it */
    _Atomic uint64_t untold_latest; /* written by the caller */
    struct cohort__list later;      /* in that of the commons; with a reference to the group then */
    struct cohort__list scoped;     /* runs of calls in scopes, see scoped_calls.c */
    _Atomic uint32_t num_scoped_left;     /* as the last prune left them */
    atomic_bool asks_again;               /* see scoped_calls.c */
    struct cohort__pending_line *pending; /* of the ledger; NULL: none yet */
    uint64_t described_at;                /* when its text was last written */
    struct cohort__item resume;           /* starts calls that waited for the window */
    bool resume_posted;
    bool resumes_later;            /* with the event `more` */
    atomic_bool hears_of_death;    /* with that event; set by who adds it to the list */
    struct cohort__map waiting_of; /* those calls, by generation */
    struct cohort__early early;
    struct cohort__channels channels;

    char name[64]; /* of the communicator, also when the group is gone */

    /* The large fields are last, so that the others share cache lines. */
    struct cohort__window_place window[COHORT__WINDOW]; /* by generation modulo the window */
    struct cohort__failure failures[COHORT__FAILURES];
};

/* The endpoint that ACTOR is. NULL: NULL. */
static inline struct cohort_comm *cohort__endpoint_of(struct cohort__actor *actor)
{
    return (struct cohort_comm *)actor;
}

/* That of SITE, one of GROUP. NULL: elsewhere, or not made yet. Any thread that is sure that the
 * group exists. */
static inline struct cohort_comm *cohort__endpoint_at(const struct cohort__group *group,
                                                      uint32_t site)
{
    return cohort__endpoint_of(atomic_load(&group->endpoints[site]));
}

/* A next call without options of its own. */
static inline struct cohort__next_call cohort__endpoint_no_options(const struct cohort_comm *comm)
{
    return (struct cohort__next_call){
        .has = comm->deadline > 0 ? COHORT__NEXT_DEADLINE : 0,
        .deadline = comm->deadline,
    };
}

/* Any thread: has this endpoint run ITEM, maybe before this returns. If the endpoint has left, or
 * leaves now, it may be gone after that, unless the caller has a reference to its group. */
static inline void cohort__endpoint_post(struct cohort_comm *comm, struct cohort__item *item)
{
    cohort__actor_post(&comm->actor, item);
}

/* What an endpoint leaves for a later turn of the event loop, which has other things to do. */

/* Of one endpoint so many calls or gets fail, or sets or messages are given back, in one turn: each
 * takes microseconds. Of all together it is not many more. */
enum { COHORT__ENDS_OF_A_TURN = 1000 };

/* In the endpoint's turn: NUM of them have failed, or have been given back. */
static inline void cohort__later_count(struct cohort_comm *comm, uint32_t num)
{
    atomic_fetch_add_explicit(&comm->group->commons->num_failed, num, memory_order_relaxed);
}

/* Any thread that is sure that the group exists: the event `more` of COMM is to be posted in a
 * later turn, which the caller asks for. */
void cohort__later_add(struct cohort_comm *comm);

/* In the endpoint's turn: the same, and it asks. */
void cohort__later_more(struct cohort_comm *comm);

/* By the event loop: lets some of those endpoints go on. Returns whether there are others. */
bool cohort__later_go_on(struct cohort__commons *commons);

/* Endpoints that a program uses after it has given them back. */

/* Ends the program by SIGABRT, after one line on standard error: that public FUNCTION was called
 * for COMM, by CALLER (a return address; NULL: whoever has called the library). */
_Noreturn void cohort__endpoint_misuse(const struct cohort_comm *comm, const char *function,
                                       const void *caller) __attribute__((cold, noinline));

/* For a public FUNCTION, of which these become a part. The first ends the program if COMM, which
 * may be NULL, was given back; the second only if it is gone: that is for functions that the
 * library calls itself for what is still under way there. */
__attribute__((always_inline)) static inline void
cohort__endpoint_check(const struct cohort_comm *comm, const char *function)
{
    if (comm && cohort__is_gone(&comm->refs))
        cohort__endpoint_misuse(comm, function, __builtin_return_address(0));
}

__attribute__((always_inline)) static inline void
cohort__endpoint_check_there(const struct cohort_comm *comm, const char *function)
{
    if (__builtin_expect(!comm->group, 0))
        cohort__endpoint_misuse(comm, function, __builtin_return_address(0));
}

/* cohort__endpoint_check in a function that does more with COMM than to look at it: until it
 * returns the runtime doesn't end, though its caller may be a thread outside of tasks that has just
 * ended what the last task has waited for. Later than that is as wrong as after an unref. */
#define COHORT__ENDPOINT_ENTER(comm, function)                                                     \
    __attribute__((cleanup(cohort__endpoint_exit))) const bool is_up = cohort__scheduler_hold();   \
    if (comm && (!is_up || cohort__is_gone(&comm->refs)))                                          \
    cohort__endpoint_refuse(comm, function, __builtin_return_address(0))

/* Ends the program, but not in a child, where the function itself says what is wrong. */
void cohort__endpoint_refuse(const struct cohort_comm *comm, const char *function,
                             const void *caller) __attribute__((cold, noinline));

static inline void cohort__endpoint_exit(const bool *is_up)
{
    (void)is_up;
    cohort__scheduler_release();
}

/* Takes the memory of COMM, which is gone. That of the latest ones is kept, since what says that
 * they are gone is in it. */
void cohort__endpoint_bury(struct cohort_comm *comm);

#endif
