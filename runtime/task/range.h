/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_RANGE_H
#define COHORT_RUNTIME_TASK_RANGE_H

#include "cohort/status.h"

/* A range of indices (cohort/parallel.h) is worked off by runners. A runner is a task with a part
 * of the range. It runs one index after the other. It gives half of what it has left to a new
 * runner if some worker is idle, and all of it if its call of an index suspends. */
struct cohort__range_runner;

/* The function of a runner's task. ARG is the runner. cohort__range_cancel is called instead if the
 * task never runs. */
cohort_status cohort__range_run(void *arg);
void cohort__range_cancel(void *arg);

/* To be called before a task suspends, with the innermost RUNNER on its stack, which is not NULL:
 * what it and those below it have left goes on without them. */
void cohort__range_hand_on(struct cohort__range_runner *runner);

#endif
