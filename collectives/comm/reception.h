/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_RECEPTION_H
#define COHORT_COLLECTIVES_COMM_RECEPTION_H

#include "collectives/comm/endpoint.h"
#include "collectives/comm/message.h"

/* In the endpoint's turn: a message has come in. Takes MESSAGE. What becomes of it depends on its
 * generation. It may be OPEN: it is in flight. EARLY: it has not started here, or its sites have
 * yet to agree, and the message is parked until then. STALE: it is over, or was left out. */
void cohort__endpoint_receive(struct cohort_comm *comm, struct cohort__message *message);

#endif
