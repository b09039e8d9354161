/* SPDX-License-Identifier: Apache-2.0 */
/* tools: writes a plot as SVG. */
#include "tools/share/plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/share/plot_axis.h"

enum {
    WIDTH = 1080,
    HEIGHT = 620,
    LEFT = 90, /* the frame of the curves */
    RIGHT = 740,
    TOP = 80,
    BOTTOM = 550,
    LEGEND_LEFT = RIGHT + 34,
    LEGEND_STEP = 20, /* between labels, if there is room for all */
    X_TICKS = 9,
    Y_TICKS = 10,
};

/* Colours that the colour-blind can tell apart as well (Okabe and Ito). After them come other
 * dashes. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#8a6d00"};
static const char *const dashes[] = {"", "7 4", "2 3", "10 3 2 3"};
enum { NUM_COLOURS = 8, NUM_DASHES = 4 };

struct drawing {
    const struct plot *plot;
    FILE *file;
    struct plot_range x;
    struct plot_range y;
    double *label_y; /* of each series, where its label in the legend is */
};

struct label {
    size_t series;
    double y;
};

static cohort_status wrong(const struct plot *plot, const char *series, const char *why)
{
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "plot '%s'%s%s: %s", plot->title,
                       series ? ", series " : "", series ? series : "", why);
}

static bool is_drawable(enum plot_scale scale, double value)
{
    return isfinite(value) && (scale == PLOT_LINEAR || value > 0);
}

/* Checks all points, and finds how far they reach. */
static cohort_status set_ranges(struct drawing *self)
{
    const struct plot *plot = self->plot;
    struct plot_point low = {INFINITY, INFINITY}, high = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < plot->num_series; i++)
        for (size_t k = 0; k < plot->series[i].num_points; k++) {
            struct plot_point point = plot->series[i].points[k];
            if (!is_drawable(plot->x.scale, point.x) || !is_drawable(plot->y.scale, point.y))
                return wrong(plot, plot->series[i].label, "a point that the axes can't show");
            low.x = fmin(low.x, point.x);
            low.y = fmin(low.y, point.y);
            high.x = fmax(high.x, point.x);
            high.y = fmax(high.y, point.y);
        }
    if (low.x > high.x)
        return wrong(plot, NULL, "no points");
    self->x = plot_range_of(&plot->x, low.x, high.x, X_TICKS);
    self->y = plot_range_of(&plot->y, low.y, high.y, Y_TICKS);
    return COHORT_OK;
}

static double across(const struct drawing *self, double x)
{
    return LEFT + (RIGHT - LEFT) * plot_range_place(&self->x, x);
}

static double down(const struct drawing *self, double y)
{
    return BOTTOM - (BOTTOM - TOP) * plot_range_place(&self->y, y);
}

/* Writes TEXT, escaped for XML. */
static void put(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '>')
            fputs("&gt;", file);
        else if (*text == '&')
            fputs("&amp;", file);
        else if (*text == '"')
            fputs("&quot;", file);
        else if ((unsigned char)*text >= ' ')
            fputc(*text, file);
    }
}

/* Writes text at a place. ATTRIBUTES are written as they are. */
static void text_at(FILE *file, double x, double y, const char *attributes, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    put(file, text);
    fputs("</text>\n", file);
}

static void line(FILE *file, double x1, double y1, double x2, double y2, const char *attributes)
{
    fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2,
            attributes);
}

static void draw_frame(const struct drawing *self)
{
    FILE *file = self->file;
    const char *grid = "stroke=\"#dddddd\"";
    char label[PLOT_LABEL_BYTES];
    for (size_t i = 0; i < self->x.num_ticks; i++) {
        double at = across(self, self->x.ticks[i]);
        line(file, at, TOP, at, BOTTOM + 5, grid);
        plot_label(self->x.unit, self->x.ticks[i], label);
        text_at(file, at, BOTTOM + 20, "text-anchor=\"middle\"", label);
    }
    for (size_t i = 0; i < self->y.num_ticks; i++) {
        double at = down(self, self->y.ticks[i]);
        line(file, LEFT - 5, at, RIGHT, at, grid);
        plot_label(self->y.unit, self->y.ticks[i], label);
        text_at(file, LEFT - 9, at + 4, "text-anchor=\"end\"", label);
    }
    fprintf(file,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
            "stroke=\"#444444\"/>\n",
            LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP);
    text_at(file, (LEFT + RIGHT) / 2.0, BOTTOM + 46, "text-anchor=\"middle\" font-size=\"14\"",
            self->plot->x.label);
    fprintf(file, "<g transform=\"translate(22 %d) rotate(-90)\">", (TOP + BOTTOM) / 2);
    text_at(file, 0, 0, "text-anchor=\"middle\" font-size=\"14\"", self->plot->y.label);
    fputs("</g>\n", file);
}

/* Y of SERIES at X, or infinity where it has no point there. */
static double value_at(const struct plot_series *series, double x)
{
    for (size_t i = 0; i < series->num_points; i++)
        if (series->points[i].x >= x && series->points[i].x <= x)
            return series->points[i].y;
    return INFINITY;
}

