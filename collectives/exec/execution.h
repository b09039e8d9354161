/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_EXECUTION_H
#define COHORT_COLLECTIVES_EXEC_EXECUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/objects.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/noticeboard.h"
#include "collectives/comm/operation.h"
#include "collectives/exec/check_values.h"
#include "collectives/exec/op.h"
#include "collectives/exec/pieces.h"
#include "collectives/exec/plan_cache.h"
#include "runtime/base/trace.h"
#include "runtime/base/trace_format.h"

/* What a trace says of a step of a call: its phase, and how far apart the sites are that take part
 * in it. Only called if there is a trace. */

struct cohort__step_trace {
    enum cohort__trace_step what;
    uint32_t phase, peer, tag, level; /* as in the record */
};

/* The finest level at which all sites are together. */
uint32_t cohort__step_trace_level_of_all(const struct cohort__operation *operation);

/* KIND: COHORT__TRACE_STEP or _OVER. */
void cohort__step_trace_write(const struct cohort__operation *operation,
                              enum cohort__trace_kind kind, const struct cohort__step_trace *step);

/* One run of a plan by one site. It is an operation. This is its state, and what all kinds of steps
 * need of it; engine.c runs it. A step starts when the steps that it waits for are done. All of
 * this happens in the endpoint's turn. What takes long, or waits for others, goes on outside as an
 * activity and comes back as an item. */

enum cohort__step_state {
    COHORT__STEP_IDLE,    /* not started: waits for other steps */
    COHORT__STEP_ARRIVED, /* a RECV, not started, whose message is there: `held` */
    COHORT__STEP_POSTED,  /* a RECV or READ that waits for what it is to get, a MEET for the others,
                           * a POST for a place */
    COHORT__STEP_BUSY,    /* `held` is the activity */
    COHORT__STEP_OVER,
};

struct cohort__execution;
struct cohort__blob;
struct cohort__meet;
struct cohort__note_step;

/* The steps of a plan that have to do with another site each, sorted by that. */
struct cohort__steps_by_site {
    uint32_t num;
    uint32_t steps[];
};

/* What the blocks of a plan stand for: bytes, or objects. All are called between enter and
 * leave, except init and release. */
struct cohort__step_mode {
    bool has_slots;   /* a byte of a block stands for a slot with an object */
    bool has_bundles; /* which is a bundle */
    void (*send)(struct cohort__execution *execution, uint32_t step);
    /* STEP is posted, and MESSAGE is for it. Takes MESSAGE. */
    void (*receive)(struct cohort__execution *execution, uint32_t step,
                    struct cohort__message *message);
    void (*compute)(struct cohort__execution *execution,
                    uint32_t step); /* COPY, REDUCE, ZERO, ROUTE */
    /* By the caller's thread, when all else is initialised. NULL if there is nothing to do. */
    cohort_status (*init)(struct cohort__execution *execution,
                          const struct cohort__planned_call *planned);
    /* All steps are over. Called again after each activity that it starts. May be NULL, as may
     * release. */
    void (*finish)(struct cohort__execution *execution);
    void (*release)(struct cohort__execution *execution);
};

