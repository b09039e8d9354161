/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/bench/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The JSON is one object, with one result a line, so that reading it back takes no parser:
 *
 * {"machine": {"cores": 2, "cpu": "...", "system": "...", "load": 0.5}, "version": "0.1.0",
 * "quick": false,
 * "results": [
 * {"name": "all_reduce", "params": {"localities": 4, "workers": 1, "sites": 4, "bytes": 8,
 *   "block": 0, "shape": "flat", "arity": 0}, "median": 1.5, "min": 1.25, "max": 2, "unit": "us",
 *   "rounds": 7}, (in one line)
 * ...
 * ],
 * "targets": [
 * {"name": "...", "limit": 20, "median": 18.5, "unit": "us", "reached": true}
 * ]}
 *
 * What a parameter of 0 or "" says: it does not apply. */

void bench_json_print_string(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x20 || *c >= 0x7f)
            printf("\\u%04x", *c);
        else if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else
            putchar(*c);
    }
    putchar('"');
}

static void print_json_result(const struct bench_result *result)
{
    printf("{\"name\": ");
    bench_json_print_string(result->name);
    printf(", \"params\": {\"localities\": %" PRIu32 ", \"workers\": %" PRIu32
           ", \"sites\": %" PRIu32 ", \"bytes\": %" PRIu64 ", \"block\": %" PRIu64 ", \"shape\": ",
           result->localities, result->workers, result->sites, result->bytes, result->block);
    bench_json_print_string(result->shape);
    printf(", \"arity\": %" PRIu32 "}, \"median\": %.17g, \"min\": %.17g, \"max\": %.17g"
           ", \"unit\": ",
           result->arity, result->median, result->min, result->max);
    bench_json_print_string(result->unit);
    printf(", \"rounds\": %u}", result->rounds);
}

void bench_json_print_head(const struct bench_machine *machine, bool quick)
{
    printf("{\"machine\": {\"cores\": %u, \"cpu\": ", machine->cores);
    bench_json_print_string(machine->cpu);
    printf(", \"system\": ");
    bench_json_print_string(machine->system);
    printf(", \"load\": %.2f}, \"version\": ", machine->load);
    bench_json_print_string(COHORT_VERSION);
    printf(",\n\"quick\": %s,\n\"results\": [\n", quick ? "true" : "false");
}

void bench_json_print(const struct bench_report *report, const struct bench_target *targets,
                      size_t num_targets)
{
    bench_json_print_head(&report->machine, report->quick);
    for (size_t i = 0; i < report->num_results; i++) {
        print_json_result(&report->results[i]);
        puts(i + 1 < report->num_results ? "," : "");
    }
    puts("],\n\"targets\": [");
    for (size_t i = 0; i < num_targets; i++) {
        printf("{\"name\": ");
        bench_json_print_string(targets[i].text);
        printf(", \"limit\": %.17g, \"median\": %.17g, \"unit\": ", targets[i].limit,
               targets[i].median);
        bench_json_print_string(targets[i].unit);
        printf(", \"reached\": %s}%s\n", bench_target_reached(&targets[i]) ? "true" : "false",
               i + 1 < num_targets ? "," : "");
    }
    puts("]}");
}

/* What stands behind "KEY": in LINE, or NULL. */
static const char *find_value(const char *line, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
    const char *found = strstr(line, quoted);
    return found ? found + strlen(quoted) : NULL;
}

bool bench_json_number(const char *line, const char *key, double *ret)
{
    const char *value = find_value(line, key);
    char *end;
    if (!value)
        return false;
    *ret = strtod(value, &end);
    return end != value;
}

bool bench_json_word(const char *line, const char *key, char *ret, size_t bytes)
{
    const char *value = find_value(line, key);
    size_t length = value && *value == '"' ? strcspn(value + 1, "\"\\") : bytes;
    if (length >= bytes || value[1 + length] != '"')
        return false;
    memcpy(ret, value + 1, length);
    ret[length] = '\0';
    return true;
}

bool bench_json_read_result(const char *line, struct bench_result *ret_result)
{
    struct bench_result result = {0};
    double localities, workers, sites, bytes, block, arity, rounds;
    if (!bench_json_word(line, "name", result.name, sizeof(result.name)) ||
        !bench_json_number(line, "localities", &localities) ||
        !bench_json_number(line, "workers", &workers) ||
        !bench_json_number(line, "sites", &sites) || !bench_json_number(line, "bytes", &bytes) ||
        !bench_json_number(line, "block", &block) ||
        !bench_json_word(line, "shape", result.shape, sizeof(result.shape)) ||
        !bench_json_number(line, "arity", &arity) ||
        !bench_json_number(line, "median", &result.median) ||
        !bench_json_number(line, "min", &result.min) ||
        !bench_json_number(line, "max", &result.max) ||
        !bench_json_word(line, "unit", result.unit, sizeof(result.unit)) ||
        !bench_json_number(line, "rounds", &rounds))
        return false;
    result.localities = (uint32_t)localities;
    result.workers = (uint32_t)workers;
    result.sites = (uint32_t)sites;
    result.bytes = (uint64_t)bytes;
    result.block = (uint64_t)block;
    result.arity = (uint32_t)arity;
    result.rounds = (unsigned)rounds;
    *ret_result = result;
    return true;
}
