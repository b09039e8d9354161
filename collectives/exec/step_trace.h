/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_STEP_TRACE_H
#define COHORT_COLLECTIVES_EXEC_STEP_TRACE_H

#include <stdint.h>

#include "collectives/comm/operation.h"
#include "runtime/base/trace_format.h"

/* What a trace says of a step of a call: its phase, and how far apart the sites are that take part
 * in it. Only called if there is a trace. */

struct cohort__step_trace {
    enum cohort__trace_step what;
    uint32_t phase, peer, tag, level; /* as in the record */
};

/* The finest level at which SITE and the one of the call are together; the number of levels, if
 * they are at none. */
uint32_t cohort__step_trace_level(const struct cohort__operation *operation, uint32_t site);

/* The finest level at which all sites are together. */
uint32_t cohort__step_trace_level_of_all(const struct cohort__operation *operation);

/* KIND: COHORT__TRACE_STEP or _OVER. */
void cohort__step_trace_write(const struct cohort__operation *operation,
                              enum cohort__trace_kind kind, const struct cohort__step_trace *step);

#endif
