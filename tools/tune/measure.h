/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: times all algorithms on one communicator. */
#ifndef COHORT_TOOLS_TUNE_MEASURE_H
#define COHORT_TOOLS_TUNE_MEASURE_H

#include "tools/tune/samples.h"

enum {
    TUNE_PASSES = 3,      /* which a median should have at least */
    TUNE_MAX_PASSES = 15, /* after which there is no use in more */
};

/* Measures all rows of all collectives except exchange on one communicator. */
struct tune_measure {
    uint32_t num_sites;
    /* TASKS: all in locality 0; else each in a locality of its own. */
    enum cohort__distance distance;
    uint32_t sharing;    /* of the placement */
    unsigned max_passes; /* at most TUNE_MAX_PASSES */
    uint64_t end;        /* by trial_now() in locality 0 */
};

/* To be called in every locality of the job, within a task. In locality 0 it adds a sample for each
 * row and each size of the knots that there is time and memory for, and for the smallest size in
 * any case: the median of several rounds, one in each pass over all of them. The first pass makes
 * few calls of everything, small blocks first. It leaves out the larger blocks of a row that must
 * be far slower than another row. */
cohort_status tune_measure_run(const struct tune_measure *measure, struct tune_samples *samples);

/* The time that a communicator or a job of so many sites needs, relative to others. */
unsigned tune_measure_weight(uint32_t num_sites);

/* The sum of the weights of 2, 4, 8, ... sites up to MAX_SITES. */
unsigned tune_measure_weights(uint32_t max_sites);

#endif
