/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_CROSS_PROGRAM_H
#define COHORT_TESTS_CROSS_PROGRAM_H

#include "runtime/proc/positions.h"
#include "tests/coll/random_call.h"
#include "tests/cross/choices.h"

/* A program of several actors (tasks), which are sites of several communicators and go through one
 * list of steps, each in its own time. It is data: what is done is in play.c, and what may come of
 * it in oracle.c. */

enum {
    MAX_GAPS = 3,
    MAX_ACTORS = RANDOM_SITES,
    MAX_LOCALITIES = 4,
    MAX_GROUPS = 14,
    MAX_STEPS = 32,
    NUM_LEVELS = 3, /* of the machine */
    NONE = UINT32_MAX,
};

/* Of a burst: the window of two localities, and some more. */
enum { BURST_MESSAGES = 2100 };

/* A communicator. */
struct group {
    uint32_t num_sites;
    uint32_t actors[MAX_ACTORS]; /* by site */
    uint32_t parent;             /* NONE: made by its name, at the beginning */
    uint32_t root;
    uint32_t latest;     /* the step of the latest collective that moves data + 1, or 0 */
    uint64_t stride;     /* between generations; 0: another one each time */
    uint64_t generation; /* the latest one */
    cohort_comm_options options;
    /* Some of its sites may not get their endpoints, since what makes it may fail at some sites. */
    bool is_fragile;
    /* Somebody may leave it, or revoke it, at some step. */
    bool is_troubled;
    bool is_revoked;
    bool is_shrunk; /* by VERB_SHRINK */
    bool is_named;  /* by VERB_CREATE: of the sites of PARENT, whatever becomes of that */
    uint32_t away;  /* the site that does not call the latest generation, or NONE */
    uint32_t left;  /* sites that have left by the step that is drawn, a bit each */
};

enum verb {
    VERB_CALL, /* a collective that moves data, or a barrier */
    VERB_MESSAGE,
    VERB_BURST, /* more messages at once than a peer takes in */
    VERB_IDLE,
    VERB_SPLIT,
    VERB_SPLIT_LEVEL, /* of the machine: TO */
    VERB_DUP,
    VERB_AGREE,
    VERB_SHRINK,
    VERB_LEAVE,
    VERB_REVOKE,
    VERB_REMOTE,     /* a remote task; seen by the culprit only */
    VERB_EVERYWHERE, /* one in each locality; the same */
    VERB_ERRANDS,    /* tasks of a scope that is cancelled, in other localities; the same */
    VERB_TASKS,      /* what needs no communicator; the same */
    VERB_ASK,        /* what can be asked at any time, of CALL, too */
    VERB_KILL,       /* a locality dies; the same */
    VERB_CREATE,     /* a communicator by its name, again where that is taken back */
    VERB_SITES,      /* cohort_sites in each locality, called by one actor of it */
    VERB_MEMORY,     /* one-sided access to the block of locality TO; seen by the culprit only */
    NUM_VERBS,
};

/* What goes wrong in a step, by its culprit. */
enum trouble {
    TROUBLE_NONE,
    TROUBLE_LATE,    /* calls after some milliseconds */
    TROUBLE_SKIPPED, /* does not call */
    TROUBLE_CANCEL,  /* takes the generation back, after its own call */
    TROUBLE_CANCEL_BEFORE,
    TROUBLE_DEADLINE, /* its call has a short one, and somebody is late */
    TROUBLE_SCOPE,    /* its call is in a scope that is cancelled */
    TROUBLE_DROPPED,  /* it drops the future */
    NUM_TROUBLES,
};

/* How a site gets a message. */
enum getter {
    GET_BYTES,
    GET_OBJECT,
    GET_ANY,
    GET_PROBED,
    GET_LAYOUT,
    GET_ANY_OBJECT,
    GET_ANY_LAYOUT,
    NUM_GETTERS
};

