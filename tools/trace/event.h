/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: a record as its readers see it. */
#ifndef COHORT_TOOLS_TRACE_EVENT_H
#define COHORT_TOOLS_TRACE_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/trace_format.h"

enum { NONE = UINT32_MAX }; /* no task, no call, no wait, no locality */

/* A record as its readers see it: with a time that all localities share, and with its MORE and its
 * TEXT. */
struct event {
    uint64_t at; /* ns */
    uint32_t rank;
    uint32_t thread;
    enum cohort__trace_kind kind;
    uint8_t small;
    uint64_t value, a, b, c, d;
    const char *text; /* "" if it has none. Of a part: valid until the next event of its thread. Of
                       * a trace it lasts, and a BEGIN has its function's name, a CALL that of the
                       * collective and its row */
    const char *from; /* of a CALL: the sites that it waits for, or ""; lasts as the text */
};

#endif
