/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETING_H
#define COHORT_COLLECTIVES_EXEC_MEETING_H

#include "cohort/future.h"
#include "collectives/exec/movement.h"
#include "runtime/base/error.h"

struct cohort_comm;

/* A collective of a communicator all of whose sites live in this locality, without a plan: every
 * site publishes where its buffers are, and who comes last has all data moved in place. */

/* What one site brings. All but `in`, `out` and `op` is equal at all sites. */
struct cohort__meeting_call {
    struct cohort_comm *comm;
    const struct cohort__movement_kind *kind;
    const void *in; /* the same as OUT: in place */
    void *out;
    uint32_t root;
    uint32_t shift;
    const cohort_op *op;
    uint64_t generation; /* has passed the gate */
    uint64_t fingerprint;
    const struct cohort__signature *signature; /* also says count and datatype; 0: no elements */
    cohort_future **ret_rows;                  /* num_sites futures for the caller, or NULL */
};

/* By the caller's thread; never NULL. */
cohort_future *cohort__meeting_start(const struct cohort__meeting_call *call);

#endif
