/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: one result: a line of the table, or of JSON. */
#include "tools/bench/result.h"

#include <stdio.h>
#include <string.h>

void bench_result_set(struct bench_result *result, struct bench_spread spread, const char *unit,
                      unsigned rounds)
{
    double factor = strcmp(unit, "us") == 0 ? 1e-3 : 1;
    result->median = spread.median * factor;
    result->min = spread.min * factor;
    result->max = spread.max * factor;
    result->rounds = rounds;
    snprintf(result->unit, sizeof(result->unit), "%s", unit);
}

/* {"name": "all_reduce", "params": {"localities": 4, "workers": 1, "sites": 4, "bytes": 8,
 *   "block": 0, "shape": "flat", "arity": 0}, "median": 1.5, "min": 1.25, "max": 2, "unit": "us",
 *   "rounds": 7}
 *
 * A parameter of 0 or "" does not apply. */
void bench_result_write(const struct bench_result *result, struct json *json)
{
    json_begin(json, NULL, '{');
    json_text(json, "name", result->name);
    json_begin(json, "params", '{');
    json_count(json, "localities", result->localities);
    json_count(json, "workers", result->workers);
    json_count(json, "sites", result->sites);
    json_count(json, "bytes", result->bytes);
    json_count(json, "block", result->block);
    json_text(json, "shape", result->shape);
    json_count(json, "arity", result->arity);
    json_end(json, '}');
    json_number(json, "median", result->median);
    json_number(json, "min", result->min);
    json_number(json, "max", result->max);
    json_text(json, "unit", result->unit);
    json_count(json, "rounds", result->rounds);
    json_end(json, '}');
}