struct cohort__execution {
    struct cohort__operation operation; /* first */
    const struct cohort__step_mode *mode;
    void (*leave)(struct cohort__execution *execution); /* the engine's, see below */
    struct cohort__plan_entry *entry;                   /* a reference */
    const struct cohort__plan *plan;
    unsigned char *bases[COHORT__NUM_SPACES];
    struct cohort__blob **slots[3]; /* of IN, OUT, TMP, if the plan is for objects */
    cohort_object *out_objects;     /* the caller's */
    cohort_site_objects *ret_list;  /* the caller's, of a sparse call */
    cohort_site_object *list;       /* what will be in it, as many as its bundle has */
    const cohort_op *op;            /* a reference, or NULL */
    cohort_datatype datatype;
    uint32_t num_left;          /* steps that are not over */
    uint32_t num_busy;          /* activities under way, and meetings that it is inside */
    struct cohort__meet *meets; /* of the plan, by number */
    /* If the plan has notes: the group's noticeboard, once the call has begun there; the call; and
     * what waits, for each POST and READ in their order. */
    struct cohort__noticeboard *noticeboard;
    struct cohort__notice_call notice_call;
    struct cohort__note_step *note_steps;
    uint32_t ready_first; /* steps to start: ready[ready_first..ready_end-1] */
    uint32_t ready_end;
    bool is_entered;
    struct cohort__check_values check; /* the space CHECK of the plan */
    struct cohort__error objection; /* what is wrong with this call; reported after the agreement */
    uint32_t *waits;                /* by step: how many other steps it still waits for */
    uint32_t *ready;
    void **held;
    uint8_t *states;  /* enum cohort__step_state */
    uint8_t *answers; /* by step: enum cohort__answer, the last one of its peer */
    struct cohort__steps_by_site *by_site; /* for questions and answers; NULL: none yet */
    uint32_t num_rows;    /* for each of which the caller has a future; 0: for none */
    cohort_future **rows; /* the references that complete them; NULL once one is complete */
};

/* These two go around everything that is done in the endpoint's turn. On leave, ready steps start,
 * and the execution may end. Then it may be gone. */
static inline void cohort__execution_enter(struct cohort__execution *execution)
{
    execution->is_entered = true;
}

static inline void cohort__execution_leave(struct cohort__execution *execution)
{
    execution->leave(execution);
}

/* For the trace: STEP begins, or is over, as KIND says. */
void cohort__execution_trace(const struct cohort__execution *execution, uint32_t step,
                             enum cohort__trace_kind kind);

/* Between enter and leave: STEP is over. Steps that waited only for it become ready. Inline, since
 * every step comes by here. */
static inline void cohort__execution_step_over(struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__plan *plan = execution->plan;
    const struct cohort__step *over = &plan->steps[step];
    if (__builtin_expect(cohort__trace_is_on, 0))
        cohort__execution_trace(execution, step, COHORT__TRACE_OVER);
    execution->states[step] = COHORT__STEP_OVER;
    execution->num_left--;
    for (uint32_t i = 0; i < over->num_successors; i++) {
        uint32_t successor = plan->successors[over->first_successor + i];
        if (--execution->waits[successor] == 0)
            execution->ready[execution->ready_end++] = successor;
    }
}

/* Between enter and leave: ROW of OUT is ready for the caller. */
void cohort__execution_row_done(struct cohort__execution *execution, uint32_t row);

/* For STEP, a REDUCE or a READ that reduces: RESULT = LEFT op RIGHT; and whether that calls the
 * user's code, which alone may fail. Any thread, between the start of STEP and its end. Inline, as
 * some plans have a REDUCE for each few bytes. */
static inline cohort_status cohort__execution_reduce(const struct cohort__execution *execution,
                                                     uint32_t step, void *result, const void *left,
                                                     const void *right)
{
    const struct cohort__step *what = &execution->plan->steps[step];
    if (what->op == COHORT__STEP_OP_MIN)
        return cohort__op_apply(COHORT_MIN, result, left, right, what->bytes / sizeof(int16_t),
                                COHORT_INT16);
    return cohort__op_apply(execution->op, result, left, right,
                            what->bytes / cohort_datatype_size(execution->datatype),
                            execution->datatype);
}

static inline bool cohort__execution_is_users(const struct cohort__execution *execution,
                                              uint32_t step)
{
    return execution->plan->steps[step].op == COHORT__STEP_OP_CALL &&
           !cohort__op_is_builtin(execution->op);
}

/* Whether the sites have yet to agree before STEP counts. */
static inline bool cohort__execution_is_before_agreement(const struct cohort__execution *execution,
                                                         uint32_t step)
{
    return cohort__operation_is_before_agreement(&execution->operation) &&
           execution->plan->steps[step].phase != COHORT__PHASE_CHECK;
}

/* SEND, RECV, COPY, ZERO and REDUCE where the blocks of a plan are the bytes of the caller. */
extern const struct cohort__step_mode cohort__byte_mode;

#endif
