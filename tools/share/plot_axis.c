/* SPDX-License-Identifier: Apache-2.0 */
/* tools: the axes of a plot: places and ticks. */
#include "tools/share/plot_axis.h"

#include <math.h>
#include <stdio.h>

/* VALUE on the axis' scale, not yet moved and sized. */
static double scaled(enum plot_scale scale, double value)
{
    return scale == PLOT_LOG2 ? log2(value) : scale == PLOT_LOG10 ? log10(value) : value;
}

static double unscaled(enum plot_scale scale, double value)
{
    return scale == PLOT_LOG2 ? exp2(value) : scale == PLOT_LOG10 ? pow(10, value) : value;
}

/* The next of 1, 2, 5, 10, 20, ... not below VALUE. */
static double round_step(double value)
{
    double power = pow(10, floor(log10(value)));
    double digit = value / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static void add_tick(struct plot_range *range, double value)
{
    double slack = range->scale == PLOT_LINEAR ? 1e-9 * (range->high - range->low) : 1e-9 * value;
    if (range->num_ticks < PLOT_MAX_TICKS && value >= range->low - slack &&
        value <= range->high + slack)
        range->ticks[range->num_ticks++] = value;
}

/* Ticks at whole steps of the drawn axis, which are powers if it is logarithmic. */
static void even_ticks(struct plot_range *range, double step)
{
    double low = floor(scaled(range->scale, range->low) / step);
    double high = ceil(scaled(range->scale, range->high) / step);
    for (double i = low; i <= high; i++)
        add_tick(range, unscaled(range->scale, i * step));
}

/* 1, 2 and 5 times each power of ten. */
static void decimal_ticks(struct plot_range *range)
{
    static const double digits[] = {1, 2, 5};
    for (double power = floor(log10(range->low)); power <= ceil(log10(range->high)); power++)
        for (unsigned i = 0; i < 3; i++)
            add_tick(range, digits[i] * pow(10, power));
}

/* Moves both ends out to a tick. */
static void round_ends(struct plot_range *range, double step)
{
    double low = floor(scaled(range->scale, range->low) / step + 1e-9) * step;
    double high = ceil(scaled(range->scale, range->high) / step - 1e-9) * step;
    range->low = unscaled(range->scale, low);
    range->high = unscaled(range->scale, high > low ? high : low + step);
}

struct plot_range plot_range_of(const struct plot_axis *axis, double low, double high,
                                unsigned num_ticks)
{
    struct plot_range range = {.scale = axis->scale, .unit = axis->unit, .low = low, .high = high};
    double size = scaled(axis->scale, high) - scaled(axis->scale, low);
    if (axis->scale == PLOT_LOG10 && 3 * size <= num_ticks) {
        double down = pow(10, floor(log10(low))), up = pow(10, floor(log10(high)));
        range.low = low >= 5 * down ? 5 * down : low >= 2 * down ? 2 * down : down;
        range.high = high <= up ? up : high <= 2 * up ? 2 * up : high <= 5 * up ? 5 * up : 10 * up;
        if (range.high <= range.low)
            range.high = 10 * range.low;
        decimal_ticks(&range);
        return range;
    }
    double step = 1;
    if (size > 0)
        step = axis->scale == PLOT_LINEAR ? round_step(size / num_ticks) : ceil(size / num_ticks);
    round_ends(&range, axis->scale == PLOT_LOG2 ? 1 : step);
    even_ticks(&range, step);
    return range;
}

double plot_range_place(const struct plot_range *range, double value)
{
    double low = scaled(range->scale, range->low), high = scaled(range->scale, range->high);
    return (scaled(range->scale, value) - low) / (high - low);
}

double plot_range_value(const struct plot_range *range, double place)
{
    double low = scaled(range->scale, range->low), high = scaled(range->scale, range->high);
    return unscaled(range->scale, low + place * (high - low));
}

void plot_label(enum plot_unit unit, double value, char ret_label[PLOT_LABEL_BYTES])
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned i = 0;
    if (unit == PLOT_NUMBER) {
        snprintf(ret_label, PLOT_LABEL_BYTES, "%.4g", value);
        return;
    }
    for (; value >= 1024 && i + 1 < sizeof(names) / sizeof(names[0]); i++)
        value /= 1024;
    snprintf(ret_label, PLOT_LABEL_BYTES, "%.3g %s", value, names[i]);
}
