/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_ACTIVITY_H
#define COHORT_COLLECTIVES_EXEC_ACTIVITY_H

#include "collectives/comm/remote.h"
#include "collectives/exec/execution.h"
#include "runtime/task/work.h"

/* Something of a step that goes on outside of the endpoint's turn. While there is one, the buffers
 * may be accessed, so the operation can't end. */
enum cohort__activity_kind {
    COHORT__ACTIVITY_WORK,  /* a copy or a reduction, on some worker */
    COHORT__ACTIVITY_SEND,  /* to another locality */
    COHORT__ACTIVITY_FETCH, /* from another locality */
    COHORT__ACTIVITY_LOAN,  /* a site of this locality reads our memory */
};

struct cohort__activity {
    struct cohort__item item; /* brings it back into the endpoint's turn */
    enum cohort__activity_kind kind;
    struct cohort__execution *execution;
    uint32_t step;                         /* COHORT__NO_STEP: after the last one */
    struct cohort__error error;            /* what went wrong, if anything */
    struct cohort__message *message;       /* being read, or NULL */
    struct cohort__attachment *attachment; /* likewise */
    void *buffer;                          /* of its own, or NULL */
    size_t bytes;                          /* of the message */
    cohort_status (*perform)(struct cohort__activity *activity); /* WORK: what to do */
    void (*next)(struct cohort__activity *activity); /* in the endpoint's turn, when it went well */
    struct cohort__pieces pieces;
    union {
        struct cohort__work work;
        struct cohort__send send;
        struct cohort__fetch fetch;
        struct cohort__loan loan;
    };
};

/* Makes STEP busy; NULL: out of memory, and the execution fails. */
struct cohort__activity *cohort__activity_create(struct cohort__execution *execution,
                                                 uint32_t step);

/* In the endpoint's turn: does PERFORM on some worker, then calls NEXT in the endpoint's turn. */
void cohort__activity_work(struct cohort__activity *activity,
                           cohort_status (*perform)(struct cohort__activity *activity),
                           void (*next)(struct cohort__activity *activity));

/* In the endpoint's turn: sends BYTES at PAYLOAD, which stay until then, for its step; that is then
 * over. */
void cohort__activity_send(struct cohort__activity *activity, const void *payload, size_t bytes);

/* In the endpoint's turn: fetches what MESSAGE, which it takes, announces, to DESTINATION; NULL: to
 * a buffer of its own. Then calls NEXT in the endpoint's turn. */
void cohort__activity_fetch(struct cohort__activity *activity, struct cohort__message *message,
                            void *destination, void (*next)(struct cohort__activity *activity));

/* Any thread: it is done; STATUS, with the thread's error message, says how. */
void cohort__activity_done(struct cohort__activity *activity, cohort_status status);

/* In the endpoint's turn: frees the activity; its step is over. */
void cohort__activity_finish(struct cohort__activity *activity);

#endif
