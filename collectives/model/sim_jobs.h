/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_SIM_JOBS_H
#define COHORT_COLLECTIVES_MODEL_SIM_JOBS_H

#include <stdbool.h>
#include <stdint.h>

/* What takes time in a simulation, messages and reductions, and the queues in which they wait. */

#define COHORT__NO_JOB UINT32_MAX

struct cohort__sim_job {
    uint64_t order;   /* the lower one goes first */
    uint32_t step;    /* the SEND or the REDUCE */
    uint32_t child;   /* in a queue: the first of those right behind it */
    uint32_t sibling; /* the next one of these */
    uint8_t missing;  /* ends that are not ready */
    bool was_delayed; /* by a link */
};

/* A queue is the number of its first job, or NO_JOB: a pairing heap, so that a job may come late
 * and still go by its order. Each job is in one queue at most. */
void cohort__sim_queue_add(struct cohort__sim_job *jobs, uint32_t *queue, uint32_t job);

/* Takes the first one out, of a queue that has one. */
uint32_t cohort__sim_queue_take(struct cohort__sim_job *jobs, uint32_t *queue);

#endif
