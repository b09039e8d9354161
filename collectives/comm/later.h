/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_LATER_H
#define COHORT_COLLECTIVES_COMM_LATER_H

#include "collectives/comm/endpoint.h"

/* What an endpoint leaves for a later turn of the event loop, which has other things to do. */

/* Of one endpoint so many calls or gets fail, or sets or messages are given back, in one turn: each
 * takes microseconds. Of all together it is not many more. */
enum { COHORT__ENDS_OF_A_TURN = 1000 };

/* In the endpoint's turn: NUM of them have failed, or have been given back. */
static inline void cohort__later_count(struct cohort_comm *comm, uint32_t num)
{
    atomic_fetch_add_explicit(&comm->group->commons->num_failed, num, memory_order_relaxed);
}

/* Any thread that is sure that the group exists: the event `more` of COMM is to be posted in a
 * later turn, which the caller asks for. */
void cohort__later_add(struct cohort_comm *comm);

/* In the endpoint's turn: the same, and it asks. */
void cohort__later_more(struct cohort_comm *comm);

/* By the event loop: lets some of those endpoints go on. Returns whether there are others. */
bool cohort__later_go_on(struct cohort__commons *commons);

#endif
