/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: finds the parameters that explain the samples best. */
#include "tools/tune/fit.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SWEEPS = 20000 };

/* Solves the normal equations by coordinate descent: in turn, each coordinate gets its best value
 * for the values of the others, or 0. The sum is convex, so this ends at its minimum. */
void tune_fit_squares(const double (*equations)[COHORT__NUM_TERMS], size_t num,
                      double ret_solution[COHORT__NUM_TERMS])
{
    double matrix[COHORT__NUM_TERMS][COHORT__NUM_TERMS] = {{0}}, right[COHORT__NUM_TERMS] = {0};
    double *x = ret_solution;
    for (size_t e = 0; e < num; e++)
        for (unsigned i = 0; i < COHORT__NUM_TERMS; i++) {
            right[i] += equations[e][i];
            for (unsigned j = 0; j < COHORT__NUM_TERMS; j++)
                matrix[i][j] += equations[e][i] * equations[e][j];
        }
    memset(x, 0, COHORT__NUM_TERMS * sizeof(*x));
    for (unsigned sweep = 0; sweep < MAX_SWEEPS; sweep++)
        for (unsigned i = 0; i < COHORT__NUM_TERMS; i++) {
            double rest = right[i];
            for (unsigned j = 0; j < COHORT__NUM_TERMS; j++)
                rest -= j == i ? 0 : matrix[i][j] * x[j];
            x[i] = matrix[i][i] > 0 && rest > 0 ? rest / matrix[i][i] : 0;
        }
}

static void fit_terms(struct cohort__parameters *parameters, enum cohort__distance distance,
                      const struct tune_sample *samples, size_t num_samples,
                      double (*equations)[COHORT__NUM_TERMS])
{
    size_t num = 0;
    for (size_t i = 0; i < num_samples; i++) {
        const struct tune_sample *sample = &samples[i];
        if (sample->distance != distance)
            continue;
        cohort__predict_amounts(parameters, &sample->placement, distance, &sample->cost,
                                equations[num]);
        for (unsigned term = 0; term < COHORT__NUM_TERMS; term++)
            equations[num][term] /= sample->ns;
        num++;
    }
    if (num > 0)
        tune_fit_squares((const double(*)[COHORT__NUM_TERMS])equations, num,
                         parameters->terms[distance]);
}

/* The knot of exactly these numbers, or COHORT__KNOTS if there is none. A barrier's 0 bytes count
 * as the fewest. */
static unsigned knot_of(uint32_t num_sites, size_t bytes)
{
    if (bytes == 0)
        bytes = 8;
    for (unsigned s = 0; s < COHORT__KNOTS_SITES; s++)
        for (unsigned b = 0; b < COHORT__KNOTS_BYTES; b++)
            if (num_sites == 2u << s && bytes == (size_t)8 << (3 * b))
                return s * COHORT__KNOTS_BYTES + b;
    return COHORT__KNOTS;
}

/* Bytes count for more than sites: how far a row is from its model depends more on bytes. */
static unsigned gap(unsigned knot, unsigned other)
{
    int sites = (int)(knot / COHORT__KNOTS_BYTES) - (int)(other / COHORT__KNOTS_BYTES);
    int bytes = (int)(knot % COHORT__KNOTS_BYTES) - (int)(other % COHORT__KNOTS_BYTES);
    return (unsigned)(2 * abs(sites) + 3 * abs(bytes));
}

static void fill_gaps(int8_t factors[COHORT__KNOTS], const bool is_known[COHORT__KNOTS])
{
    for (unsigned knot = 0; knot < COHORT__KNOTS; knot++) {
        unsigned nearest = COHORT__KNOTS;
        for (unsigned other = 0; !is_known[knot] && other < COHORT__KNOTS; other++)
            if (is_known[other] &&
                (nearest == COHORT__KNOTS || gap(knot, other) < gap(knot, nearest)))
                nearest = other;
        if (nearest < COHORT__KNOTS)
            factors[knot] = factors[nearest];
    }
}

static void fit_row(struct cohort__parameters *parameters, enum cohort__distance distance,
                    uint32_t row, const struct tune_sample *samples, size_t num_samples)
{
    bool is_known[COHORT__KNOTS] = {false};
    int8_t found[COHORT__KNOTS] = {0};
    memset(parameters->factors[distance][row], 0, sizeof(found));
    for (size_t i = 0; i < num_samples; i++) {
        const struct tune_sample *sample = &samples[i];
        unsigned knot = knot_of(sample->num_sites, sample->bytes);
        if (sample->distance != distance || sample->row != row || knot == COHORT__KNOTS)
            continue;
        struct cohort__request request = {.num_sites = sample->num_sites, .bytes = sample->bytes};
        double predicted =
            cohort__predict(parameters, &sample->placement, row, &request, &sample->cost);
        if (predicted > 0) {
            found[knot] = cohort__factor_of_ratio(sample->ns / predicted);
            is_known[knot] = true;
        }
    }
    fill_gaps(found, is_known);
    memcpy(parameters->factors[distance][row], found, sizeof(found));
}

void tune_fit(struct cohort__parameters *parameters, const struct tune_sample *samples,
              size_t num_samples)
{
    double(*equations)[COHORT__NUM_TERMS] = calloc(num_samples + 1, sizeof(*equations));
    for (unsigned distance = 0; equations && distance < COHORT__NUM_DISTANCES; distance++) {
        fit_terms(parameters, (enum cohort__distance)distance, samples, num_samples, equations);
        for (uint32_t row = 0; row < cohort__num_algorithms && row < COHORT__MAX_ROWS; row++)
            fit_row(parameters, (enum cohort__distance)distance, row, samples, num_samples);
    }
    free(equations);
}
