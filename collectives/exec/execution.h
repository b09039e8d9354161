/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_EXECUTION_H
#define COHORT_COLLECTIVES_EXEC_EXECUTION_H

#include <stdbool.h>

#include "cohort/objects.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/operation.h"
#include "collectives/exec/check_values.h"
#include "collectives/exec/op.h"
#include "collectives/exec/pieces.h"
#include "collectives/exec/plan_cache.h"

/* One run of a plan by one site: an operation whose steps are started when what they wait for is
 * done. All of it happens in the endpoint's turn; what takes long, or waits for others, goes on
 * outside as an activity and comes back as an item. */

enum cohort__step_state {
    COHORT__STEP_IDLE,    /* not started: waits for other steps */
    COHORT__STEP_ARRIVED, /* a RECV whose message came first: `held` is the message */
    COHORT__STEP_POSTED,  /* a RECV that waits for its message */
    COHORT__STEP_BUSY,    /* `held` is the activity */
    COHORT__STEP_OVER,
};

struct cohort__execution;
struct cohort__execution_call;
struct cohort__blob;

/* What the blocks of a plan stand for: bytes, or objects. Within enter and leave, but for init and
 * release. */
struct cohort__step_mode {
    void (*send)(struct cohort__execution *execution, uint32_t step);
    /* STEP is posted, and MESSAGE, which it takes, is for it. */
    void (*receive)(struct cohort__execution *execution, uint32_t step,
                    struct cohort__message *message);
    void (*compute)(struct cohort__execution *execution, uint32_t step); /* COPY, REDUCE, ZERO */
    /* NULL where there is nothing to do. By the caller's thread, with the rest initialised. */
    cohort_status (*init)(struct cohort__execution *execution,
                          const struct cohort__execution_call *call);
    /* All steps are over; again after each activity that it starts. */
    void (*finish)(struct cohort__execution *execution);
    void (*release)(struct cohort__execution *execution);
};
extern const struct cohort__step_mode cohort__byte_mode;

struct cohort__execution {
    struct cohort__operation operation; /* first */
    const struct cohort__step_mode *mode;
    struct cohort__plan_entry *entry; /* a reference */
    const struct cohort__plan *plan;
    unsigned char *bases[COHORT__NUM_SPACES];
    struct cohort__blob **slots[3]; /* of IN, OUT, TMP, where it is about objects */
    cohort_object *out_objects;     /* the caller's */
    const cohort_op *op;            /* a reference, or NULL */
    cohort_datatype datatype;
    uint32_t num_left;    /* steps that are not over */
    uint32_t num_busy;    /* activities under way */
    uint32_t ready_first; /* steps to start: ready[ready_first..ready_end-1] */
    uint32_t ready_end;
    bool is_entered;
    bool is_refused;                   /* the sites do not agree */
    struct cohort__check_values check; /* CHECK */
    struct cohort__error objection;    /* what is wrong with this call, told after the agreement */
    uint32_t *waits;                   /* for each step: how many others it waits for */
    uint32_t *ready;
    void **held;
    uint8_t *states;      /* enum cohort__step_state */
    uint8_t *answers;     /* enum cohort__answer: the peer's last one */
    uint32_t num_rows;    /* the caller has a future for each, or 0 */
    cohort_future **rows; /* the completer's references; NULL once it is complete */
};

/* What the collective's caller gives. */
struct cohort__execution_call {
    struct cohort_comm *comm;
    struct cohort__plan_entry *entry; /* a reference, which is taken */
    const void *in;
    void *out;
    const cohort_op *op;
    cohort_datatype datatype;
    uint64_t generation; /* has passed the gate */
    uint64_t fingerprint;
    const struct cohort__signature *signature;
    /* Where to put a future for each row of OUT; not NULL where the plan is for that. */
    cohort_future **ret_rows;
    /* For plans with an agreement: what is said there, and NULL or why it will be none. */
    struct cohort__check_values check;
    const struct cohort__error *objection;
};

/* Starts the run of a plan, by the caller's thread; never NULL. */
cohort_future *cohort__execution_start(const struct cohort__execution_call *call);

/* Around everything that is done in the endpoint's turn: the execution ends, and may be gone, on
 * the way out. */
void cohort__execution_enter(struct cohort__execution *execution);
void cohort__execution_leave(struct cohort__execution *execution);

/* Within enter and leave: STEP is over; what waited for it becomes ready. Inline, since every step
 * comes by here. */
static inline void cohort__execution_step_over(struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__plan *plan = execution->plan;
    const struct cohort__step *over = &plan->steps[step];
    execution->states[step] = COHORT__STEP_OVER;
    execution->num_left--;
    for (uint32_t i = 0; i < over->num_successors; i++) {
        uint32_t successor = plan->successors[over->first_successor + i];
        if (--execution->waits[successor] == 0)
            execution->ready[execution->ready_end++] = successor;
    }
}

/* steps.c. Within enter and leave: STEP, for which nothing is to be waited any more, begins. */
void cohort__step_start(struct cohort__execution *execution, uint32_t step);

/* A message for a RECV; takes it. */
void cohort__step_message(struct cohort__execution *execution, struct cohort__message *message);

/* failing.c: the operation fails, as struct cohort__operation_handlers has it. */
void cohort__execution_failing(struct cohort__operation *operation);

/* stall.c: the like. */
void cohort__execution_stalled(struct cohort__operation *operation);
void cohort__execution_answer(struct cohort__operation *operation, uint32_t site,
                              enum cohort__answer answer);
void cohort__execution_peer_died(struct cohort__operation *operation);
size_t cohort__execution_describe(const struct cohort__operation *operation, char *text,
                                  size_t used, size_t capacity);

#endif
