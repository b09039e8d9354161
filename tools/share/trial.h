/* SPDX-License-Identifier: Apache-2.0 */
/* tools: times single algorithms in a communicator. */
#ifndef COHORT_TOOLS_SHARE_TRIAL_H
#define COHORT_TOOLS_SHARE_TRIAL_H

#include <cohort/cohort.h>

#include "collectives/algo/algorithm.h"

/* Times single algorithms, for cohort-tune and cohort-bench. The sites of a communicator make the
 * calls that site 0 tells them to make, one after the other. */

/* What is called. */
struct trial {
    uint32_t collective; /* enum cohort__collective; all except EXCHANGE */
    uint32_t row;        /* of the table of algorithms */
    uint64_t bytes;      /* of a block; a multiple of 8 */
};

/* Site 0's side. */
struct trial_lead;

struct trial_group {
    const char *name;            /* of the communicator */
    cohort_comm_options options; /* num_sites, and what else is wanted */
    uint32_t per_locality;       /* so many consecutive sites are in each, from locality 0 on */
    /* Site 0's task: makes trials, then returns. */
    cohort_status (*lead)(struct trial_lead *lead, void *arg);
    void *arg;
};

/* To be called in every locality of the job, within a task. Returns when the sites of this locality
 * are done. */
cohort_status trial_group_run(const struct trial_group *group);

/* The rest is for LEAD. */
cohort_comm *trial_comm(struct trial_lead *lead);

/* The call that TRIAL describes. */
struct cohort__request trial_request(struct trial_lead *lead, const struct trial *trial);

/* The rows that can carry out TRIAL, in the order of the table. Returns how many, at most MAX. */
uint32_t trial_rows(struct trial_lead *lead, const struct trial *trial, uint32_t *ret_rows,
                    uint32_t max);

/* The bytes that TRIAL takes at all sites together. */
double trial_memory(struct trial_lead *lead, const struct trial *trial);

/* Makes CALLS calls, after a barrier. RET_NS: the time of one call in nanoseconds, at site 0. */
cohort_status trial_time(struct trial_lead *lead, const struct trial *trial, uint64_t calls,
                         double *ret_ns);

enum { TRIAL_MAX_ROWS = 64 }; /* that take turns; no collective has as many */

/* The NUM rows ROWS take TURNS turns. In each turn each of them makes a call that is not timed,
 * then CALLS calls that are, and each turn begins with another row. There is a barrier behind calls
 * that a site can leave before all have begun, and it is timed, too. RET_NS: num x turns times of
 * one call at site 0; ret_ns[i * turns + t] is of rows[i] in turn t. TRIAL's own row does not
 * count. */
cohort_status trial_alternate(struct trial_lead *lead, const struct trial *trial,
                              const uint32_t *rows, uint32_t num, uint64_t turns, uint64_t calls,
                              double *ret_ns);

/* How many calls fill ROUND_NS if one takes CALL_NS: 1 to 1000. */
uint64_t trial_calls(double call_ns, double round_ns);

double trial_median(double *values, unsigned count); /* sorts them */

uint64_t trial_now(void); /* nanoseconds */

#endif