/* The series that is the lowest at X: KEEP if it is one of several, num_series if there is none. */
static size_t lowest_at(const struct plot *plot, double x, size_t keep)
{
    double low = keep < plot->num_series ? value_at(&plot->series[keep], x) : INFINITY;
    size_t lowest = isfinite(low) ? keep : plot->num_series;
    for (size_t i = 0; i < plot->num_series; i++) {
        double value = value_at(&plot->series[i], x);
        if (value < low) {
            low = value;
            lowest = i;
        }
    }
    return lowest;
}

/* The first x of any series above X; infinity after the last one. */
static double next_x(const struct plot *plot, double x)
{
    double next = INFINITY;
    for (size_t i = 0; i < plot->num_series; i++)
        for (size_t k = 0; k < plot->series[i].num_points; k++)
            if (plot->series[i].points[k].x > x)
                next = fmin(next, plot->series[i].points[k].x);
    return next;
}

/* Where the straight lines of series A and B cross between two x. Returns the later x if one of
 * them has no point there. */
static double crossing(const struct drawing *self, size_t a, size_t b, double left, double right)
{
    const struct plot_series *series = self->plot->series;
    double a_left = value_at(&series[a], left), a_right = value_at(&series[a], right);
    double b_left = value_at(&series[b], left), b_right = value_at(&series[b], right);
    if (!isfinite(a_left) || !isfinite(a_right) || !isfinite(b_left) || !isfinite(b_right))
        return across(self, right);
    double before = down(self, a_left) - down(self, b_left);
    double after = down(self, a_right) - down(self, b_right);
    double part = before - after > 0 || before - after < 0 ? before / (before - after) : 1;
    return across(self, left) + part * (across(self, right) - across(self, left));
}

static void draw_crossings(const struct drawing *self)
{
    double left = next_x(self->plot, -INFINITY);
    size_t lowest = lowest_at(self->plot, left, self->plot->num_series);
    unsigned count = 0;
    for (double right = next_x(self->plot, left); isfinite(right);
         left = right, right = next_x(self->plot, right)) {
        size_t next = lowest_at(self->plot, right, lowest);
        if (next != lowest && next < self->plot->num_series && lowest < self->plot->num_series) {
            double at = crossing(self, lowest, next, left, right);
            char label[PLOT_LABEL_BYTES];
            line(self->file, at, TOP, at, BOTTOM, "stroke=\"#888888\" stroke-dasharray=\"3 3\"");
            plot_label(self->x.unit, plot_range_value(&self->x, (at - LEFT) / (RIGHT - LEFT)),
                       label);
            text_at(self->file, at, TOP - 6 - 13 * (count++ % 2),
                    "text-anchor=\"middle\" font-size=\"11\" fill=\"#555555\"", label);
        }
        lowest = next;
    }
}

static void stroke(const struct drawing *self, size_t index)
{
    const char *dash = dashes[index / NUM_COLOURS % NUM_DASHES];
    fprintf(self->file, "stroke=\"%s\" stroke-width=\"2\"%s%s%s", colours[index % NUM_COLOURS],
            *dash ? " stroke-dasharray=\"" : "", dash, *dash ? "\"" : "");
}

static void draw_series(const struct drawing *self, size_t index)
{
    const struct plot_series *series = &self->plot->series[index];
    FILE *file = self->file;
    fputs("<polyline fill=\"none\" ", file);
    stroke(self, index);
    fputs(" points=\"", file);
    for (size_t i = 0; i < series->num_points; i++)
        fprintf(file, "%s%.2f,%.2f", i > 0 ? " " : "", across(self, series->points[i].x),
                down(self, series->points[i].y));
    fputs("\"><title>", file);
    put(file, series->label);
    fputs("</title></polyline>\n", file);
    for (size_t i = 0; i < series->num_points; i++) {
        char x[PLOT_LABEL_BYTES], y[PLOT_LABEL_BYTES];
        plot_label(self->x.unit, series->points[i].x, x);
        plot_label(self->y.unit, series->points[i].y, y);
        fprintf(file, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3\" fill=\"%s\"><title>",
                across(self, series->points[i].x), down(self, series->points[i].y),
                colours[index % NUM_COLOURS]);
        put(file, series->label);
        fprintf(file, ": %s, %s</title></circle>\n", x, y);
    }
}

/* Whether the curves of A and B are the same. */
static bool is_same(const struct plot_series *a, const struct plot_series *b)
{
    if (a->num_points != b->num_points || a->num_points == 0)
        return false;
    for (size_t i = 0; i < a->num_points; i++)
        if (fabs(a->points[i].x - b->points[i].x) > 1e-9 * fabs(a->points[i].x) ||
            fabs(a->points[i].y - b->points[i].y) > 1e-9 * fabs(a->points[i].y))
            return false;
    return true;
}

/* Writes "binomial", or "mesh = binomial" if this curve hides an earlier one. */
static void draw_legend_label(const struct drawing *self, size_t index, double y)
{
    const struct plot_series *series = self->plot->series;
    size_t same = 0;
    fprintf(self->file, "<text x=\"%d\" y=\"%.1f\" font-size=\"13\">", LEGEND_LEFT + 42, y);
    put(self->file, series[index].label);
    while (same < index && !is_same(&series[same], &series[index]))
        same++;
    if (same < index) {
        fputs(" = ", self->file);
        put(self->file, series[same].label);
    }
    fputs("</text>\n", self->file);
}

