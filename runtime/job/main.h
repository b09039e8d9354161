/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_JOB_MAIN_H
#define COHORT_RUNTIME_JOB_MAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/task.h"
#include "runtime/task/task.h"

/* A run of the runtime: from its start, over a program, to the end of the job. */

struct cohort__run_options {
    cohort_task_function *program;
    cohort__any_function *shown; /* what its task is called, see task.h */
    void *arg;
    uint32_t workers; /* how many, where neither the launcher nor the settings say so; or 0 */
    bool owns_output; /* standard output may be made line-buffered */
    bool may_return;  /* another run may follow in the next job of this launcher */
};

/* A process has one run at a time, and none after that of a launcher's job. From now on this is
 * FUNCTION's. COHORT_ERR_STATE. */
cohort_status cohort__run_claim(const char *function);

/* The run that was claimed, once, with the calling thread as the first worker. Returns the status
 * of the program, or why there was no run, with its message, of which a launcher has been told.
 * *RET_IS_LAUNCHED: there is one that prints it. */
cohort_status cohort__run(const struct cohort__run_options *options, bool *ret_is_launched);

/* Instead of the run that was claimed: it can't be begun, for the reason in the error slot, of
 * which a launcher is told. */
void cohort__run_refuse(void);

/* The end of the claim, after the run or without one. */
void cohort__run_release(void);

#endif
