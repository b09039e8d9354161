/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_ENDPOINT_LIFE_H
#define COHORT_COLLECTIVES_COMM_ENDPOINT_LIFE_H

#include "collectives/comm/endpoint.h"

/* How an endpoint begins and ends, and what happens to all that is in it. */

cohort_status cohort__endpoint_create(struct cohort_comm **ret_comm, struct cohort__group *group,
                                      uint32_t site);

/* Called when nothing refers to ACTOR, an endpoint, any more. NULL is fine. */
void cohort__endpoint_destroy(struct cohort__actor *actor);

/* Any thread: fails all calls in flight and all that come later: the user has given the endpoint
 * back, or the job ends. */
void cohort__endpoint_leave(struct cohort_comm *comm);

/* By the caller's thread: GENERATION has passed the gate, and there is no memory for anything that
 * would say what has become of the call. Whoever asks about it is told that this site has moved
 * past. */
void cohort__endpoint_leave_out(struct cohort_comm *comm, uint64_t generation);

/* Any thread that is sure that the endpoint exists: whether anything is in flight that may wait for
 * a long time, and posts an item that looks for what does. */
bool cohort__endpoint_wants_tick(const struct cohort_comm *comm);
void cohort__endpoint_tick(struct cohort_comm *comm);

/* In the endpoint's turn: a call has failed, since a site has left. The others may wait for that
 * one, too, so they ask now, and later ones as soon as they are found waiting. Else a caller who
 * has many calls in flight would be told one after the other, as their turns to ask come. */
void cohort__endpoint_site_left(struct cohort_comm *comm);

/* Any thread: tells the endpoint that a locality has died, or that its communicator is revoked, in
 * a later turn of the event loop, which the caller asks for: that ends calls of what may be many.
 */
void cohort__endpoint_peer_died(struct cohort_comm *comm);

#endif
