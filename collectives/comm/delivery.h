/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_DELIVERY_H
#define COHORT_COLLECTIVES_COMM_DELIVERY_H

#include <stdbool.h>

#include "collectives/comm/actor.h"
#include "collectives/comm/group.h"
#include "runtime/proc/arrival.h"

/* From the inbox, which has found the group, to the endpoint that a message is for. */

/* Hands ARRIVAL, which it takes, to the endpoint that it is for, which is in this locality. False:
 * it is lost, which has been logged. By the thread that turns the event loop. */
bool cohort__delivery_arrive(struct cohort__group *group, struct cohort__arrival *arrival);

/* How the item of a message runs, see struct cohort__commons. */
void cohort__delivery_run(struct cohort__actor *actor, struct cohort__item *item);

#endif
