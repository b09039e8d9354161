/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: times all algorithms on one communicator. */
#ifndef COHORT_TOOLS_TUNE_MEASURE_H
#define COHORT_TOOLS_TUNE_MEASURE_H

#include "tools/tune/samples.h"

enum {
    TUNE_PASSES = 3,      /* that a median should have at least */
    TUNE_MAX_PASSES = 15, /* after which there is no use in more */
};

/* Measuring all rows of all collectives but exchange on one communicator. */
struct tune_measure {
    uint32_t num_sites;
    bool is_spread;      /* each site in a locality of its own; else all in locality 0 */
    unsigned max_passes; /* at most TUNE_MAX_PASSES */
    uint64_t end;        /* by trial_now() in locality 0 */
};

/* In every locality of the job, within a task. Adds a sample, in locality 0, for each row and each
 * size of the knots that there is time and memory for: the median of a round in each of several
 * passes over all of them. The first pass looks at everything with few calls, small blocks first,
 * and leaves out the larger blocks of a row that must be far slower than another one. */
cohort_status tune_measure_run(const struct tune_measure *measure, struct tune_samples *samples);

/* The time that a communicator or a job of so many sites needs, relative to others. */
unsigned tune_measure_weight(uint32_t num_sites);

/* The weights of 2, 4, 8, ... sites up to MAX_SITES together. */
unsigned tune_measure_weights(uint32_t max_sites);

#endif
