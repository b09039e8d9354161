/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: whether anything moves in the localities of this host. */
#ifndef COHORT_TOOLS_COHORTRUN_MOTION_H
#define COHORT_TOOLS_COHORTRUN_MOTION_H

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

#endif
