/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_CHECK_H
#define COHORT_COLLECTIVES_COLL_CALL_CHECK_H

#include "collectives/coll/call.h"

/* Whether IN_BYTES at IN and OUT_BYTES at OUT have none in common. */
static inline bool cohort__are_apart(uintptr_t in, size_t in_bytes, uintptr_t out, size_t out_bytes)
{
    return in + in_bytes <= out || out + out_bytes <= in || in_bytes == 0 || out_bytes == 0;
}

/* Checks the arguments of CALL, except those that describe blocks of different sizes: role,
 * options, buffers and operation. Sets is_in_place. */
cohort_status cohort__call_check(struct cohort__call *call);

/* The part of these checks that is needed even if the call is like the last one: where its buffers
 * are, and what is in them. */
cohort_status cohort__call_check_buffers(const struct cohort__call *call);

#endif
