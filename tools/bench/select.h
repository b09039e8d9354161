/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `select`: times the library's choice against all other algorithms. */
#ifndef COHORT_TOOLS_BENCH_SELECT_H
#define COHORT_TOOLS_BENCH_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cohort/cohort.h>

#include "tools/bench/options.h"
#include "tools/share/json.h"

/* How good the library's choice of algorithms is: `cohort-bench select`. */

/* The choice at one place of the grid. */
struct select_point {
    char collective[24];
    char placement[16]; /* "tasks", "localities", "mixed" or "hosts" */
    char shape[16];     /* "2x4x1": hosts, localities of each, sites in each of these */
    uint32_t sites;
    uint64_t bytes;    /* of a block */
    unsigned rows;     /* algorithms measured */
    char selected[32]; /* the library's choice, and the one that was the fastest */
    char best[32];
    double selected_us; /* measured again in turns, in fresh rounds */
    double best_us;
    double regret; /* selected to best; 1 where they are the same */
};

struct select_report {
    bool json;
    struct json writer; /* of what is printed then */
    struct select_point *points;
    size_t num_points;
    size_t capacity;
    unsigned num_too_large; /* points that were left out for their memory */
    unsigned num_late;      /* ... and because the time was over */
};

/* select_report.c. Prints the table's head, a line, and the summary. */
void select_report_begin(struct select_report *report, bool by_call);
cohort_status select_report_add(struct select_report *report, const struct select_point *point);
bool select_report_end(struct select_report *report); /* false: the output can't be written */
void select_report_fini(struct select_report *report);

/* Reads a line of JSON back into REPORT, whatever the line holds. */
cohort_status select_report_read(struct select_report *report, const char *line);

/* select.c. To be called in every locality of a job, within a task. Measures the points of one
 * placement: the one that is asked for; else localities if there are several, or tasks. REPORT:
 * NULL in all localities except 0. */
cohort_status bench_select(const struct bench_options *options, struct select_report *report);

/* Whether there are points of COLLECTIVE. */
bool bench_select_has(const char *collective);

/* select_jobs.c. Starts the jobs for what OPTIONS ask. Returns main's status. */
int bench_select_jobs(const struct bench_options *options);

#endif
