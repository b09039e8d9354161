/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/network.h"

#include <math.h>

static const double rate = 0.3;
static const double momentum = 0.9;

/* Number I of the sequence SEED, from -1 to 1. */
static double noise(uint64_t i, uint64_t seed)
{
    uint64_t z = (seed << 32) + (i + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return (double)(z >> 11) / (double)(1ULL << 52) - 1;
}

struct point network_point(uint64_t i, uint64_t count, uint64_t seed)
{
    double along = sqrt(((double)i + 1) / (double)count); /* as dense outside as inside */
    double angle = along * 7 + (i % 2 ? M_PI : 0);
    return (struct point){
        .x = along * cos(angle) + 0.05 * noise(2 * i, seed),
        .y = along * sin(angle) + 0.05 * noise(2 * i + 1, seed),
        .label = (double)(i % 2),
    };
}

void network_start(double weights[NETWORK_WEIGHTS], uint64_t seed)
{
    for (uint64_t i = 0; i < NETWORK_WEIGHTS; i++)
        weights[i] = 2 * noise(i, ~seed);
}

/* Also puts the hidden layer's values into HIDDEN. */
static double evaluate(const double weights[NETWORK_WEIGHTS], double x, double y,
                       double hidden[NETWORK_HIDDEN])
{
    double sum = weights[4 * NETWORK_HIDDEN];
    for (int i = 0; i < NETWORK_HIDDEN; i++) {
        const double *own = weights + 4 * i;
        hidden[i] = tanh(own[0] * x + own[1] * y + own[2]);
        sum += own[3] * hidden[i];
    }
    return sum;
}

double network_output(const double weights[NETWORK_WEIGHTS], double x, double y)
{
    double hidden[NETWORK_HIDDEN];
    return 1 / (1 + exp(-evaluate(weights, x, y, hidden)));
}

void network_learn(const double weights[NETWORK_WEIGHTS], const struct point *point,
                   struct network_sums *sums)
{
    double hidden[NETWORK_HIDDEN];
    double sum = evaluate(weights, point->x, point->y, hidden);
    double output = 1 / (1 + exp(-sum));
    double wrong = output - point->label; /* the loss's derivative by sum */
    double against = point->label > 0 ? -sum : sum;
    sums->loss += against > 0 ? against + log1p(exp(-against)) : log1p(exp(against));
    sums->correct += (sum > 0) == (point->label > 0);
    for (int i = 0; i < NETWORK_HIDDEN; i++) {
        double *gradient = sums->gradient + 4 * i;
        double back = wrong * weights[4 * i + 3] * (1 - hidden[i] * hidden[i]);
        gradient[0] += back * point->x;
        gradient[1] += back * point->y;
        gradient[2] += back;
        gradient[3] += wrong * hidden[i];
    }
    sums->gradient[4 * NETWORK_HIDDEN] += wrong;
}

void network_step(double weights[NETWORK_WEIGHTS], double velocity[NETWORK_WEIGHTS],
                  const struct network_sums *sums, double count)
{
    for (int i = 0; i < NETWORK_WEIGHTS; i++) {
        velocity[i] = momentum * velocity[i] - rate * sums->gradient[i] / count;
        weights[i] += velocity[i];
    }
}
