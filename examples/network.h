/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_NETWORK_H
#define COHORT_EXAMPLES_NETWORK_H

#include <stddef.h>
#include <stdint.h>

/* A small neural network that tells two kinds of points in a plane apart: two inputs, a layer of
 * NETWORK_HIDDEN, one output; and the points to learn it from. */

enum {
    NETWORK_HIDDEN = 24,
    NETWORK_WEIGHTS = 4 * NETWORK_HIDDEN + 1, /* per hidden one: two in, its bias, one out */
};

struct point {
    double x; /* about -1 .. 1 */
    double y;
    double label; /* 0 or 1 */
};

/* Point I of COUNT of two spirals that wind around each other, with some noise. It depends only on
 * its number and SEED, so every site makes its own points. */
struct point network_point(uint64_t i, uint64_t count, uint64_t seed);

/* Small weights to start with. */
void network_start(double weights[NETWORK_WEIGHTS], uint64_t seed);

/* How sure the network is that the point has label 1: 0 to 1. */
double network_output(const double weights[NETWORK_WEIGHTS], double x, double y);

/* What an epoch sums up over points. All of it is doubles, so it can be reduced as one vector. */
struct network_sums {
    double gradient[NETWORK_WEIGHTS]; /* of the loss */
    double loss;                      /* cross-entropy */
    double correct;                   /* points on the right side */
};

enum { NETWORK_NUM_SUMS = sizeof(struct network_sums) / sizeof(double) };

/* Adds POINT to SUMS. */
void network_learn(const double weights[NETWORK_WEIGHTS], const struct point *point,
                   struct network_sums *sums);

/* A step down the mean gradient of COUNT points, with momentum; VELOCITY is 0 at first. */
void network_step(double weights[NETWORK_WEIGHTS], double velocity[NETWORK_WEIGHTS],
                  const struct network_sums *sums, double count);

#endif
