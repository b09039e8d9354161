/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: which program each locality runs, where there are several. */
#ifndef COHORT_TOOLS_COHORTRUN_COMMAND_H
#define COHORT_TOOLS_COHORTRUN_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* The words behind the options of cohortrun are a program and its arguments, or several programs
 * for localities that follow each other: "a 1 : -n 2 b : -n 1 c". These words travel to other hosts
 * as they are. Where a ":" is not followed by -n or -np, it is an argument as any other.
 *
 * One program with its arguments. It is not terminated: other programs may follow. */
struct command {
    char *const *words;
    size_t num_words;
};

/* Checks WORDS, which end with NULL. *RET_LATER is the number of localities of all programs but the
 * first, 0 to 4096. COHORT_ERR_BAD_PARAMETER, with a message that says what is wrong. */
cohort_status command_check(char *const *words, uint32_t *ret_later);

/* The program of locality RANK of SIZE. WORDS were checked, and their later programs have fewer
 * localities than SIZE. */
struct command command_of(char *const *words, uint32_t size, uint32_t rank);

#endif
