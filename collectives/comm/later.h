/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_LATER_H
#define COHORT_COLLECTIVES_COMM_LATER_H

#include "collectives/comm/endpoint.h"

/* What an endpoint leaves for a later turn of the event loop, which has other things to do. */

/* In the endpoint's turn: its event `more` is to be posted then. */
void cohort__later_more(struct cohort_comm *comm);

/* By the event loop: lets one of those endpoints go on. Returns whether there are others. */
bool cohort__later_go_on(struct cohort__commons *commons);

#endif
