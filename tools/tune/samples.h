/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: the list of measured times, and its lines between jobs. */
#ifndef COHORT_TOOLS_TUNE_SAMPLES_H
#define COHORT_TOOLS_TUNE_SAMPLES_H

#include <stdio.h>

#include "tools/tune/fit.h"

/* A list that grows. All zero: an empty list. */
struct tune_samples {
    struct tune_sample *all;
    size_t num;
    size_t capacity;
};

/* Where the sites are: all in one locality as its tasks, or each in a locality of its own, or each
 * on a host of its own, of which up to SHARING share cores. */
struct cohort__placement tune_samples_placement(enum cohort__distance distance, uint32_t num_sites,
                                                uint32_t sharing);

/* COHORT_ERR_NO_MEMORY: the list is as it was. */
cohort_status tune_samples_add(struct tune_samples *samples, const struct tune_sample *sample);

/* Prints each in a line, from which tune_samples_read gets the same numbers. COHORT_ERR_SYSTEM. */
cohort_status tune_samples_print(const struct tune_samples *samples, FILE *file);

/* Adds the sample of LINE. COHORT_ERR_BAD_PARAMETER: it is no sample; COHORT_ERR_NO_MEMORY. */
cohort_status tune_samples_read(struct tune_samples *samples, const char *line);

void tune_samples_fini(struct tune_samples *samples);

#endif
