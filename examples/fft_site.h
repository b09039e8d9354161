/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_FFT_SITE_H
#define COHORT_EXAMPLES_FFT_SITE_H

#include "examples/command.h"
#include "examples/sites.h"

struct fft_options {
    uint32_t cutoff; /* percent of the highest frequency */
    const char *in;
    const char *out;
};

/* A site that filters a picture with others; its work is a struct fft_options. */
cohort_status fft_site_run(struct site *site);

#endif
