/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_H
#define COHORT_COLLECTIVES_COLL_CALL_H

#include "cohort/collectives.h"
#include "collectives/algo/algorithm.h"

/* What all collectives have in common: checking the arguments, passing the gate, finding or
 * building the plan, starting it. A collective's own file says what it needs. */

enum cohort__role {
    COHORT__ROLE_ANY,
    COHORT__ROLE_ROOT,     /* only the root may call this */
    COHORT__ROLE_NON_ROOT, /* everybody but the root */
};

struct cohort__call {
    const char *function; /* for messages */
    enum cohort__collective collective;
    enum cohort__role role;
    bool needs_in;
    bool needs_out;
    bool reduces;
    cohort_comm *comm;
    const void *in;
    void *out;
    size_t count;
    cohort_datatype datatype; /* 0: no elements, a barrier */
    const cohort_op *op;
    uint64_t generation;
};

/* Fills in CALL's generation where the communicator numbers its calls. Never NULL. */
cohort_future *cohort__call_start(struct cohort__call *call);

#endif
