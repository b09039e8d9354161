/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: tracks of one name, for what may overlap. */
#ifndef COHORT_TOOLS_TRACE_LANES_H
#define COHORT_TOOLS_TRACE_LANES_H

#include <stdint.h>

#include "tools/trace/perfetto.h"

/* On each there is one thing at a time. They are made when they are needed. */
struct lanes {
    uint64_t parent;
    struct lane {
        uint64_t track, until; /* it is taken */
    } * list;
    uint32_t num, most;
    char name[340];
};

void lanes_init(struct lanes *lanes, uint64_t parent, const char *name, uint32_t most);

/* All zero is fine. */
void lanes_fini(struct lanes *lanes);

/* The track of the first one that is free from BEGIN on; it is taken until END. 0: all are taken,
 * or there is no memory, as PERFETTO knows then. */
uint64_t lanes_take(struct lanes *lanes, struct perfetto *perfetto, uint64_t begin, uint64_t end);

/* It is free from AT on. */
void lanes_give_back(struct lanes *lanes, uint64_t track, uint64_t at);

/* Shows SLICE, which begins at its time and lasts until END. They come by END. */
void lanes_show(struct lanes *lanes, struct perfetto *perfetto, struct perfetto_event slice,
                uint64_t end);

#endif
