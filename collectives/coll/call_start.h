/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_START_H
#define COHORT_COLLECTIVES_COLL_CALL_START_H

#include "collectives/coll/call.h"

/* What all collectives have in common: they check the arguments, pass the gate, find or build the
 * plan, and start it. A collective's own function says what that collective needs. */

/* Starts CALL. Sets its generation if the communicator numbers its calls. Never NULL. */
cohort_future *cohort__call_start(struct cohort__call *call);

/* The same for a CALL that its own function has found wrong: it uses up its generation, and the
 * calls of all sites fail with STATUS and WHY. There is a communicator. */
cohort_future *cohort__call_refuse(struct cohort__call *call, cohort_status status,
                                   const char *why);

#endif
