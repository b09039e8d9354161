/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/signal.h"

#include "tests/support/test.h"

TEST(values)
{
    for (size_t i = 0; i < 600; i++) {
        double value = signal_value(i, 600);
        CHECK(i / 100 % 2 ? value > 0.5 : value < 0.5);
        CHECK(value > 0 && value < 1);
    }
}

/* Smoothing keeps a constant signal unchanged. */
TEST(weights)
{
    double sum = 0;
    for (size_t column = 0; column < 600; column++) {
        sum += signal_weight(300, column, 600);
        CHECK(signal_weight(300, column, 600) <= signal_weight(300, 300, 600));
    }
    CHECK(sum > 0.999 && sum < 1.001);
}
