/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_COUNTS_CASES_H
#define COHORT_TESTS_COUNTS_CASES_H

#include <stddef.h>
#include <stdint.h>

/* Of a program whose arguments are a case and a number: the one of NUM CASES, of BYTES each, that
 * is named, which its first member (const char *) does, and *RET_NUMBER. With other arguments it
 * says which there are, and the program exits with status 2. */
const void *cases_choose(const void *cases, size_t num, size_t bytes, int argc, char **argv,
                         uint64_t *ret_number);

#define CASES_CHOOSE(cases, argc, argv, ret_number)                                                \
    cases_choose(cases, sizeof(cases) / sizeof((cases)[0]), sizeof((cases)[0]), argc, argv,        \
                 ret_number)

#endif
