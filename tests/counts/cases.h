/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_COUNTS_CASES_H
#define COHORT_TESTS_COUNTS_CASES_H

#include <stddef.h>
#include <stdint.h>

/* Runs a CASE, of those below, with the number that stands behind its name. Returns a status for
 * main. */
typedef int cases_run(const void *chosen, uint64_t number);

/* The main of a program whose arguments are a case and a number: RUNs that of NUM CASES, of BYTES
 * each, that is named, which its first member (const char *) does. If there are more pairs, each
 * runs in a process of its own, as the first one has run in this: valgrind, whose start takes
 * longer than most cases, begins once, and has read and translated what they have in common. With
 * other arguments it says which cases there are, and the status is 2. */
int cases_main(const void *cases, size_t num, size_t bytes, int argc, char **argv, cases_run *run);

#define CASES_MAIN(cases, argc, argv, run)                                                         \
    cases_main(cases, sizeof(cases) / sizeof((cases)[0]), sizeof((cases)[0]), argc, argv, run)

#endif
