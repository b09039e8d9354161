/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CAN_MEET_H
#define COHORT_COLLECTIVES_COLL_CAN_MEET_H

#include <stdbool.h>
#include <stddef.h>

#include "cohort/comm.h"
#include "collectives/algo/algorithm.h"

/* call_shape.c. Whether the sites of COMM may meet for COLLECTIVE with blocks of BYTES. They must
 * be in one locality, or share a board with room for what they bring. All sites come to the same
 * answer. */
bool cohort__call_can_meet(const cohort_comm *comm, enum cohort__collective collective,
                           size_t bytes);

#endif
