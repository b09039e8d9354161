/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_PENDING_LINE_H
#define COHORT_COLLECTIVES_COMM_PENDING_LINE_H

#include <stdint.h>

#include "collectives/comm/endpoint.h"

/* Writes into the ledger what the endpoint has in flight: its calls, gets and sets. To be
 * called by a tick that finds what the one before has found, too, so calls that end in time never
 * pay for it. STALLED: the generation of a call that has just asked the others, and is described,
 * too; or 0. In the endpoint's turn. */
void cohort__pending_line_write(struct cohort_comm *comm, uint64_t stalled);
void cohort__pending_line_give_back(struct cohort_comm *comm);

#endif
