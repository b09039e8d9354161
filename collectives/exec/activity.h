/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_ACTIVITY_H
#define COHORT_COLLECTIVES_EXEC_ACTIVITY_H

#include "collectives/comm/remote.h"
#include "collectives/exec/execution.h"
#include "runtime/task/scheduler.h"

/* A part of a step that takes time and goes on outside of the endpoint's turn. It may access the
 * buffers, so the operation can't end before it is done. */
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
    uint32_t step;                         /* COHORT__NO_STEP: after the last step */
    struct cohort__error error;            /* what went wrong, if anything */
    struct cohort__message *message;       /* that is being read, or NULL */
    struct cohort__attachment *attachment; /* likewise */
    void *buffer;                          /* the activity's own, or NULL */
    const unsigned char *source;           /* WORK: a note that it reads */
    size_t bytes;                          /* of the message */
    cohort_status (*perform)(struct cohort__activity *activity); /* WORK: what to do */
    void (*next)(struct cohort__activity *activity); /* in the endpoint's turn, if all went well */
    struct cohort__pieces pieces;
    union {
        struct cohort__work work;
        struct cohort__send send;
        struct cohort__fetch fetch;
        struct cohort__loan loan;
    };
};

/* Makes STEP busy. NULL: out of memory; then the execution fails. */
struct cohort__activity *cohort__activity_create(struct cohort__execution *execution,
                                                 uint32_t step);

/* In the endpoint's turn: does PERFORM, which calls no code of the user's, as a chore. Then calls
 * NEXT in the endpoint's turn. */
void cohort__activity_chore(struct cohort__activity *activity,
                            cohort_status (*perform)(struct cohort__activity *activity),
                            void (*next)(struct cohort__activity *activity));

/* The same, on some worker: PERFORM may call an operation of the user's. */
void cohort__activity_work(struct cohort__activity *activity,
                           cohort_status (*perform)(struct cohort__activity *activity),
                           void (*next)(struct cohort__activity *activity));

/* In the endpoint's turn: sends BYTES at PAYLOAD for its step. PAYLOAD must stay until the step is
 * over, which it is when the data is sent. */
void cohort__activity_send(struct cohort__activity *activity, const void *payload, size_t bytes);

/* The same with what PACK writes to the activity's buffer, of BYTES. 0: more than memory can hold.
 */
void cohort__activity_send_packed(struct cohort__activity *activity, size_t bytes,
                                  cohort_status (*pack)(struct cohort__activity *activity));

/* In the endpoint's turn: fetches to DESTINATION what MESSAGE announces. Takes MESSAGE. DESTINATION
 * NULL: to a buffer of its own. Then calls NEXT in the endpoint's turn. */
void cohort__activity_fetch(struct cohort__activity *activity, struct cohort__message *message,
                            void *destination, void (*next)(struct cohort__activity *activity));

/* Any thread: the activity is done. STATUS, with the thread's error message, says how it went. */
void cohort__activity_done(struct cohort__activity *activity, cohort_status status);

/* In the endpoint's turn: frees the activity. Its step is over. */
void cohort__activity_finish(struct cohort__activity *activity);

#endif
