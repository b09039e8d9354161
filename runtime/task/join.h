/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_JOIN_H
#define COHORT_RUNTIME_TASK_JOIN_H

#include <stdatomic.h>
#include <stddef.h>

#include "runtime/task/future.h"
#include "runtime/task/inputs.h"

/* Waits until all of some futures are complete, and keeps the references to them until it is
 * destroyed. What cohort_when_all and cohort_dataflow have in common. */

struct cohort__join;
struct cohort__join_member {
    struct cohort__waiter waiter;
    struct cohort__join *join;
    cohort_future *future;
};
struct cohort__join {
    struct cohort__inputs inputs; /* until all are complete */
    size_t num_seen_done;         /* in front, for the tick */
    /* Called once, when all futures are complete, as a waiter's notify is. May destroy JOIN. */
    void (*complete)(struct cohort__join *join);
    void *owner;                /* for complete */
    _Atomic size_t num_pending; /* plus one until all waiters are registered */
    size_t count;
    struct cohort__join_member members[];
};

/* NULL if there is no memory; no message is set. Else it has the references to FUTURES. */
struct cohort__join *cohort__join_create(cohort_future *const *futures, size_t count);

/* The owner has set complete and owner. JOIN may be gone when this returns. FUNCTION, CALLER: as in
 * cohort__future_hold_with. */
void cohort__join_start(struct cohort__join *join, const char *function, const void *caller);

/* All futures are complete: the first one in their order that failed, or NULL. */
const cohort_future *cohort__join_failed(const struct cohort__join *join);

/* Gives the references to the futures back. */
void cohort__join_destroy(struct cohort__join *join);

#endif
