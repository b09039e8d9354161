/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_SHAPE_H
#define COHORT_COLLECTIVES_COLL_CALL_SHAPE_H

#include "collectives/coll/call.h"

/* The shape of CALL. Fails if the blocks are wrong. */
cohort_status cohort__call_shape(const struct cohort__call *call, struct cohort__shape *ret_shape);

#endif
