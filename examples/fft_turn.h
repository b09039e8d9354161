/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_FFT_TURN_H
#define COHORT_EXAMPLES_FFT_TURN_H

#include <complex.h>

#include "examples/sites.h"

/* Transposes a matrix of HEIGHT rows of WIDTH that is spread over all sites, by one all_to_allv.
 * FROM is this site's share of the rows. TO is its share of the columns, each of which is a row of
 * HEIGHT then. */
cohort_status fft_turn(struct site *site, const double complex *from, size_t height, size_t width,
                       double complex *to) COHORT_MUST_USE;

#endif
