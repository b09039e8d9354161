/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_SIM_JOBS_H
#define COHORT_COLLECTIVES_MODEL_SIM_JOBS_H

#include <stdbool.h>
#include <stdint.h>

/* The jobs of a simulation, which are what takes time: messages and reductions. And the queues in
 * which they wait. */

#define COHORT__NO_JOB UINT32_MAX

struct cohort__sim_job {
    uint64_t order;   /* jobs with a lower order go first */
    uint32_t step;    /* its SEND or REDUCE */
    uint32_t child;   /* in a queue: the first of its children */
    uint32_t sibling; /* in a queue: the next child of the same parent */
    uint8_t missing;  /* how many ends are not ready */
    bool was_delayed; /* by a link */
};

/* A queue is the number of its first job, or NO_JOB. It is a pairing heap, so that a job that is
 * added late still goes by its order. Each job is in at most one queue. */
void cohort__sim_queue_add(struct cohort__sim_job *jobs, uint32_t *queue, uint32_t job);

/* Takes the first job out. The queue must not be empty. */
uint32_t cohort__sim_queue_take(struct cohort__sim_job *jobs, uint32_t *queue);

#endif
