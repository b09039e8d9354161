/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_CHANNEL_WATCH_H
#define COHORT_COLLECTIVES_COMM_CHANNEL_WATCH_H

#include "collectives/comm/endpoint.h"

/* A set or a get, the *owner*, of a task in a scope: tells it when the scope is cancelled. That
 * happens on any thread, so it is an item of the endpoint that tells; and the endpoint, which stays
 * while a set or a get is not over, stays for that item, too. */
struct cohort__channel_watch;

/* CANCEL is called with OWNER at most once, in the turn of COMM, before the owner is over; perhaps
 * before it has begun. Sets *RET_WATCH to NULL if the calling task is in no scope. Returns false if
 * there is no memory. CANCEL is not called before _start. */
bool cohort__channel_watch_create(struct cohort_comm *comm, void (*cancel)(void *owner),
                                  void *owner, struct cohort__channel_watch **ret_watch);

/* In the call of the owner, before its own item is posted, so that it can't be over yet. NULL is
 * fine. */
void cohort__channel_watch_start(struct cohort__channel_watch *watch);

/* In the turn: the owner is over. Takes WATCH. Calls cohort__channels_over, now or later. NULL is
 * fine. */
void cohort__channel_watch_over(struct cohort__channel_watch *watch, struct cohort_comm *comm);

#endif
