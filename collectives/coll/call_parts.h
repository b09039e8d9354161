/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_PARTS_H
#define COHORT_COLLECTIVES_COLL_CALL_PARTS_H

#include "collectives/coll/call.h"

/* Describes the blocks of a ragged call in SHAPE: in its request, its tail and its counts_hash.
 * Fails if blocks end beyond memory or sites are out of range. */
cohort_status cohort__call_parts(const struct cohort__call *call, struct cohort__shape *shape);

#endif