struct step {
    enum verb verb;
    uint32_t group;
    enum trouble trouble;
    uint32_t culprit; /* a site */
    uint32_t moment;  /* when the trouble comes; what that is depends on it */
    /* A site that does not call, besides, or NONE. Where all have to: that calls when the culprit's
     * call is over. */
    uint32_t absent;
    uint32_t timing; /* 0: all go on at once, and await each future at once */
    uint64_t generation;
    /* VERB_CALL */
    struct random_call call;
    /* 0: no layouts, not in place, no rows; else they are drawn from it. VERB_MESSAGE: the layouts
     */
    uint32_t form;
    /* VERB_SITES; one of these is 0, as the call has them. FAILING: a site, or NONE */
    uint32_t each, num, failing;
    bool fails_late; /* after its collective */
    /* VERB_MESSAGE; TO is a locality with VERB_REMOTE, VERB_MEMORY, and VERB_KILL, which ends it */
    uint32_t from, to;
    size_t bytes;
    enum getter getter;
    bool has_own_tag;
    bool sets_layout;
    /* VERB_SPLIT, VERB_SPLIT_LEVEL, VERB_DUP, VERB_SHRINK, VERB_CREATE: by the site of GROUP, or
     * NONE */
    uint32_t made[MAX_ACTORS];
};

/* What a machine can do (simulation.h). */
struct means {
    bool has_threads;   /* the machine's own, and its time */
    bool has_places;    /* the program says where localities are, else only which these are */
    bool has_deaths;    /* of localities, and a launcher; not possible in shared memory */
    bool has_shortages; /* allocations that fail, and links that are lost */
};

struct program {
    struct means means;
    uint64_t seed;  /* of the transport: 0 is in order, at once */
    uint64_t order; /* of what is ready (simulation.h) */
    size_t eager_budget;
    char slow[32]; /* messages: as COHORT_FAULT has it */
    uint32_t num_workers;
    bool tasks_move;
    bool progress_thread;
    bool has_hooks;
    uint32_t num_localities;
    bool is_spread;
    struct cohort__position positions[MAX_LOCALITIES];
    size_t area; /* of the block of a locality that an actor puts into */
    uint32_t num_actors;
    uint32_t locality_of[MAX_ACTORS];
    bool keeps_going;        /* without those that die: then these may be several */
    uint32_t victims;        /* the localities that die, by the step that is drawn, a bit each */
    uint32_t num_gaps;       /* allocations that fail */
    uint32_t gaps[MAX_GAPS]; /* how many there are before each */
    /* A locality that does not reach another one from this message to it on, or 0. */
    uint32_t lost_number, lost_from, lost_to;
    /* One of these two: then localities may die that no step kills. */
    bool has_accidents;
    uint32_t num_groups;
    struct group groups[MAX_GROUPS];
    uint32_t num_steps;
    struct step steps[MAX_STEPS];
};

/* A program that needs no more than MEANS. */
void program_draw(struct program *program, struct choices *choices, struct means means);

/* In words, on standard error. */
void program_print(const struct program *program);

/* The site of ACTOR in GROUP, or NONE. */
uint32_t program_site(const struct group *group, uint32_t actor);

/* The sites of GROUP that are in LOCALITIES, a bit each. */
uint32_t program_sites_in(const struct program *program, const struct group *group,
                          uint32_t localities);

/* A number that all localities have in common which are together at LEVEL of the machine. */
uint32_t program_place(const struct program *program, uint32_t locality, uint32_t level);

/* Whether each site has to call for VERB, whatever goes wrong, and all get the same. */
bool program_needs_all(enum verb verb);

/* The actor that calls for all of its locality. */
uint32_t program_caller(const struct program *program, uint32_t actor);

/* How many sites STEP makes, and where one of them is: VERB_SITES. */
uint32_t program_num_made(const struct program *program, const struct step *step);
uint32_t program_locality_made(const struct program *program, const struct step *step,
                               uint32_t site);

/* Whether STEP's message is got from any site. */
bool program_gets_any(const struct step *step);

const char *program_verb(enum verb verb);

#endif
