/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_SCOPED_CALLS_H
#define COHORT_COLLECTIVES_COMM_SCOPED_CALLS_H

#include <stdint.h>

#include "collectives/comm/endpoint.h"

/* The calls of tasks that are in scopes: when the scope is cancelled, a verdict is asked for each
 * of them that has not ended (verdict.h). Calls of one scope, one after the other, are a *run* and
 * share a watch of the scope, so mostly a call only notes that the run is longer now. */
struct cohort__scoped_run;

/* By the caller's thread, a task in a scope, before it calls GENERATION: sets *RET_RUN to a new
 * run, or to NULL if the latest one goes on. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__scoped_calls_prepare(struct cohort_comm *comm, uint64_t generation,
                                           struct cohort__scoped_run **ret_run);

/* The same, once it has called GENERATION. Takes RUN. */
void cohort__scoped_calls_add(struct cohort_comm *comm, struct cohort__scoped_run *run,
                              uint64_t generation);

/* In the endpoint's turn, now and then: asks again for the verdicts that there was no memory to ask
 * for. */
void cohort__scoped_calls_tick(struct cohort_comm *comm);

void cohort__scoped_calls_init(struct cohort_comm *comm);

/* In the endpoint's turn: it leaves. */
void cohort__scoped_calls_leave(struct cohort_comm *comm);

#endif
