/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: whether anything moves on this host, and when to say that nothing does. */
#ifndef COHORT_TOOLS_COHORTRUN_MOTION_H
#define COHORT_TOOLS_COHORTRUN_MOTION_H

#include <stdbool.h>
#include <stdint.h>

struct locality;

/* Looks at localities without asking them anything: at their ledgers, and at the CPU time of their
 * processes. So one that is stopped does not move, and one that computes does. */
struct motion;

enum motion_result {
    /* No program that runs here writes a ledger: it has not begun, is over, or is none of Cohort.
     * Nothing can be said of those. */
    MOTION_UNKNOWN,
    /* Nothing has moved since the last look, and nothing will by itself. */
    MOTION_STILL,
    /* Something has moved: tasks began or ended, collectives were called, messages came; a process
     * has computed for more than 2 % of the time. Or a task waits for something from outside of the
     * job, as a timer, a file, a connection, or a call in a thread of its own. */
    MOTION_MOVES,
    MOTION_NUM_RESULTS
};

/* For the NUM LOCALITIES of this host, which have to stay, and their ledgers in MEMORY, which stays
 * the caller's; -1: they have none. NULL: no memory. */
struct motion *motion_create(const struct locality *localities, uint32_t num, int memory);

/* NULL is fine. */
void motion_destroy(struct motion *motion);

/* What was between the last look and this one, at NOW in nanoseconds of the clock. The first look
 * finds that something moves. */
enum motion_result motion_look(struct motion *motion, uint64_t now);

/* Counts the time in which nothing has moved. When that is the limit, it is to be said, once.
 * When something has moved after that, the limit is twice as long. */
struct stall {
    uint64_t limit;    /* all in nanoseconds */
    uint64_t interval; /* between two looks */
    uint64_t quiet;    /* for so long nothing has moved */
    bool is_said;
};

/* LIMIT_NS: at first; not 0. */
void stall_init(struct stall *stall, uint64_t limit_ns);

/* Something has moved. */
void stall_moved(struct stall *stall);

/* A look, ELAPSED nanoseconds after the one before, that has found that nothing moves. Of a longer
 * time than two intervals, in which this process itself had no core or was stopped, only these
 * count. True: say that nothing has moved for stall->limit. */
bool stall_still(struct stall *stall, uint64_t elapsed);

#endif
