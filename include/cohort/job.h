/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_JOB_H
#define COHORT_JOB_H

#include <stdint.h>

#include "cohort/task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs PROGRAM(ARG) as the first task of this locality, with the calling thread as its first
 * worker, and returns main's status: 0, or 1 where the program, or the start of the job, failed;
 * cohort_error_message() then says why, and one line on stderr as well: cohortrun's, or, without
 * it, this function's own. It returns when the program of every locality of the job
 * has returned, their tasks have ended and no message is under way. ARGC and ARGV are the
 * program's own; nothing is taken out of them. Descriptors 0, 1 and 2 are opened at /dev/null where
 * they are closed.
 *
 * Started by cohortrun, the process is one locality of its job; alone, it is a job of one. An exit
 * without returning from cohort_main is the death of this locality and ends the job.
 *
 * Environment: COHORT_WORKERS (threads that run tasks, at most 4096; 1), COHORT_SPIN
 * (microseconds, at most 1000000, for which a worker that waits looks for what comes before it
 * gives its core away, unless that turns out to bring nothing, or to keep others from the core; 0:
 * not at all; 100, or 0 where the host's localities have more workers than cores), COHORT_STACK
 * (bytes of a task's stack; 262144), COHORT_NET (shm or ofi for all messages; without it shared
 * memory within a host, libfabric between hosts), COHORT_EAGER_BUDGET (bytes that one peer may have
 * sent unasked; 262144), COHORT_OFI_PROVIDER, COHORT_OFI_ADDRESS, COHORT_CHECK_ASYMMETRIC (1:
 * agreement before gather and scatter, see collectives.h; 0), COHORT_TUNE (a file of cohort-tune,
 * instead of the one in the configuration folder), COHORT_GRACE (under another launcher than
 * cohortrun: seconds in which a locality may end by itself when the job is broken; 1), COHORT_LOG
 * (error, warn, info, debug: on stderr; off). What any of them can't be is an error at the start;
 * of COHORT_CHECK_ASYMMETRIC and COHORT_TUNE, when the first communicator is created.
 *
 * Called once in a process, from a thread that runs no task. */
COHORT_API int cohort_main(int argc, char **argv, cohort_task_function *program, void *arg);

/* This locality's number in the job, and how many there are. In tasks; 0 and 1 before cohort_main.
 */
COHORT_API uint32_t cohort_locality(void);
COHORT_API uint32_t cohort_num_localities(void);

/* The number of workers of this locality. In tasks; 0 before cohort_main. */
COHORT_API uint32_t cohort_num_workers(void);

#ifdef __cplusplus
}
#endif

#endif
