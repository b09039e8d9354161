/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/network.h"

#include <math.h>

#include "tests/support/test.h"

static double loss_at(const double *weights, const struct point *point)
{
    struct network_sums sums = {0};
    network_learn(weights, point, &sums);
    return sums.loss;
}

/* The gradient is how the loss changes when a weight changes a little. */
TEST(gradient)
{
    const double little = 1e-5;
    double weights[NETWORK_WEIGHTS];
    network_start(weights, 3);
    for (uint64_t i = 0; i < 20; i++) {
        struct point point = network_point(i, 20, 5);
        struct network_sums sums = {0};
        network_learn(weights, &point, &sums);
        for (int w = 0; w < NETWORK_WEIGHTS; w++) {
            double before = weights[w];
            weights[w] = before + little;
            double above = loss_at(weights, &point);
            weights[w] = before - little;
            double below = loss_at(weights, &point);
            weights[w] = before;
            CHECK(fabs((above - below) / (2 * little) - sums.gradient[w]) < 1e-7);
        }
    }
}

/* Sums of parts add up, and match the output. */
TEST(sums)
{
    double weights[NETWORK_WEIGHTS];
    struct network_sums sums = {0};
    double loss = 0;
    double correct = 0;
    network_start(weights, 1);
    for (uint64_t i = 0; i < 50; i++) {
        struct point point = network_point(i, 50, 1);
        double output = network_output(weights, point.x, point.y);
        loss -= log(point.label > 0 ? output : 1 - output);
        correct += (output > 0.5) == (point.label > 0);
        network_learn(weights, &point, &sums);
    }
    CHECK(fabs(loss - sums.loss) < 1e-9 * loss);
    CHECK(correct == sums.correct);
    CHECK_INT(NETWORK_NUM_SUMS, NETWORK_WEIGHTS + 2);
}

TEST(points)
{
    for (uint64_t i = 0; i < 500; i++) {
        struct point point = network_point(i, 500, 9);
        CHECK(point.label == (double)(i % 2));
        CHECK(fabs(point.x) < 1.1 && fabs(point.y) < 1.1);
    }
}
