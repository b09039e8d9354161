/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_SIGNAL_H
#define COHORT_EXAMPLES_SIGNAL_H

#include <stddef.h>

/* A noisy signal, and the matrix that smooths it. Both depend on their indices only, so every site
 * makes its own part. */

/* Value I of N: a square wave with noise. */
double signal_value(size_t i, size_t n);

/* The weight of value COLUMN in smooth value ROW: a bell curve of their distance. */
double signal_weight(size_t row, size_t column, size_t n);

/* Draws N values as text: BEFORE as dots, AFTER as stars, a column for several values. */
void signal_print(const double *before, const double *after, size_t n);

#endif
