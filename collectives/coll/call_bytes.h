/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_BYTES_H
#define COHORT_COLLECTIVES_COLL_CALL_BYTES_H

#include "collectives/coll/call.h"

/* How much CALL gives and gets, as cohort_hook_call says. CALL has been checked. */
struct cohort__hook_bytes cohort__call_bytes(const struct cohort__call *call);

/* The size of IN of CALL, or if IS_OUT of its OUT, whose blocks are all of one size. The count has
 * been checked. 0: the call has none. */
size_t cohort__call_array_bytes(const struct cohort__call *call, bool is_out);

/* Whether IN of CALL, or if IS_OUT its OUT, has a block for each site, if blocks have one size. */
bool cohort__call_has_block_for_each(const struct cohort__call *call, bool is_out);

#endif
