/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_FFT_FILTER_H
#define COHORT_EXAMPLES_FFT_FILTER_H

#include <stddef.h>

/* What becomes of the frequency in COLUMN and ROW of the transform of a picture of WIDTH x HEIGHT:
 * a factor from 0 to 1, a bell curve whose width is CUTOFF of the highest frequency. */
double fft_filter(size_t column, size_t row, size_t width, size_t height, double cutoff);

#endif
