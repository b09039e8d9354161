/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/fft_filter.h"

#include <math.h>

/* The frequency at INDEX, from 0 to 1, the highest. The upper half of a transform holds the
 * negative frequencies. */
static double frequency(size_t index, size_t length)
{
    size_t distance = index <= length / 2 ? index : length - index;
    return 2.0 * (double)distance / (double)length;
}

double fft_filter(size_t column, size_t row, size_t width, size_t height, double cutoff)
{
    double x = frequency(column, width) / cutoff;
    double y = frequency(row, height) / cutoff;
    return exp(-(x * x + y * y) / 2);
}
