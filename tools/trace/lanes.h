/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: tracks of one name, for what may overlap. */
#ifndef COHORT_TOOLS_TRACE_LANES_H
#define COHORT_TOOLS_TRACE_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/trace/perfetto.h"

/* Tracks of one name, for what may overlap: on each there is one thing at a time. They are made
 * when they are needed. */
struct lanes {
    uint64_t parent;
    uint64_t *tracks; /* of those that were made */
    bool *are_taken;
    uint64_t *until; /* for free_at: until when each is taken */
    uint32_t num, most;
    char name[340];
};

/* False: no memory. */
bool lanes_init(struct lanes *lanes, uint64_t parent, const char *name, uint32_t most);

/* All zero is fine. */
void lanes_fini(struct lanes *lanes);

/* The first one that is free. -1: all are taken. */
int lanes_take(struct lanes *lanes, struct perfetto *perfetto);
void lanes_give_back(struct lanes *lanes, int lane);
/* In place of the two: the track of the first one that is free from BEGIN to END. It is asked for
 * by END. 0: none is. */
uint64_t lanes_free_at(struct lanes *lanes, struct perfetto *perfetto, uint64_t begin,
                       uint64_t end);
uint64_t lanes_track(const struct lanes *lanes, int lane);

#endif
