/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the site that a call waited for in vain. */
#ifndef COHORT_TOOLS_TRACE_ABSENT_H
#define COHORT_TOOLS_TRACE_ABSENT_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/trace/model.h"

struct absent {
    uint32_t site;
    uint32_t call; /* which came later; NONE: the site has never called */
};

/* Which of those that CALL needs had not called by AT: by what the collective means, or else by the
 * steps of the call that are not over. Of several the lowest one that never called; if all have
 * called later, the last one. False: all had called. */
bool absent_find(const struct model *model, uint32_t call, uint64_t at, struct absent *ret_absent);

/* CALL, an exchange, waited at AT for a block that its sender had left out, though it had called:
 * that one's call. NONE: it did not. */
uint32_t absent_sender(const struct model *model, uint32_t call, uint64_t at);

/* The first site from SITE on that CALL needs by what the collective means, and which has never
 * called. NONE: there is none. */
uint32_t absent_next(const struct model *model, uint32_t call, uint32_t site);

#endif
