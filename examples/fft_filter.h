/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_FFT_FILTER_H
#define COHORT_EXAMPLES_FFT_FILTER_H

#include <stddef.h>

/* The factor, from 0 to 1, for the frequency in COLUMN and ROW of the transform of a picture of
 * WIDTH x HEIGHT. It is a bell curve, whose width is CUTOFF of the highest frequency. */
double fft_filter(size_t column, size_t row, size_t width, size_t height, double cutoff);

#endif
