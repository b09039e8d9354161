/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_JOIN_H
#define COHORT_RUNTIME_TASK_JOIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/task/future.h"
#include "runtime/task/inputs.h"

/* Waits until all of some futures are complete, and keeps the references to them until it is
 * destroyed. What cohort_when_all and cohort_dataflow have in common. The owner of one that is
 * forgetful may give it up before; it stays until its waiters have been notified. */

struct cohort__join;
struct cohort__join_member {
    struct cohort__waiter waiter;
    struct cohort__join *join;
    cohort_future *future;
};
struct cohort__join {
    struct cohort__inputs inputs; /* the owner ends them */
    size_t num_seen_done;         /* in front, for the tick */
    /* Called once, when all futures are complete, or have been forgotten, as a waiter's notify is.
     * May destroy JOIN. */
    void (*complete)(struct cohort__join *join);
    void *owner;                /* for complete */
    _Atomic size_t num_pending; /* plus one until all waiters are registered */
    _Atomic uint32_t users;     /* the owner, and for a forgetful one also its waiters */
    size_t count;
    struct cohort__join_member members[];
};

/* NULL if there is no memory; no message is set. Else it has the references to FUTURES. */
struct cohort__join *cohort__join_create(cohort_future *const *futures, size_t count,
                                         bool is_forgetful);

/* The owner has set complete and owner. JOIN may be gone when this returns. FUNCTION, CALLER: as in
 * cohort__future_hold_with. */
void cohort__join_start(struct cohort__join *join, const char *function, const void *caller);

/* All futures are complete: the first one in their order that failed, or NULL. */
const cohort_future *cohort__join_failed(const struct cohort__join *join);

/* Gives the references to the futures back. The owner calls this once. give_up: while some of them
 * may be pending, of which JOIN, which is forgetful, is not told any more. */
void cohort__join_destroy(struct cohort__join *join);
void cohort__join_give_up(struct cohort__join *join);

/* The waiters of a forgetful join have all been notified, and complete is through with it. */
void cohort__join_over(struct cohort__join *join);

#endif
