/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/sim_jobs.h"

/* Merges two heaps into one. */
static uint32_t merged(struct cohort__sim_job *jobs, uint32_t a, uint32_t b)
{
    if (a == COHORT__NO_JOB || b == COHORT__NO_JOB)
        return a == COHORT__NO_JOB ? b : a;
    uint32_t first = jobs[a].order < jobs[b].order ? a : b;
    uint32_t second = first == a ? b : a;
    jobs[second].sibling = jobs[first].child;
    jobs[first].child = second;
    return first;
}

void cohort__sim_queue_add(struct cohort__sim_job *jobs, uint32_t *queue, uint32_t job)
{
    jobs[job].child = COHORT__NO_JOB;
    jobs[job].sibling = COHORT__NO_JOB;
    *queue = merged(jobs, *queue, job);
}

/* Merges the children of a removed job into one heap: first in pairs from left to right, then all
 * pairs from right to left. */
static uint32_t merge_siblings(struct cohort__sim_job *jobs, uint32_t first)
{
    uint32_t pairs = COHORT__NO_JOB; /* a list, the last one first */
    while (first != COHORT__NO_JOB) {
        uint32_t second = jobs[first].sibling;
        uint32_t next = second == COHORT__NO_JOB ? COHORT__NO_JOB : jobs[second].sibling;
        uint32_t pair = merged(jobs, first, second);
        jobs[pair].sibling = pairs;
        pairs = pair;
        first = next;
    }
    uint32_t all = COHORT__NO_JOB;
    while (pairs != COHORT__NO_JOB) {
        uint32_t next = jobs[pairs].sibling;
        jobs[pairs].sibling = COHORT__NO_JOB;
        all = merged(jobs, all, pairs);
        pairs = next;
    }
    return all;
}

uint32_t cohort__sim_queue_take(struct cohort__sim_job *jobs, uint32_t *queue)
{
    uint32_t first = *queue;
    *queue = merge_siblings(jobs, jobs[first].child);
    return first;
}
