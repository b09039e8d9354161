/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_EARLY_H
#define COHORT_COLLECTIVES_COMM_EARLY_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/message.h"

/* The early messages of an endpoint, parked: those for calls that have not started here, or whose
 * sites have yet to agree. They are received again later: their items run. How many there are is up
 * to the others, so what is done with one of them does not depend on that, but for the logarithm of
 * the number of generations that have some. All of this in the endpoint's turn. */

/* Takes MESSAGE, which has been delivered. */
void cohort__early_park(struct cohort_comm *comm, struct cohort__message *message);

/* Whether another site has reported the failure of GENERATION, which has not started here yet, or
 * is just starting. */
bool cohort__early_is_told(const struct cohort_comm *comm, uint64_t generation);

/* GENERATION has just started, or agreed, or failed: receives its messages. */
void cohort__early_hand_in(struct cohort_comm *comm, uint64_t generation);

/* The generations from FIRST to below END have just been left out: receives their messages, which
 * answers them. */
void cohort__early_sweep(struct cohort_comm *comm, uint64_t first, uint64_t end);

/* A mark among them, of kind VERDICT, says that the call of its generation may not start. With tag
 * COHORT__TAG_CALL, that the call is refused with the mark's error: it fails in place of its start;
 * with another tag, that it has to wait. When the generation is called or left out, or when this
 * site leaves, its item runs, as those of messages do. There is at most one mark for a generation,
 * it belongs to who has left it, and no site is its source. */
void cohort__early_put(struct cohort_comm *comm, struct cohort__message *mark);
void cohort__early_take(struct cohort_comm *comm, struct cohort__message *mark);

/* MARK, which is in place, refuses the call from now on. Its error is set. */
void cohort__early_refuse(struct cohort_comm *comm, struct cohort__message *mark);

/* NULL: there is none. */
const struct cohort__message *cohort__early_find_mark(const struct cohort_comm *comm,
                                                      uint64_t generation);

#endif
