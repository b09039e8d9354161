/* SPDX-License-Identifier: Apache-2.0 */
/* tools: writes a plot as SVG. */
#ifndef COHORT_TOOLS_SHARE_PLOT_H
#define COHORT_TOOLS_SHARE_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "cohort/status.h"

/* Curves in a picture: a self-contained SVG file with axes, ticks and grid, for cohort-sim. Each
 * curve has its label beside its right end. */

struct plot_point {
    double x;
    double y;
};

struct plot_series {
    const char *label; /* with " = OTHER" behind it where an earlier curve is the same */
    const struct plot_point *points;
    size_t num_points; /* x ascending; series may have different x; 0: the series has only its
                          label, marked "no points" */
};

enum plot_scale {
    PLOT_LINEAR,
    PLOT_LOG2,  /* ticks at powers of two: sizes, sites */
    PLOT_LOG10, /* ticks at powers of ten, with 2 and 5 where there is room: times */
};

enum plot_unit {
    PLOT_NUMBER, /* "20", "0.5", "3e+06" */
    PLOT_BYTES,  /* "20 B", "4 KiB", "1 MiB" */
};

struct plot_axis {
    const char *label; /* "time in microseconds" */
    enum plot_scale scale;
    enum plot_unit unit; /* of the ticks */
};

struct plot {
    const char *title;
    const char *subtitle; /* smaller, below; NULL: none */
    struct plot_axis x;
    struct plot_axis y;
    const struct plot_series *series;
    size_t num_series;
    bool mark_crossings; /* a line, with its x, wherever another series becomes the lowest */
};

/* Writes the picture of PLOT to the file at PATH. A regular file is complete afterwards; after a
 * failure it is as it was before. Anything else (a pipe, a device) is written directly. Each series
 * is one <polyline>. Errors: BAD_PARAMETER if there are no points at all, or if one is not finite,
 * or not above 0 on a logarithmic axis; SYSTEM if the file can't be written; NO_MEMORY. */
cohort_status plot_write(const struct plot *plot, const char *path);

#endif
