/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `select`: its table, or its JSON, line by line. */
#include <inttypes.h>
#include <stdio.h>

#include "tools/bench/select.h"

/* {"points": [
 * {"name": "all_reduce", "bytes": 64, "sites": 4, "rows": 5, "selected": "ring", "best": "linear",
 *   "selected_us": 12.5, "best_us": 10, "regret": 1.25} (in one line)
 * ]}
 *
 * With no rows there is nothing behind them. */
static void write_point(struct json *json, const struct select_point *point)
{
    json_break(json, 0);
    json_begin(json, NULL, '{');
    json_text(json, "name", point->collective);
    json_count(json, "bytes", point->bytes);
    json_count(json, "sites", point->sites);
    json_count(json, "rows", point->rows);
    if (point->rows > 0) {
        json_text(json, "selected", point->selected);
        json_text(json, "best", point->best);
        json_number(json, "selected_us", point->selected_us);
        json_number(json, "best_us", point->best_us);
        json_number(json, "regret", point->regret);
    }
    json_end(json, '}');
}

void select_report_begin(struct select_report *report)
{
    if (report->json) {
        report->writer = (struct json){.file = stdout};
        json_begin(&report->writer, NULL, '{');
        json_begin(&report->writer, "points", '[');
    } else {
        printf("%-15s %5s %9s %4s %-16s %-16s %11s %11s %6s\n", "collective", "sites", "bytes",
               "rows", "selected", "best", "selected", "best", "regret");
    }
}

void select_report_add(struct select_report *report, const struct select_point *point)
{
    if (report->json)
        write_point(&report->writer, point);
    else if (point->rows == 0)
        printf("%-15s %5" PRIu32 " %9" PRIu64 " %4u\n", point->collective, point->sites,
               point->bytes, point->rows);
    else
        printf("%-15s %5" PRIu32 " %9" PRIu64 " %4u %-16s %-16s %11.2f %11.2f %6.2f\n",
               point->collective, point->sites, point->bytes, point->rows, point->selected,
               point->best, point->selected_us, point->best_us, point->regret);
    fflush(stdout);
}

bool select_report_end(struct select_report *report)
{
    if (report->json) {
        json_break(&report->writer, 0);
        json_end(&report->writer, ']');
        json_end(&report->writer, '}');
        putchar('\n');
    }
    return fflush(stdout) == 0 && !ferror(stdout);
}
