/* SPDX-License-Identifier: Apache-2.0 */
/* tools: writes JSON. */
#ifndef COHORT_TOOLS_SHARE_JSON_H
#define COHORT_TOOLS_SHARE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes JSON, value by value, as all programs write it: adds commas, quotes and escapes. */

/* A text that is being written. All zero except the file: nothing is written yet. */
struct json {
    FILE *file;   /* its errors are the caller's */
    bool follows; /* the next value stands behind another one of its object or array */
    bool breaks;  /* ... and begins a line */
    int indent;   /* ... behind so many blanks */
};

/* Begin and end objects ('{') and arrays ('['). KEY: of the value within an object; NULL within an
 * array. */
void json_begin(struct json *json, const char *key, char bracket);
void json_end(struct json *json, char bracket);

/* UTF-8 stays as it is. A byte that is none becomes U+FFFD: which one it was is lost. */
void json_text(struct json *json, const char *key, const char *text);
void json_count(struct json *json, const char *key, uint64_t count);
void json_bool(struct json *json, const char *key, bool value);

/* Writes as many digits as are needed to read the same number back. */
void json_number(struct json *json, const char *key, double number);
/* Writes DIGITS digits behind the point. */
void json_rounded(struct json *json, const char *key, double number, int digits);

/* The next value, or the next closing bracket, begins a line, behind INDENT blanks. */
void json_break(struct json *json, int indent);

#endif
