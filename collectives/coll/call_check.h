/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_CHECK_H
#define COHORT_COLLECTIVES_COLL_CALL_CHECK_H

#include "collectives/coll/call.h"

/* Checks the arguments of CALL, except those that describe blocks of different sizes: role,
 * options, buffers and operation. Sets is_in_place. */
cohort_status cohort__call_check(struct cohort__call *call);

/* The part of these checks that is needed even if the call is like the last one: where its buffers
 * are, and what is in them. */
cohort_status cohort__call_check_buffers(const struct cohort__call *call);

#endif
