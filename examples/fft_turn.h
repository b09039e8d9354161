/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_FFT_TURN_H
#define COHORT_EXAMPLES_FFT_TURN_H

#include <complex.h>

#include "examples/sites.h"

/* Transposes a matrix of HEIGHT rows of WIDTH that all sites have together, by one all_to_allv: of
 * FROM, this site's share of the rows, to TO, its share of the columns, each of which is a row of
 * HEIGHT then. */
cohort_status fft_turn(struct site *site, const double complex *from, size_t height, size_t width,
                       double complex *to) COHORT_MUST_USE;

#endif
