/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `select`: its table, its JSON, and how good the choices are. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/select.h"

/* The targets: half of the points are at most median_wanted from the best, and none is more than
 * worst_wanted from it. */
static const double median_wanted = 1.1, worst_wanted = 1.5;

static void write_point(struct json *json, const struct select_point *point)
{
    json_break(json, 0);
    json_begin(json, NULL, '{');
    json_text(json, "collective", point->collective);
    json_text(json, "placement", point->placement);
    json_text(json, "shape", point->shape);
    json_count(json, "sites", point->sites);
    json_count(json, "bytes", point->bytes);
    json_count(json, "rows", point->rows);
    json_text(json, "selected", point->selected);
    json_text(json, "best", point->best);
    json_number(json, "selected_us", point->selected_us);
    json_number(json, "best_us", point->best_us);
    json_number(json, "regret", point->regret);
    json_end(json, '}');
}

void select_report_begin(struct select_report *report, bool by_call)
{
    if (report->json) {
        report->writer = (struct json){.file = stdout};
        json_begin(&report->writer, NULL, '{');
        json_begin(&report->writer, "points", '[');
        return;
    }
    const char *turns = by_call ? "calls" : "rounds";
    printf(
        "The library's choice against the algorithm that was the fastest of all that can do it;\n"
        "microseconds of one call, each the median of %s in turns; the regret is the median\n"
        "of the %s' ratios. The shape is hosts x localities of each x sites in each.\n\n",
        turns, turns);
    printf("%-15s %-10s %-7s %5s %9s %4s %-16s %-16s %11s %11s %6s\n", "collective", "placement",
           "shape", "sites", "bytes", "rows", "selected", "best", "selected", "best", "regret");
}

cohort_status select_report_add(struct select_report *report, const struct select_point *point)
{
    if (report->num_points == report->capacity) {
        size_t capacity = report->capacity ? 2 * report->capacity : 256;
        void *points = realloc(report->points, capacity * sizeof(*report->points));
        if (!points)
            return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %zu points", capacity);
        report->points = points;
        report->capacity = capacity;
    }
    report->points[report->num_points++] = *point;
    if (report->json) {
        write_point(&report->writer, point);
    } else {
        printf("%-15s %-10s %-7s %5" PRIu32 " %9" PRIu64 " %4u %-16s %-16s %11.2f %11.2f %6.2f\n",
               point->collective, point->placement, point->shape, point->sites, point->bytes,
               point->rows, point->selected, point->best, point->selected_us, point->best_us,
               point->regret);
    }
    fflush(stdout);
    return COHORT_OK;
}

static int by_regret(const void *a, const void *b)
{
    const struct select_point *left = a, *right = b;
    return (left->regret > right->regret) - (left->regret < right->regret);
}

static const char *verdict(double regret, double wanted)
{
    return regret <= wanted ? "reached" : "missed";
}

static void print_targets(const struct select_point *median, const struct select_point *worst)
{
    printf("target: median regret %.3f, at most %.1f wanted: %s\n", median->regret, median_wanted,
           verdict(median->regret, median_wanted));
    printf("target: worst regret %.3f, at most %.1f wanted: %s\n", worst->regret, worst_wanted,
           verdict(worst->regret, worst_wanted));
}

static void write_summary(struct select_report *report, double median, double worst)
{
    struct json *json = &report->writer;
    json_break(json, 0);
    json_end(json, ']');
    json_break(json, 0);
    json_count(json, "num_points", report->num_points);
    json_count(json, "too_large", report->num_too_large);
    json_count(json, "late", report->num_late);
    json_number(json, "median", median);
    json_number(json, "worst", worst);
    json_end(json, '}');
    putchar('\n');
}

bool select_report_end(struct select_report *report)
{
    struct select_point none = {.regret = 1}, median = none, worst = none;
    size_t num = report->num_points;
    if (num > 0) {
        qsort(report->points, num, sizeof(*report->points), by_regret);
        median = report->points[num / 2];
        worst = report->points[num - 1];
    }
    if (report->json) {
        write_summary(report, median.regret, worst.regret);
        return fflush(stdout) == 0 && !ferror(stdout);
    }
    printf("\n%zu points", num);
    if (report->num_too_large > 0)
        printf("; left out as they need too much memory: %u", report->num_too_large);
    if (report->num_late > 0)
        printf("; left out as the time was over: %u", report->num_late);
    putchar('\n');
    if (num > 0) /* nothing that was not measured has reached a target */
        print_targets(&median, &worst);
    for (size_t i = 0; i < 10 && i < num && report->points[num - 1 - i].regret > median_wanted;
         i++) {
        const struct select_point *point = &report->points[num - 1 - i];
        printf("%s%s, %s %s, %" PRIu32 " sites, %" PRIu64 " B: %s instead of %s: %.2f\n",
               i ? "       " : "worst: ", point->collective, point->placement, point->shape,
               point->sites, point->bytes, point->selected, point->best, point->regret);
    }
    return fflush(stdout) == 0 && !ferror(stdout);
}

void select_report_fini(struct select_report *report)
{
    free(report->points);
}

static bool read_point(const char *line, struct select_point *ret_point)
{
    struct select_point point = {.rows = 0};
    double sites, bytes, rows;
    if (!json_read_word(line, "collective", point.collective, sizeof(point.collective)) ||
        !json_read_word(line, "placement", point.placement, sizeof(point.placement)) ||
        !json_read_word(line, "shape", point.shape, sizeof(point.shape)) ||
        !json_read_word(line, "selected", point.selected, sizeof(point.selected)) ||
        !json_read_word(line, "best", point.best, sizeof(point.best)) ||
        !json_read_number(line, "sites", &sites) || !json_read_number(line, "bytes", &bytes) ||
        !json_read_number(line, "rows", &rows) ||
        !json_read_number(line, "selected_us", &point.selected_us) ||
        !json_read_number(line, "best_us", &point.best_us) ||
        !json_read_number(line, "regret", &point.regret))
        return false;
    point.sites = (uint32_t)sites;
    point.bytes = (uint64_t)bytes;
    point.rows = (unsigned)rows;
    *ret_point = point;
    return true;
}

cohort_status select_report_read(struct select_report *report, const char *line)
{
    struct select_point point;
    double too_large, late;
    if (read_point(line, &point))
        return select_report_add(report, &point);
    if (json_read_number(line, "too_large", &too_large) && json_read_number(line, "late", &late)) {
        report->num_too_large += (unsigned)too_large;
        report->num_late += (unsigned)late;
    }
    return COHORT_OK;
}
