/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_LAUNCH_H
#define COHORT_TESTS_SUPPORT_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/proc/process.h"

/* The launcher of localities that are in one process: cohortrun's state machine. Messages to it and
 * from it wait in lines, as in sockets, and are read when that is drawn from a seed. It numbers the
 * deaths, and drains the job. In a job that goes on without the dead it is the home of names. In
 * others it tells all of the first death, after which cohortrun would soon end them. */
struct launch;

/* From now on ENTER and LEAVE are called around what is not of a locality: for tests in which only
 * localities lack memory. */
void launch_watch(void (*enter)(void), void (*leave)(void));

/* KILL ends the process of RANK: nothing leaves it or reaches it from then on. Called from within
 * launch_turn, when somebody was accused. */
struct launch *launch_create(uint64_t seed, uint32_t num_localities, bool keeps_going,
                             void (*kill)(void *context, uint32_t rank), void *context);
void launch_destroy(struct launch *launch); /* NULL is fine */

/* What the options of RANK's process say of the launcher. */
void launch_set_options(struct launch *launch, uint32_t rank,
                        struct cohort__process_options *options);

/* All have joined, as PROCESSES by rank. */
void launch_begin(struct launch *launch, struct cohort__process *const *processes);

/* RANK's process has ended. All others hear of it when the launcher has noticed it. What still runs
 * of RANK here believes that all others are dead, and that no name can be joined. */
void launch_ended(struct launch *launch, uint32_t rank);

/* Some of the messages are read. Whether any are under way. */
bool launch_turn(struct launch *launch);

/* The programs of all that live have returned. */
void launch_finish(struct launch *launch);

/* Whether all that live may end. */
bool launch_is_over(struct launch *launch);

#endif
