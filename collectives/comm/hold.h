/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_HOLD_H
#define COHORT_COLLECTIVES_COMM_HOLD_H

#include <stdbool.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/message.h"
#include "collectives/comm/operation.h"
#include "collectives/comm/tally.h"
#include "runtime/task/future.h"

/* A site's part in a verdict (verdict.h): its call of one generation is frozen. If the call is in
 * flight it goes on, but the caller's future waits for the verdict as well. If it has not started
 * it does not start before the verdict is there. In a call that is refused the future completes
 * when the library doesn't touch its buffers any more, as in each call that fails; and what the
 * call has given the caller to free by then is taken back. All of this happens in the endpoint's
 * turn, except where it says otherwise. */

enum cohort__outcome {
    COHORT__OUTCOME_OPEN,
    COHORT__OUTCOME_LEFT,    /* nothing is taken back: each call ends as it would have */
    COHORT__OUTCOME_REFUSED, /* what has not completed fails */
};

struct cohort__hold {
    struct cohort_comm *comm; /* NULL: not made yet */
    enum cohort__vote vote;   /* once it is frozen */
    /* It is frozen, or it has been told of the outcome; or nothing is held back any more, which may
     * come before. Then HOLD may be gone. */
    void (*done)(struct cohort__hold *hold);
    void (*over)(struct cohort__hold *hold);
    /* The owner's own: itself; another hold that is to be frozen, or told, after HOLD; whether HOLD
     * is in its tally; whether HOLD has been told. */
    void *owner;
    struct cohort__hold *next;
    bool is_counted;
    bool is_told;

    /* Private. */
    struct cohort__item item;
    struct cohort__message mark; /* in place of a call that has not started */
    bool is_marked;
    enum cohort__outcome told;         /* on its way to the endpoint */
    enum cohort__outcome outcome;      /* as the endpoint knows it */
    const struct cohort__error *error; /* if it is refused; on its way with `told` */
    cohort_future *real;               /* the caller's, if it is held back; completes it */
    cohort_future *stand_in;           /* what the call itself completes then; a reference */
    struct cohort__handout handout;    /* what it gives the caller when it ends */
    struct cohort__waiter ended;       /* of the stand-in */
    bool has_ended;
};

/* The functions, and what is needed later. HOLD is zero. COHORT_ERR_NO_MEMORY. Any thread. */
cohort_status cohort__hold_init(struct cohort__hold *hold, uint64_t generation,
                                void (*done)(struct cohort__hold *hold),
                                void (*over)(struct cohort__hold *hold));

/* What is still held back fails with COHORT_ERR_CANCELLED: the job ends. A HOLD that is zero is
 * fine. When nobody else uses it. */
void cohort__hold_fini(struct cohort__hold *hold);

/* Any thread that is sure that the group exists: has the endpoint, HOLD's comm, freeze, and calls
 * `done` in its turn. */
void cohort__hold_freeze(struct cohort__hold *hold);

/* The same once the verdict is there: does what follows. ERROR has to stay. */
void cohort__hold_tell(struct cohort__hold *hold, enum cohort__outcome outcome,
                       const struct cohort__error *error);

/* Whether nothing is held back. */
bool cohort__hold_is_over(const struct cohort__hold *hold);

/* What the site has called, for a tally: the name, or "". */
void cohort__hold_name(const struct cohort__hold *hold, char *name, size_t bytes,
                       bool *ret_may_end_alone);

#endif
