/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_LINES_H
#define COHORT_EXAMPLES_LINES_H

#include <stddef.h>

#include <cohort/status.h>

/* Lines of any bytes, each of which ends with a newline. */

struct line {
    const char *text;
    size_t length; /* without the newline */
};

/* Compares bytewise, as sort(1) with LC_ALL=C. Returns a number below, equal to or above 0. */
int line_compare(const struct line *left, const struct line *right);

size_t lines_count(const char *text, size_t bytes);

/* Finds the lines of TEXT, lines_count of them. They point into TEXT. */
void lines_split(const char *text, size_t bytes, struct line *ret_lines);

void lines_sort(struct line *lines, size_t count);

/* Writes COUNT lines with their newlines to TEXT; returns how many bytes. */
size_t lines_join(const struct line *lines, size_t count, char *text);

/* Sorts the lines of TEXT, BYTES of them, into *RET_SORTED, which is as large; the caller frees it.
 * COHORT_ERR_NO_MEMORY. */
cohort_status lines_sorted(const char *text, size_t bytes, char **ret_sorted) COHORT_MUST_USE;

/* Where the first line at or after OFFSET begins; BYTES if there is none. */
size_t lines_next(const char *text, size_t bytes, size_t offset);

/* Reads all of the regular file PATH. The last line gets a newline if it has none. The caller frees
 * *RET_TEXT. Error messages begin with PATH. */
cohort_status lines_read(const char *path, char **ret_text, size_t *ret_bytes) COHORT_MUST_USE;

#endif
