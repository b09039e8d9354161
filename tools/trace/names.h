/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: how functions, collectives and communicators are called. */
#ifndef COHORT_TOOLS_TRACE_NAMES_H
#define COHORT_TOOLS_TRACE_NAMES_H

#include <stdbool.h>

#include "runtime/base/map.h"
#include "tools/trace/event.h"
#include "tools/trace/part.h"

/* Gives EVENT, of PART, a text that is in NAMES, and lasts as long: of a BEGIN and a SUSPEND that
 * of the function, of a CALL that of the collective and its row; of a ROW and an ENDPOINT its own.
 * NAMES, which keyed_free frees, is empty at first. False: no memory. */
bool names_give(struct cohort__map *names, struct part *part, struct event *event);

#endif
