/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the tasks, waits and calls of a trace. */
#ifndef COHORT_TOOLS_TRACE_MODEL_H
#define COHORT_TOOLS_TRACE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "tools/trace/read.h"
#include "tools/trace/replay.h"

/* What has made a task go on: the last thing that its waker did before. */
enum cause {
    CAUSE_NONE,    /* nothing: it waits still when the trace ends */
    CAUSE_OUTSIDE, /* a timer, a file, a thread that runs no task */
    CAUSE_CALL,    /* a call of a collective has ended */
    CAUSE_TASK,    /* a task has ended, or has done it itself: set a value, unlocked a mutex */
    CAUSE_MESSAGE, /* a message has come */
};

struct wait {
    uint32_t task; /* that waits */
    uint32_t rank;
    uint8_t what;  /* enum cohort__wait_kind */
    uint8_t cause; /* enum cause */
    uint32_t by;   /* the call or the task; of a message: the task that sent it; or NONE */
    uint64_t begin, woken, end; /* without a wake all is until the end of the trace */
    uint64_t sent;              /* of a message */
};

/* One task, from its begin to its end. Its waits follow each other in time. */
struct task {
    uint32_t rank;
    const char *function;
    uint64_t begin, end;
    bool is_in_place; /* of an await of the task below it */
    uint32_t *waits;
    uint32_t num_waits;
};

/* One site's call of a collective. */
struct call {
    uint32_t rank, site;
    uint32_t task;       /* that called; NONE: a thread outside */
    uint32_t generation; /* number in the model's list */
    uint64_t at, ended;  /* 0: it is not over */
    bool has_failed;     /* it has ended with an error: a deadline, a cancel, a death */
    const char *from;    /* the sites that it waits for, or "" */
    uint32_t *steps;     /* numbers of events of the trace: each STEP and OVER, by time */
    uint32_t num_steps;
};

/* Where the sites of a communicator are. */
struct communicator {
    uint32_t *ranks; /* of each site: its locality; NONE: that is not in the trace */
    uint32_t num_sites;
};

/* The calls of all sites with one number. */
struct generation {
    const char *communicator, *name; /* of the collective and its row */
    uint64_t number;
    uint8_t collective;
    uint32_t place;    /* root, or distance of a shift */
    uint32_t sites;    /* number of the communicator in the model's list */
    uint32_t *of_site; /* of each site: its call; NONE: it has never called */
    uint32_t num_sites;
    uint32_t *calls; /* in the order of their times */
    uint32_t num_calls;
};

struct model {
    const struct trace *trace;
    struct task *tasks;
    struct wait *waits;
    struct call *calls;
    struct generation *generations;
    struct communicator *communicators;
    uint32_t num_tasks, num_waits, num_calls, num_generations, num_communicators;
    uint64_t begin, end;
};

/* TRACE has to outlive it. COHORT_ERR_NO_MEMORY; then it needs no fini. */
cohort_status model_init(struct model *model, const struct trace *trace);
void model_fini(struct model *model);

/* The call that GENERATION's result at the site of CALL had to wait for: that of those which it
 * depends on that came last before BEFORE. It may be CALL itself. */
uint32_t model_last(const struct model *model, uint32_t call, uint64_t before);

/* Whether the result of CALL depends on what SITE brings, by what the collective means. */
bool model_depends(const struct model *model, uint32_t call, uint32_t site);

/* The locality of SITE of CALL's communicator. NONE: it is not in the trace. */
uint32_t model_rank(const struct model *model, uint32_t call, uint32_t site);

/* The number of locality RANK in the trace's list. NONE: it is not in the trace. */
uint32_t model_locality(const struct model *model, uint32_t rank);

#endif
