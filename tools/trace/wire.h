/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: reads messages of protobuf. */
#ifndef COHORT_TOOLS_TRACE_WIRE_H
#define COHORT_TOOLS_TRACE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is left of a message. */
struct wire {
    const unsigned char *at, *end;
    bool is_damaged;
};

struct wire_field {
    uint32_t number;
    uint64_t value;   /* of a number */
    struct wire data; /* of a text or a message; else empty */
};

/* False: there is no more, or what follows makes no sense (is_damaged). */
bool wire_next(struct wire *wire, struct wire_field *ret_field);

#endif
