/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: when to say that nothing moves. */
#ifndef COHORT_TOOLS_COHORTRUN_STALL_H
#define COHORT_TOOLS_COHORTRUN_STALL_H

#include <stdbool.h>
#include <stdint.h>

/* Counts the time in which nothing has moved. When that is the patience, it is to be said, once.
 * When something has moved after that, the patience is twice as long. */
struct stall {
    uint64_t patience; /* all in nanoseconds */
    uint64_t interval; /* between two looks */
    uint64_t quiet;    /* for so long nothing has moved */
    bool is_said;
};

/* PATIENCE_NS: at first; not 0. */
void stall_init(struct stall *stall, uint64_t patience_ns);

/* Something has moved. */
void stall_moved(struct stall *stall);

/* A look, ELAPSED nanoseconds after the one before, that has found that nothing moves. Of a longer
 * time than two intervals, in which this process itself had no core or was stopped, only these
 * count. True: say that nothing has moved for stall->patience. */
bool stall_still(struct stall *stall, uint64_t elapsed);

#endif
