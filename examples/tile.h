/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_TILE_H
#define COHORT_EXAMPLES_TILE_H

#include <stdbool.h>
#include <stdint.h>

/* A square block of a symmetric matrix, and what its Cholesky factorisation does with one. */

enum { TILE_WIDTH = 32 };

struct tile {
    double at[TILE_WIDTH][TILE_WIDTH]; /* [row][column] */
};

/* Block (ROW, COLUMN) of a positive definite matrix of NUM x NUM blocks, which SEED chooses. */
void tile_make(struct tile *tile, uint32_t row, uint32_t column, uint32_t num, uint32_t seed);

/* A becomes L with A = L L^T and zeros above the diagonal. False: A is not positive definite. */
bool tile_factor(struct tile *a);

/* B becomes X with X L^T = B. */
void tile_solve(struct tile *b, const struct tile *l);

/* C becomes C - A B^T. */
void tile_subtract(struct tile *c, const struct tile *a, const struct tile *b);

/* The greatest absolute value. */
double tile_greatest(const struct tile *tile);

#endif
