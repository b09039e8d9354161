/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the way of the data of a call, back to the site that came last. */
#ifndef COHORT_TOOLS_TRACE_WAY_H
#define COHORT_TOOLS_TRACE_WAY_H

#include <stdint.h>

#include "tools/trace/model.h"

/* The call that CALL's end, before BEFORE, had to wait for: by what the collective means
 * (model_last), or, if that came later, that of a site which passed on what CALL needs: a relay in
 * a tree. It may be CALL itself. */
uint32_t way_last(const struct model *model, uint32_t call, uint64_t before);

#endif
