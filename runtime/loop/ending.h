/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_ENDING_H
#define COHORT_RUNTIME_LOOP_ENDING_H

#include "cohort/status.h"

struct cohort__loop;

/* Waits for the end of a process that need not be a child of this one. All functions here may be
 * called only by the loop's holder. */
struct cohort__ending;

/* Calls ENDED(CONTEXT) once when the process PID has ended, or at once (from the loop) if it has
 * and nobody has asked for its status yet. How it has ended only its parent learns. Does not keep
 * cohort__loop_run from ending. Fails if there is no such process (any more), or no descriptor. */
cohort_status cohort__ending_open(struct cohort__ending **ret_ending, struct cohort__loop *loop,
                                  int pid, void (*ended)(void *context), void *context);

/* May be called by ENDED. NULL is fine. */
void cohort__ending_close(struct cohort__ending *ending);

#endif
