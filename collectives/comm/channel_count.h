/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_CHANNEL_COUNT_H
#define COHORT_COLLECTIVES_COMM_CHANNEL_COUNT_H

#include "collectives/comm/endpoint.h"

/* In the endpoint's turn: a set or a get has begun, or is over. After the last one the endpoint may
 * be idle. */
void cohort__channels_begun(struct cohort_comm *comm);
void cohort__channels_over(struct cohort_comm *comm);

#endif
