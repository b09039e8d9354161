/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_BYTES_H
#define COHORT_COLLECTIVES_COLL_CALL_BYTES_H

#include "collectives/coll/call.h"

/* How much CALL gives and gets, as cohort_hook_call says. CALL has been checked. */
struct cohort__hook_bytes cohort__call_bytes(const struct cohort__call *call);

#endif
