/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_CROSS_PLAY_H
#define COHORT_TESTS_CROSS_PLAY_H

#include <stdatomic.h>

#include "tests/coll/random_site.h"
#include "tests/cross/program.h"

struct step_facts {
    _Atomic uint32_t begun;        /* have called, or are just about to */
    _Atomic uint32_t skipped;      /* will not call */
    _Atomic uint32_t is_cancelled; /* by cohort_comm_cancel, or by a scope */
    _Atomic uint32_t has_deadline; /* of some site that has called */
    _Atomic uint32_t ok;           /* the call has succeeded there */
    _Atomic uint32_t refused;      /* it was taken back there, or its time was over */
    _Atomic uint32_t over;         /* it has ended there, in whatever way */
    _Atomic uint32_t is_set;       /* VERB_MESSAGE: the set has succeeded */
    _Atomic uint32_t num_running;  /* VERB_ERRANDS: functions */
    _Atomic uint32_t visited;      /* VERB_SITES: the sites that it has made, where it has begun */
    _Atomic uint32_t is_gone;      /* the get has not, since the setter has left */
    /* VERB_AGREE, VERB_SHRINK, VERB_ASK: what the first one has got, as a number that is not 0. */
    _Atomic uint64_t result;
    _Atomic uint32_t
        input_at[MAX_ACTORS]; /* VERB_CALL: in the block of the site's locality, or 0 */
};

/* The block of a locality. */
struct memory_facts {
    cohort_memory_handle handle;
    _Atomic uint32_t state;
    _Atomic uint64_t begun, done; /* sums of what has been added, or was about to be */
};

struct group_facts {
    _Atomic uint32_t left;       /* have given their endpoints back, or are just about to */
    _Atomic uint32_t is_revoked; /* by now, or just about to be */
    _Atomic uint32_t knows;      /* sites whose own revoke has completed */
};

/* What has happened so far, as far as it decides what may become of calls. A mask has a bit for
 * each site. Each fact becomes true once, and then stays so. Where localities are processes, they
 * share them. */
struct facts {
    _Atomic uint32_t num_ready; /* actors that have their first communicators */
    _Atomic uint32_t done; /* actors at their end, with nothing in flight but what is hopeless */
    _Atomic uint32_t deaths[MAX_LOCALITIES]; /* in their order, the locality + 1 */
    struct step_facts steps[MAX_STEPS];
    struct group_facts groups[MAX_GROUPS];
    struct memory_facts memory[MAX_LOCALITIES];
};

struct world {
    const struct program *program;
    struct facts *facts;
    unsigned char *inputs[MAX_STEPS][MAX_ACTORS]; /* VERB_CALL */
};

/* What is known of SITE, too. It orders nothing: what a thread knows of another one's it knows by
 * what it has been told by the library, so that the thread sanitizer sees what that leaves open. */
static inline void learn(_Atomic uint32_t *fact, uint32_t site)
{
    atomic_fetch_or_explicit(fact, 1u << site, memory_order_relaxed);
}

enum flight_kind {
    FLIGHT_CALL,
    FLIGHT_SET,
    FLIGHT_GET,
    FLIGHT_PROBE,
    FLIGHT_MAKE,
    FLIGHT_IDLE,
    FLIGHT_AGREE,
    FLIGHT_CREATE,
    FLIGHT_REMOTE,
    FLIGHT_SITES
};

/* A future of an actor, and what belongs to it. */
struct flight {
    enum flight_kind kind;
    struct world *world;
    const struct step *step;
    uint32_t number; /* of the step */
    uint32_t site;
    cohort_future *future;
    bool is_over;
    bool is_hopeless; /* somebody does not call: nobody waits for it before the end */
    bool knew;        /* the site had revoked the communicator before it called */
    bool was_dropped;
    bool is_again;       /* FLIGHT_CREATE: the one before has failed */
    bool was_taken_back; /* before the site has called */
    uint32_t begun;      /* what the hook at its begin has said; 0: there was none */
    cohort_status status;
    struct random_site call;
    unsigned char *data;       /* of a message */
    struct random_lying lying; /* or where its elements lie */
    cohort_object object;
    cohort_object everywhere[MAX_LOCALITIES]; /* what localities have returned */
    size_t bytes;
    uint32_t from;
    cohort_agreed agreed;
    cohort_comm *made;
    /* How many dead sites are known there at its end, and were acknowledged before it began. */
    uint32_t num_failed, num_acknowledged;
    /* FLIGHT_IDLE: how many flights the actor had before. */
    uint32_t num_before;
};

