/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_DIVISION_H
#define COHORT_COLLECTIVES_COLL_DIVISION_H

#include "collectives/coll/call.h"

/* What a site asks for in a call that makes communicators out of one. */
struct cohort__division_call {
    const char *function; /* for messages */
    enum cohort__purpose purpose;
    int32_t color; /* of a SPLIT; the same for all else */
    int32_t key;
    const char *wrong; /* with its arguments; NULL: nothing */
    cohort_comm *comm;
    cohort_comm **ret_comm;
    uint64_t generation;
};

/* First a collective of COMM tells each site what all others ask for, or that all have come. Then
 * each site knows who is with it, and joins its new communicator. Never NULL. */
cohort_future *cohort__division_start(const struct cohort__division_call *call);

#endif
