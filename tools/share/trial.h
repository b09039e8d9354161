/* SPDX-License-Identifier: Apache-2.0 */
/* tools: times single algorithms in a communicator. */
#ifndef COHORT_TOOLS_SHARE_TRIAL_H
#define COHORT_TOOLS_SHARE_TRIAL_H

#include <cohort/cohort.h>

#include "collectives/algo/algorithm.h"

/* Timing single algorithms: the sites of a communicator make the calls that site 0 tells them to,
 * one after the other. For cohort-tune and cohort-bench. */

/* What is called. */
struct trial {
    uint32_t collective; /* enum cohort__collective; all but EXCHANGE */
    uint32_t row;        /* of the table of algorithms */
    uint64_t bytes;      /* of a block; a multiple of 8 */
};

/* Site 0's side. */
struct trial_lead;

struct trial_group {
    const char *name;            /* of the communicator */
    cohort_comm_options options; /* num_sites, and what else is wanted */
    bool is_spread;              /* site i is in locality i; else all are in locality 0 */
    /* Site 0's task: makes trials, then returns. */
    cohort_status (*lead)(struct trial_lead *lead, void *arg);
    void *arg;
};

/* In every locality of the job, within a task; returns when the sites of this one are done. */
cohort_status trial_group_run(const struct trial_group *group);

/* The rest is for LEAD. */
cohort_comm *trial_comm(struct trial_lead *lead);

/* The call that TRIAL describes. */
struct cohort__request trial_request(struct trial_lead *lead, const struct trial *trial);

/* The rows that can carry it out, in the order of the table; returns how many, at most MAX. */
uint32_t trial_rows(struct trial_lead *lead, const struct trial *trial, uint32_t *ret_rows,
                    uint32_t max);

/* The bytes that the trial takes at all sites together. */
double trial_memory(struct trial_lead *lead, const struct trial *trial);

/* Makes CALLS calls, after a barrier; the time of one in nanoseconds, at site 0. */
cohort_status trial_time(struct trial_lead *lead, const struct trial *trial, uint64_t calls,
                         double *ret_ns);

/* The calls that fill ROUND_NS when one takes CALL_NS; 1 to 1000. */
uint64_t trial_calls(double call_ns, double round_ns);

double trial_median(double *values, unsigned count); /* sorts them */

uint64_t trial_now(void); /* nanoseconds */

#endif
