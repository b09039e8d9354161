/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_SOURCE_H
#define COHORT_EXAMPLES_SOURCE_H

#include <stdint.h>
#include <stdio.h>

#include <cohort/status.h>

/* Opens the regular file PATH for reading. The caller calls fclose. Anything except a regular file
 * is refused, so it never waits for a pipe's writer. Error messages begin with PATH. */
cohort_status source_open(const char *path, FILE **ret_file, uint64_t *ret_bytes) COHORT_MUST_USE;

#endif
