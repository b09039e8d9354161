/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/share/plot_axis.h"

#include <math.h>
#include <stdio.h>

#include "tests/support/test.h"

/* The labels of the ticks, one after the other. */
static const char *ticks(enum plot_scale scale, enum plot_unit unit, double low, double high)
{
    static char text[512];
    struct plot_axis axis = {.label = "x", .scale = scale, .unit = unit};
    struct plot_range range = plot_range_of(&axis, low, high, 8);
    size_t length = 0;
    CHECK(range.low <= low && range.high >= high && range.low < range.high);
    for (size_t i = 0; i < range.num_ticks; i++) {
        char label[PLOT_LABEL_BYTES];
        plot_label(unit, range.ticks[i], label);
        length +=
            (size_t)snprintf(text + length, sizeof(text) - length, i > 0 ? ", %s" : "%s", label);
    }
    return text;
}

TEST(ticks)
{
    CHECK_TEXT(ticks(PLOT_LOG2, PLOT_BYTES, 8, 4 << 20),
               "8 B, 64 B, 512 B, 4 KiB, 32 KiB, 256 KiB, 2 MiB");
    CHECK_TEXT(ticks(PLOT_LOG2, PLOT_NUMBER, 3, 33), "2, 4, 8, 16, 32, 64");
    CHECK_TEXT(ticks(PLOT_LOG10, PLOT_NUMBER, 0.3, 40), "0.2, 0.5, 1, 2, 5, 10, 20, 50");
    CHECK_TEXT(ticks(PLOT_LOG10, PLOT_NUMBER, 1, 1e6), "1, 10, 100, 1000, 1e+04, 1e+05, 1e+06");
    CHECK_TEXT(ticks(PLOT_LOG10, PLOT_NUMBER, 5, 5), "5, 10, 20, 50");
    CHECK_TEXT(ticks(PLOT_LINEAR, PLOT_NUMBER, 0, 37), "0, 5, 10, 15, 20, 25, 30, 35, 40");
    CHECK_TEXT(ticks(PLOT_LINEAR, PLOT_NUMBER, 4, 4), "4, 5");
    CHECK_TEXT(ticks(PLOT_LOG2, PLOT_BYTES, 8, 8), "8 B, 16 B");
}

TEST(places)
{
    struct plot_axis axis = {.label = "x", .scale = PLOT_LOG2};
    struct plot_range range = plot_range_of(&axis, 1, 256, 8);
    CHECK(fabs(plot_range_place(&range, 1)) < 1e-12);
    CHECK(fabs(plot_range_place(&range, 16) - 0.5) < 1e-12);
    CHECK(fabs(plot_range_place(&range, 256) - 1) < 1e-12);
    CHECK(fabs(plot_range_value(&range, 0.25) - 4) < 1e-12);
}

/* Never more ticks than there is room for, and at least two, whatever the values are. */
TEST(few_ticks)
{
    for (unsigned scale = PLOT_LINEAR; scale <= PLOT_LOG10; scale++)
        for (double low = 1e-9; low < 1e12; low *= 7)
            for (double factor = 1; factor < 1e12; factor *= 3) {
                struct plot_axis axis = {.label = "x", .scale = scale};
                struct plot_range range = plot_range_of(&axis, low, low * factor, 9);
                CHECK(range.low <= low * (1 + 1e-9) && range.high >= low * factor * (1 - 1e-9));
                if (range.num_ticks < 2 || range.num_ticks > 16)
                    FAIL("scale %u, %g to %g: %zu ticks", scale, low, low * factor,
                         range.num_ticks);
            }
}
