/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TRACE_EVENT_H
#define COHORT_RUNTIME_TRACE_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/trace_format.h"

/* A record as its readers see it: with a time that all localities share, and with its MORE and its
 * TEXT. */
struct cohort__trace_event {
    uint64_t at; /* ns */
    uint32_t rank;
    uint32_t thread;
    enum cohort__trace_kind kind;
    uint8_t small;
    uint64_t value, a, b, c, d;
    const char *text; /* "" if it has none; valid until the next event of its thread */
    const char *from; /* of a CALL; the same */
};

#endif
