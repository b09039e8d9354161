/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: all results: prints the table as they come, or JSON at the end. */
#include "tools/bench/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/share/json.h"

static const char columns[] = "%-18s %10s %7s %7s %8s %8s %-5s %5s %10s %10s %10s %7s %-4s %6s\n";

static void print_head(const struct bench_report *report)
{
    const struct bench_machine *machine = &report->machine;
    printf("cohort-bench %s, %u cores, %s, %s, load %.2f%s\n\n", COHORT_VERSION, machine->cores,
           machine->cpu, machine->system, machine->load,
           report->quick ? ", --quick: not for figures" : "");
    puts(
        "Times are of one call. bytes are a site's; all_to_all's a pair's, but for 1 MiB, which a\n"
        "site shares out; block is what each pair then gets.\n");
    printf(columns, "figure", "localities", "workers", "sites", "bytes", "block", "shape", "arity",
           "median", "min", "max", "spread", "unit", "rounds");
}

static void format_number(char *text, size_t bytes, uint64_t number)
{
    if (number)
        snprintf(text, bytes, "%" PRIu64, number);
    else
        snprintf(text, bytes, "-");
}

static void print_row(const struct bench_result *result)
{
    const uint64_t params[] = {result->localities, result->workers, result->sites,
                               result->bytes,      result->block,   result->arity};
    char text[6][24], times[3][32], spread[16], rounds[16];
    for (size_t i = 0; i < 6; i++)
        format_number(text[i], sizeof(text[i]), params[i]);
    snprintf(times[0], sizeof(times[0]), "%.2f", result->median);
    snprintf(times[1], sizeof(times[1]), "%.2f", result->min);
    snprintf(times[2], sizeof(times[2]), "%.2f", result->max);
    snprintf(spread, sizeof(spread), "%.0f%%",
             result->median > 0 ? 100 * (result->max - result->min) / result->median : 0);
    snprintf(rounds, sizeof(rounds), "%u", result->rounds);
    printf(columns, result->name, text[0], text[1], text[2], text[3], text[4],
           result->shape[0] ? result->shape : "-", text[5], times[0], times[1], times[2], spread,
           result->unit, rounds);
    fflush(stdout);
}

void bench_report_init(struct bench_report *report, const struct bench_options *options)
{
    *report = (struct bench_report){
        .json = options->json, .quick = options->quick, .machine = bench_machine()};
    if (!report->json)
        print_head(report);
}

void bench_report_fini(struct bench_report *report)
{
    free(report->results);
}

cohort_status bench_report_add(struct bench_report *report, const struct bench_result *result)
{
    if (report->num_results == report->capacity) {
        size_t capacity = report->capacity ? 2 * report->capacity : 64;
        struct bench_result *results = realloc(report->results, capacity * sizeof(*results));
        if (!results)
            return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %zu results", capacity);
        report->results = results;
        report->capacity = capacity;
    }
    report->results[report->num_results++] = *result;
    if (!report->json)
        print_row(result);
    return COHORT_OK;
}

static void write_head(struct json *json, const struct bench_machine *machine, bool quick)
{
    json_begin(json, NULL, '{');
    json_begin(json, "machine", '{');
    json_count(json, "cores", machine->cores);
    json_text(json, "cpu", machine->cpu);
    json_text(json, "system", machine->system);
    json_rounded(json, "load", machine->load, 2);
    json_end(json, '}');
    json_text(json, "version", COHORT_VERSION);
    json_break(json, 0);
    json_bool(json, "quick", quick);
    json_break(json, 0);
    json_begin(json, "results", '[');
}

/* {"machine": {"cores": 2, "cpu": "...", "system": "...", "load": 0.5}, "version": "0.1.0",
 * "quick": false,
 * "results": [
 * {"name": "all_reduce", ...}, (see result.c)
 * ...
 * ]} */
static void print_json(const struct bench_report *report)
{
    struct json json = {.file = stdout};
    write_head(&json, &report->machine, report->quick);
    for (size_t i = 0; i < report->num_results; i++) {
        json_break(&json, 0);
        bench_result_write(&report->results[i], &json);
    }
    json_break(&json, 0);
    json_end(&json, ']');
    json_end(&json, '}');
    putchar('\n');
}

bool bench_report_end(const struct bench_report *report)
{
    if (report->json)
        print_json(report);
    return fflush(stdout) == 0 && !ferror(stdout);
}
