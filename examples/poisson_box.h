/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_POISSON_BOX_H
#define COHORT_EXAMPLES_POISSON_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A site's part of Poisson's equation on a cube of n x n x n cells, and what conjugate gradients do
 * with it, plane by plane. Neither Cohort nor MPI is in here: poisson.c and its peer in MPI and
 * OpenMP (tools/bench/peer_poisson.c) are made of the same functions. */

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

size_t poisson_box_plane_cells(const struct poisson_box *box);

/* Where plane I of an array is, 0 .. planes - 1; -1 and planes are the neighbours'. */
double *poisson_box_plane(const struct poisson_box *box, double *array, ptrdiff_t i);

/* What is done with plane I. All planes may be taken in any order, and at the same time: each of Q,
 * X, R and P is written by the call for itself only. */

/* P = the solution that is known. With Q = A P this gives b. */
void poisson_plane_known(struct poisson_box *box, size_t i);
/* R = P = b, which is in Q; X = 0 from the start. Returns R . R. */
double poisson_plane_begin(struct poisson_box *box, size_t i);
/* Q = A P. Returns P . Q. */
double poisson_plane_apply(struct poisson_box *box, size_t i);
/* X += ALPHA P, R -= ALPHA Q. Returns R . R. */
double poisson_plane_step(struct poisson_box *box, size_t i, double alpha);
/* P = R + BETA P. */
void poisson_plane_turn(struct poisson_box *box, size_t i, double beta);
/* X . X, and how far X is at most from the solution that is known. */
double poisson_plane_square(const struct poisson_box *box, size_t i);
double poisson_plane_error(const struct poisson_box *box, size_t i);

enum { POISSON_MOST_ITERATIONS = 1000 };

/* What a program prints in the end, both in the same way. */
struct poisson_result {
    unsigned processes, threads; /* threads of each */
    unsigned iterations;
    double residual, norm, error;            /* |b - A x| / |b|, |x|, the greatest error */
    double seconds[POISSON_MOST_ITERATIONS]; /* of each */
};
void poisson_result_print(struct poisson_result *result, size_t n); /* sorts the times */

/* How far X is at most from the solution where MISSING is |b - A x|, but for rounding: that by the
 * least eigenvalue of A. */
double poisson_error_most(size_t n, double missing);

/* Whether a residual is small enough, or it is the last iteration. */
bool poisson_is_over(double residual, unsigned iterations, unsigned most);

#endif
