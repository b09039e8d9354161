/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: finds the parameters that explain the samples best. */
#ifndef COHORT_TOOLS_TUNE_FIT_H
#define COHORT_TOOLS_TUNE_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "collectives/model/predict.h"

/* One measured time. */
struct tune_sample {
    enum cohort__distance distance;
    uint32_t row;
    uint32_t num_sites;
    size_t bytes;
    double ns;
    struct cohort__placement placement;
    struct cohort__cost cost;
};

/* Sets the terms of each distance that has samples, so that the sum of the squares of (predicted -
 * measured) / measured is least. No term is below 0. Then sets the factors of the rows that have
 * been measured at the distance: measured to predicted, at each knot. A knot without a sample gets
 * the factor of the nearest knot that has one. */
void tune_fit(struct cohort__parameters *parameters, const struct tune_sample *samples,
              size_t num_samples);

/* Least squares with no negative solution: of the SUM over the equations of (SUM x_j a_j - 1)^2.
 * There are NUM equations, with COHORT__NUM_TERMS coefficients each. */
void tune_fit_squares(const double (*equations)[COHORT__NUM_TERMS], size_t num,
                      double ret_solution[COHORT__NUM_TERMS]);

#endif
