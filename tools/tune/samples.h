/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: the list of measured times, and its lines between jobs. */
#ifndef COHORT_TOOLS_TUNE_SAMPLES_H
#define COHORT_TOOLS_TUNE_SAMPLES_H

#include <stdio.h>

#include "tools/tune/fit.h"

/* A growing list; zeroes are an empty one. */
struct tune_samples {
    struct tune_sample *all;
    size_t num;
    size_t capacity;
};

/* All tasks of one locality, or each site in one of its own. */
struct cohort__placement tune_samples_placement(enum cohort__scope scope, uint32_t num_sites);

/* COHORT_ERR_NO_MEMORY; the list is as it was. */
cohort_status tune_samples_add(struct tune_samples *samples, const struct tune_sample *sample);

/* Each in one line, which tune_samples_read takes to the same numbers. COHORT_ERR_SYSTEM. */
cohort_status tune_samples_print(const struct tune_samples *samples, FILE *file);

/* Adds what LINE says. COHORT_ERR_BAD_PARAMETER: it is no sample; COHORT_ERR_NO_MEMORY. */
cohort_status tune_samples_read(struct tune_samples *samples, const char *line);

void tune_samples_fini(struct tune_samples *samples);

#endif
