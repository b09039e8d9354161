/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: what events mean, in turn: stacks, waits, calls. */
#ifndef COHORT_TOOLS_TRACE_REPLAY_H
#define COHORT_TOOLS_TRACE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/map.h"
#include "tools/trace/event.h"
#include "tools/trace/keyed.h"

/* It remembers only what is open, so a trace may be longer than the memory: who wants more of it
 * (model), or shows it (view), is told of each event. Texts of events have to last. */

struct frame {
    uint32_t task; /* tasks have numbers in the order in which they begin */
    const char *function;
    bool is_blocking; /* no task, but a function of cohort_blocking */
};

/* From the outermost one. */
struct stack {
    struct frame *frames;
    uint32_t num;
};

/* The last thing that a thread has done, with nothing begun or resumed since. */
struct deed {
    enum cohort__trace_kind kind; /* END, ENDED or RECEIVED, or NONE */
    bool is_blocking;             /* of END */
    uint32_t ended;               /* of END the task, of ENDED the call; or NONE */
    uint64_t pair, number, at;    /* of RECEIVED: see replay_pair */
};

struct thread {
    struct keyed keyed; /* rank, thread */
    struct stack stack; /* what it runs */
    struct deed deed;
    uint32_t left; /* the task that ran here before; NONE: none */
    uint64_t left_at;
    bool is_asleep;
};

struct open_wait {
    struct keyed keyed; /* rank, wait */
    struct stack stack; /* what waits */
    uint32_t number;    /* in the order of their SUSPEND; NONE: it has not come yet */
    bool is_woken;
    uint64_t woken;
    struct deed deed; /* of the waker */
    uint32_t running; /* on the waker's thread; NONE: no task */
    uint64_t flow;    /* another one for each */
    uint64_t track;   /* on which the view shows it; 0: it does not */
};

/* The phases of calls: each goes from the first of its steps to the end of the last one. */

/* How the levels of an endpoint's machine are called, the finest first. */
struct phase_levels {
    uint32_t num;
    char names[COHORT__TRACE_NO_LEVEL][32];
};

/* Those of one call. */
struct phases {
    struct phase {
        uint64_t begin, end;
        uint32_t num_open; /* steps that are not over */
        uint32_t level;    /* the coarsest one of its steps */
        bool is_used;
    } of[COHORT__TRACE_PHASES];
};

/* The parts of a STEP or OVER. */
enum cohort__trace_step phases_step(const struct event *event);
uint32_t phases_phase(const struct event *event);
uint32_t phases_peer(const struct event *event);
uint32_t phases_level(const struct event *event);

/* Whether two have one phase and one tag, which tell a step apart from others of its kind. */
bool phases_match(const struct event *left, const struct event *right);

/* How LEVEL is called: "host"; "beyond host", if it is no level any more; "" for NO_LEVEL. */
void phase_levels_name(const struct phase_levels *levels, uint32_t level, char text[48]);

struct endpoint {
    struct keyed keyed; /* rank, endpoint */
    uint64_t instance;
    uint32_t site, num_sites;
    const char *name;
    struct phase_levels levels;
};

/* A number of calls, of which each site makes one. */
struct open_generation {
    struct keyed keyed; /* instance, generation */
    uint32_t number;    /* in the order of their first calls */
    const char *communicator, *call;
    uint32_t num_sites, num_called, num_ended;
    struct arrival {
        uint32_t site;
        uint64_t at;
    } * arrivals; /* in their order */
};

struct open_call {
    struct keyed keyed; /* the endpoint's address here, generation */
    uint32_t number;    /* in their order */
    struct phases phases;
    uint64_t track; /* as of a wait */
};

struct seen;

struct replay {
    struct cohort__map threads, waits, endpoints, calls, generations;
    uint32_t num_tasks, num_waits, num_calls, num_generations;
    uint64_t num_flows;
    void (*tell)(void *context, const struct event *event, const struct seen *seen);
    void *context;
    bool has_failed; /* no memory */
};

/* What is meant by an event; NULL: it has none, or that is not known. */
struct seen {
    struct thread *thread;
    struct open_wait *wait;
    struct endpoint *endpoint;
    struct open_call *call;
    struct open_generation *generation; /* of a CALL or ENDED */
    uint32_t ended;                     /* of an END: the task; or NONE */
};

/* TELL is called for each event that is added: what it begins is there, and what it ends is there
 * still, but an END's task. */
void replay_init(struct replay *replay,
                 void (*tell)(void *context, const struct event *event, const struct seen *seen),
                 void *context);
void replay_fini(struct replay *replay);

/* Events come by time. False: no memory. */
bool replay_add(struct replay *replay, const struct event *event);

/* Whether all its sites are through: it is forgotten next. */
bool replay_is_over(const struct open_generation *generation);

/* The task that runs, or waits, there. NONE: none. */
uint32_t replay_top(const struct stack *stack);

/* The two localities of a message. */
uint64_t replay_pair(const struct event *message);

#endif