static inline bool is_in_flight(const struct flight *flight)
{
    return !flight->is_over && !flight->was_dropped;
}

/* Whether it is of an endpoint that the actor has. */
static inline bool has_comm(const struct flight *flight)
{
    return flight->kind != FLIGHT_REMOTE && flight->kind != FLIGHT_CREATE &&
           flight->kind != FLIGHT_SITES;
}

/* Before the runtime starts. */
void play_register(void);
void errands_register(void);

/* errands.c. In a task of LOCALITY: tasks in other localities, in a scope. */
void errands_play(struct world *world, uint32_t number, uint32_t locality);

/* memory.c. Before the others. */
void memory_init(const struct world *world);
/* Makes the block of LOCALITY, if the program has use for one, and gives it back. */
void memory_begin(uint32_t locality);
void memory_end(uint32_t locality);
/* In a task. */
void memory_play(const struct step *step, uint32_t actor);
/* For inputs of calls, in LOCALITY's block if there is room. */
void *memory_alloc(uint32_t locality, size_t bytes);
void memory_free(uint32_t locality, void *memory);
/* FLIGHT's input is there. Others may read it when they know of the call by the library. */
void memory_tell_input(const struct flight *flight);
/* FLIGHT, a call, has succeeded, for which inputs of SITES (a bit each) were needed. */
void memory_check_inputs(struct world *world, const struct flight *flight, uint32_t sites);
/* When all actors are done. */
void memory_check_all(uint32_t locality);

/* Plays PROGRAM, in a task. Ends the process with status 1 if anything is wrong, and with
 * PLAY_KILLED where cohortrun would have ended the job. */
enum { PLAY_KILLED = 3 };
void play(const struct program *program);
_Noreturn void play_end_as_killed(void);

/* sites.c. FLIGHT's call of cohort_sites. What is wrong with an end of it, or NULL; and whether all
 * sites of a call, or none, have begun. */
cohort_future *sites_start(struct flight *flight);
const char *sites_check(const struct flight *flight, cohort_status status, const char *message);
void sites_check_all(const struct world *world);

/* The sites that STEP makes in LOCALITY, a bit each. */
uint32_t sites_made(const struct program *program, const struct step *step, uint32_t locality);

/* hooks.c. Sets hooks, which see each call from then on. */
void hooks_set(void);
/* Before a call, and after it, by the same thread: what the hook at its begin has returned, or 0.
 */
void hooks_forget(void);
uint32_t hooks_begun(void);
/* What is wrong with the end of such a call, or NULL. */
const char *hooks_check(uint32_t begun, cohort_status status);
/* All that has begun is over. */
void hooks_check_all(void);

/* tasks.c. In a task: what FORM says. */
void tasks_play(uint32_t form);

/* combine.c. In a task: waits for NUM (1 or more) FUTURES together, of which the caller keeps its
 * references, or for some, and checks what comes of that. None of them has a value. */
enum combine {
    COMBINE_NONE,
    COMBINE_ALL,
    COMBINE_ANY,
    COMBINE_SOME,
    COMBINE_EACH,
    COMBINE_THEN,
    COMBINE_DATAFLOW,
    NUM_COMBINES
};
void combine_await(cohort_future *const *futures, size_t num, enum combine how, uint32_t drawn);

/* ask.c. In a task at SITE, which has COMM and FLIGHTS: asks what can be asked at any time. Ends
 * the process if an answer is wrong. COHORT_ERR_NO_MEMORY: there is none. */
cohort_status ask_all(struct world *world, uint32_t number, uint32_t site, cohort_comm *comm,
                      const struct flight *flights, uint32_t num_flights);

/* Something that somebody does or sees. All of it, with the time, makes the trace. */
void trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the trace while it is made. */
void trace_show(void);
uint64_t trace_sum(void);

/* oracle.c. FLIGHT has ended with STATUS. Ends the process if that may not be. */
void oracle_check(struct world *world, const struct flight *flight, cohort_status status,
                  const char *message);

/* The same for a row of a call that FLIGHT stands for. */
void oracle_check_row(struct world *world, const struct flight *flight, uint32_t row,
                      cohort_status status);

/* Whether ACTOR was in a locality that has died: nobody asks what becomes of it. */
bool oracle_is_dead(const struct world *world, uint32_t actor);

/* The sites of which the call at FLIGHT's site needs something, a bit each. */
uint32_t oracle_needed(const struct world *world, const struct flight *flight);

/* Whether NUMBER, which is not 0, is what all sites have got in STEP. */
bool oracle_is_the_same(struct step_facts *step, uint64_t number);

unsigned char oracle_byte(uint32_t step, size_t at);

#endif
