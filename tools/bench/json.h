/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TOOLS_BENCH_JSON_H
#define COHORT_TOOLS_BENCH_JSON_H

#include "tools/bench/report.h"

/* Prints REPORT as one JSON object, whose form json.c tells. */
void bench_json_print(const struct bench_report *report, const struct bench_target *targets,
                      size_t num_targets);

/* What the object begins with, up to its results. */
void bench_json_print_head(const struct bench_machine *machine, bool quick);
void bench_json_print_string(const char *text);

/* What stands behind "KEY": in LINE; a word is cut at nothing. False: there is no such thing. */
bool bench_json_number(const char *line, const char *key, double *ret);
bool bench_json_word(const char *line, const char *key, char *ret, size_t bytes);

/* Reads a result from LINE of what another process has printed so; false: it holds none. */
bool bench_json_read_result(const char *line, struct bench_result *ret_result);

#endif
