/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `spread`: starts a process for each run, and says how many are near the ideal. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench/bench.h"
#include "tools/bench/spread.h"
#include "tools/share/child.h"
#include "tools/share/programs.h"

/* A case, and what its runs have brought. */
struct line {
    const struct spread_case *one;
    struct bench_result result; /* of the latest run */
    struct bench_series ratios;
};

static bool take_line(void *context, const char *text)
{
    struct line *line = context;
    struct bench_result result;
    if (line->ratios.num_rounds < BENCH_MAX_ROUNDS && bench_result_read(text, &result)) {
        line->result = result;
        line->ratios.ns_per_call[line->ratios.num_rounds++] = result.median;
    }
    return true;
}

/* The number of the run also says which times are drawn. */
static bool run_once(struct line *line, const char *self, const struct bench_options *options,
                     unsigned number)
{
    const char *const words[] = {self, "--json", "--only", line->one->name, "spread"};
    struct programs_command command = {.num_args = 0};
    char part[16];
    snprintf(part, sizeof(part), "%u", number);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        programs_command_add(&command, words[i]);
    if (options->quick)
        programs_command_add(&command, "--quick");
    return setenv("COHORT_BENCH_PART", part, 1) == 0 && child_run(command.args, take_line, line);
}

/* The cases take turns. */
static bool run_all(struct line *lines, size_t num, const struct bench_options *options)
{
    char self[PROGRAMS_MAX_PATH];
    if (!programs_find_self(self))
        return false;
    for (unsigned run = 1; run <= options->runs; run++)
        for (size_t i = 0; i < num; i++)
            if (!run_once(&lines[i], self, options, run))
                return false;
    return true;
}

static double percent_within(const struct bench_series *ratios, double limit)
{
    unsigned num = 0;
    for (unsigned i = 0; i < ratios->num_rounds; i++)
        num += ratios->ns_per_call[i] <= limit;
    return 100.0 * num / ratios->num_rounds;
}

/* The ratios of a case, and for each of its limits how many of them are within it. COHORT_TASKS is
 * what the processes were started with. */
static cohort_status add(struct bench_report *report, struct line *line)
{
    struct bench_result result = line->result;
    struct bench_series *ratios = &line->ratios;
    const char *tasks = getenv("COHORT_TASKS");
    snprintf(result.shape, sizeof(result.shape), "%.7s", tasks ? tasks : "");
    bench_result_set(&result, bench_series_spread(ratios), "x", ratios->num_rounds);
    cohort_status status = bench_report_add(report, &result);
    for (size_t i = 0; i < SPREAD_NUM_LIMITS && line->one->limits[i] > 0; i++) {
        double limit = line->one->limits[i], percent = percent_within(ratios, limit);
        snprintf(result.name, sizeof(result.name), "%s_within_%g", line->one->name, limit);
        bench_result_set(&result, (struct bench_spread){percent, percent, percent}, "%",
                         ratios->num_rounds);
        if (status == COHORT_OK)
            status = bench_report_add(report, &result);
    }
    return status;
}

/* Makes lines of the cases that are asked for. Returns how many. */
static size_t fill(struct line *lines, const struct bench_options *options)
{
    const struct spread_case *cases;
    size_t num_cases = spread_cases(&cases), num = 0;
    for (size_t i = 0; i < num_cases; i++)
        if (!options->only || fnmatch(options->only, cases[i].name, 0) == 0)
            lines[num++].one = &cases[i];
    if (num == 0)
        fprintf(stderr, "cohort-bench: --only '%s' fits no row\n", options->only);
    return num;
}

int bench_spread_jobs(const struct bench_options *options, struct bench_report *report)
{
    const struct spread_case *cases;
    struct line *lines = calloc(spread_cases(&cases), sizeof(*lines));
    cohort_status status = COHORT_OK;
    bool is_done = lines != NULL;
    if (!is_done)
        fputs("cohort-bench: no memory for the figures\n", stderr);
    size_t num = is_done ? fill(lines, options) : 0;
    is_done = num > 0 && run_all(lines, num, options);
    for (size_t i = 0; is_done && status == COHORT_OK && i < num; i++)
        status = add(report, &lines[i]);
    free(lines);
    if (status != COHORT_OK)
        fprintf(stderr, "cohort-bench: %s\n", cohort_error_message());
    if (!is_done || status != COHORT_OK)
        return 1;
    if (bench_report_end(report, NULL, 0))
        return 0;
    fputs("cohort-bench: standard output can't be written\n", stderr);
    return 1;
}
