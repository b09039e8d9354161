/* SPDX-License-Identifier: Apache-2.0 */
/* tools: the axes of a plot: places and ticks. */
#ifndef COHORT_TOOLS_SHARE_PLOT_AXIS_H
#define COHORT_TOOLS_SHARE_PLOT_AXIS_H

#include "tools/share/plot.h"

/* Where values are along an axis, and its ticks. */

enum { PLOT_MAX_TICKS = 40, PLOT_LABEL_BYTES = 32 };

struct plot_range {
    enum plot_scale scale;
    enum plot_unit unit;
    double low; /* values at both ends */
    double high;
    double ticks[PLOT_MAX_TICKS]; /* values, ascending */
    size_t num_ticks;
};

/* An axis that holds all values from LOW to HIGH, with about NUM_TICKS ticks. */
struct plot_range plot_range_of(const struct plot_axis *axis, double low, double high,
                                unsigned num_ticks);

/* 0 at the low end, 1 at the high end. */
double plot_range_place(const struct plot_range *range, double value);

/* The value at a place. */
double plot_range_value(const struct plot_range *range, double place);

void plot_label(enum plot_unit unit, double value, char ret_label[PLOT_LABEL_BYTES]);

#endif
