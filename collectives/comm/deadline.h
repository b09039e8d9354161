/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_DEADLINE_H
#define COHORT_COLLECTIVES_COMM_DEADLINE_H

#include <stdint.h>

#include "collectives/comm/endpoint.h"

/* The deadlines of the calls of an endpoint. When one is over and its call has not ended, a verdict
 * is asked for (verdict.h).
 *
 * A call only leaves its deadline in a list, and mostly does not look at the clock. While there are
 * such calls a timer has the endpoint look at the list now and then: each 16th of the shortest time
 * that is left, but after 1 ms at least and 25 ms at most. A deadline begins when it is first seen,
 * so it is never early, and late by two such times. How many calls wait does not matter to a look,
 * but for those that are new or due. */
struct cohort__deadlines;
struct cohort__deadline; /* of one call */

/* By the caller's thread, before it calls GENERATION, which has passed the gate: sets *RET_DEADLINE
 * to what is to be added. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__deadline_prepare(struct cohort_comm *comm, uint64_t generation,
                                       uint64_t nanoseconds,
                                       struct cohort__deadline **ret_deadline);

/* The same, once it has called its generation: a verdict on a deadline never finds that the site
 * whose deadline it is has not called. Takes DEADLINE. */
void cohort__deadline_add(struct cohort_comm *comm, struct cohort__deadline *deadline);

/* In the endpoint's turn: it leaves, and is looked at no more. */
void cohort__deadlines_leave(struct cohort_comm *comm);

/* With the endpoint. */
void cohort__deadlines_destroy(struct cohort_comm *comm);

#endif
