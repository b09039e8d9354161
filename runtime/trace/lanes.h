/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TRACE_LANES_H
#define COHORT_RUNTIME_TRACE_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/trace/perfetto.h"

/* Tracks of one name, for what may overlap: on each there is one thing at a time. They are made
 * when they are needed. */
struct cohort__lanes {
    uint64_t parent;
    uint64_t *tracks; /* of those that were made */
    bool *are_taken;
    uint64_t *until; /* for free_at: until when each is taken */
    uint32_t num, most;
    char name[340];
};

/* False: no memory. */
bool cohort__lanes_init(struct cohort__lanes *lanes, uint64_t parent, const char *name,
                        uint32_t most);

/* All zero is fine. */
void cohort__lanes_fini(struct cohort__lanes *lanes);

/* The first one that is free. -1: all are taken. */
int cohort__lanes_take(struct cohort__lanes *lanes, struct cohort__perfetto *perfetto);
void cohort__lanes_give_back(struct cohort__lanes *lanes, int lane);
/* In place of the two: the track of the first one that is free from BEGIN to END. It is asked for
 * by END. 0: none is. */
uint64_t cohort__lanes_free_at(struct cohort__lanes *lanes, struct cohort__perfetto *perfetto,
                               uint64_t begin, uint64_t end);
uint64_t cohort__lanes_track(const struct cohort__lanes *lanes, int lane);

#endif
