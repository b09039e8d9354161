/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_IDLE_H
#define COHORT_COLLECTIVES_COMM_IDLE_H

#include <stdbool.h>

#include "collectives/comm/endpoint.h"
#include "runtime/base/ledger_format.h"

/* When an endpoint has nothing to do: who waits for that is told, and if it has left it is
 * finished. All of this in the endpoint's turn, except where it says otherwise. */

/* A future, as from cohort__future_create_about, of something that COMM's site begins and that ends
 * outside of the endpoint's turn: a communicator made out of it, say. COMM is not idle, and stays,
 * until it is complete. NULL: no memory. Any thread that has a reference to COMM. */
cohort_future *cohort__endpoint_begin(struct cohort_comm *comm, enum cohort__wait_kind about);

/* Whether no call is in flight, waits or is held back, no set or get is under way, and nothing else
 * that was begun; and what is to be done then. */
bool cohort__endpoint_is_idle(const struct cohort_comm *comm);
void cohort__endpoint_when_idle(struct cohort_comm *comm);

/* Something has ended, so the endpoint may be idle now. Mostly nothing waits for that. */
static inline void cohort__endpoint_over(struct cohort_comm *comm)
{
    bool matters = comm->has_left || !cohort__list_is_empty(&comm->idle_waiters);
    if (matters && cohort__endpoint_is_idle(comm))
        cohort__endpoint_when_idle(comm);
}

#endif
