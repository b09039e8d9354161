/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_POISSON_BOX_H
#define COHORT_EXAMPLES_POISSON_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A site's part of Poisson's equation on a cube of n x n x n cells, and what conjugate gradients do
 * with it, row by row. Neither Cohort nor MPI is in here: poisson.c and its peer in MPI and OpenMP
 * (tools/bench/peer_poisson.c) are made of the same rows. */

/* Some planes of the cube. Each array has a border of one cell all around. Cells at the border of
 * the cube are 0; those at the border of a neighbour's planes are the neighbour's. */
struct poisson_box {
    size_t n;
    size_t first; /* its first plane in the cube */
    size_t planes;
    double *x; /* what is looked for */
    double *r; /* what is missing: b - A x */
    double *p; /* where to look */
    double *q; /* A p */
};

/* False: no memory. */
bool poisson_box_init(struct poisson_box *box, size_t n, size_t first, size_t planes);
void poisson_box_fini(struct poisson_box *box); /* also of one that is all 0 */

/* Rows 0 .. poisson_box_rows - 1 may be taken in any order, and at the same time. */
size_t poisson_box_rows(const struct poisson_box *box);

/* Where plane I of P is: 0 and planes + 1 are the border, which has the neighbours' planes. */
size_t poisson_box_plane(const struct poisson_box *box, size_t i);
size_t poisson_box_plane_cells(const struct poisson_box *box);

/* The functions for rows. Each row of Q, X, R and P is written by the call of its own only. */

/* P = the solution that is known. With Q = A P this gives b. */
void poisson_row_known(struct poisson_box *box, size_t row);
/* R = P = b, which is in Q; X = 0 from the start. Returns R . R. */
double poisson_row_begin(struct poisson_box *box, size_t row);
/* Q = A P. Returns P . Q. */
double poisson_row_apply(struct poisson_box *box, size_t row);
/* X += ALPHA P, R -= ALPHA Q. Returns R . R. */
double poisson_row_step(struct poisson_box *box, size_t row, double alpha);
/* P = R + BETA P. */
void poisson_row_turn(struct poisson_box *box, size_t row, double beta);
/* X . X, and how far X is at most from the solution that is known. */
double poisson_row_square(const struct poisson_box *box, size_t row);
double poisson_row_error(const struct poisson_box *box, size_t row);

/* What a program prints in the end, both in the same way. */
struct poisson_result {
    unsigned processes, threads; /* threads of each */
    unsigned iterations;
    double residual, norm, error; /* |b - A x| / |b|, |x|, the greatest error */
    double seconds;               /* of all iterations */
};
void poisson_result_print(const struct poisson_result *result, size_t n);

/* How far X is at most from the solution where MISSING is |b - A x|, but for rounding: that by the
 * least eigenvalue of A. */
double poisson_error_most(size_t n, double missing);

/* Whether a residual is small enough, or it is the last iteration. */
bool poisson_is_over(double residual, unsigned iterations, unsigned most);

#endif