/* How far down the curve of SERIES ends; the lower end of the frame if it has no points. */
static double end_of(const struct drawing *self, const struct plot_series *series)
{
    return series->num_points ? down(self, series->points[series->num_points - 1].y) : BOTTOM;
}

static int compare_labels(const void *a, const void *b)
{
    const struct label *one = a, *other = b;
    if (one->y < other->y || one->y > other->y)
        return one->y < other->y ? -1 : 1;
    return one->series < other->series ? -1 : 1;
}

/* Each label is beside the right end of its curve; those that would overlap are moved apart. */
static cohort_status place_labels(struct drawing *self)
{
    size_t num = self->plot->num_series;
    double step = fmin(LEGEND_STEP, (double)(BOTTOM - TOP) / (double)num);
    struct label *labels = calloc(num, sizeof(*labels));
    self->label_y = calloc(num, sizeof(*self->label_y));
    if (!labels || !self->label_y) {
        free(labels);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "plot '%s': no memory for %zu labels",
                           self->plot->title, num);
    }
    for (size_t i = 0; i < num; i++)
        labels[i] = (struct label){i, end_of(self, &self->plot->series[i])};
    qsort(labels, num, sizeof(*labels), compare_labels);
    double least = TOP, most = BOTTOM;
    for (size_t i = 0; i < num; i++, least += step)
        least = labels[i].y = fmax(labels[i].y, least);
    for (size_t i = num; i-- > 0; most -= step)
        most = self->label_y[labels[i].series] = fmin(labels[i].y, most);
    free(labels);
    return COHORT_OK;
}

static void draw_legend(const struct drawing *self)
{
    for (size_t i = 0; i < self->plot->num_series; i++) {
        const struct plot_series *series = &self->plot->series[i];
        double y = self->label_y[i];
        draw_legend_label(self, i, y + 4);
        if (!series->num_points) {
            text_at(self->file, LEGEND_LEFT - 14, y + 4, "font-size=\"10\"", "no points");
            continue;
        }
        line(self->file, RIGHT + 4, end_of(self, series), LEGEND_LEFT - 4, y, "stroke=\"#bbbbbb\"");
        fprintf(self->file, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" ", LEGEND_LEFT, y,
                LEGEND_LEFT + 34, y);
        stroke(self, i);
        fputs("/>\n", self->file);
    }
}

static void draw(const struct drawing *self)
{
    FILE *file = self->file;
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n<title>",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    put(file, self->plot->title);
    fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", file);
    text_at(file, LEFT, 26, "font-size=\"18\" font-weight=\"bold\"", self->plot->title);
    if (self->plot->subtitle)
        text_at(file, LEFT, 45, "font-size=\"12\" fill=\"#555555\"", self->plot->subtitle);
    draw_frame(self);
    if (self->plot->mark_crossings)
        draw_crossings(self);
    for (size_t i = 0; i < self->plot->num_series; i++)
        draw_series(self, i);
    draw_legend(self);
    fputs("</svg>\n", file);
}

static cohort_status cannot_write(const char *path, int error)
{
    return cohort_fail(COHORT_ERR_SYSTEM, "%s can't be written: %s", path, strerror(error));
}

/* Draws into FILE, which is at PATH, and closes it. */
static cohort_status write_to(struct drawing *self, FILE *file, const char *path)
{
    int error = 0;
    self->file = file;
    errno = 0;
    draw(self);
    if (fflush(file) || ferror(file))
        error = errno ? errno : EIO;
    if (fclose(file) && !error)
        error = errno;
    return error ? cannot_write(path, error) : COHORT_OK;
}

/* Writes into a new file beside the one at PATH, which it then replaces. */
static cohort_status replace(struct drawing *self, const char *path)
{
    char *beside;
    if (asprintf(&beside, "%s.%ld.tmp", path, (long)getpid()) < 0)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s can't be written: no memory", path);
    FILE *file = fopen(beside, "wx");
    cohort_status status = file ? write_to(self, file, path) : cannot_write(path, errno);
    if (status == COHORT_OK && rename(beside, path) != 0)
        status = cannot_write(path, errno);
    if (status != COHORT_OK && file)
        unlink(beside);
    free(beside);
    return status;
}

static cohort_status write_at(struct drawing *self, const char *path)
{
    struct stat there;
    if (stat(path, &there) != 0 || S_ISREG(there.st_mode))
        return replace(self, path);
    FILE *file = fopen(path, "w");
    return file ? write_to(self, file, path) : cannot_write(path, errno);
}

cohort_status plot_write(const struct plot *plot, const char *path)
{
    struct drawing self = {.plot = plot};
    cohort_status status = set_ranges(&self);
    if (status == COHORT_OK)
        status = place_labels(&self);
    if (status == COHORT_OK)
        status = write_at(&self, path);
    free(self.label_y);
    return status;
}
