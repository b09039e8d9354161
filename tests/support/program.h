/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_PROGRAM_H
#define COHORT_TESTS_SUPPORT_PROGRAM_H

#include "tests/support/test.h"

/* Runs tests_run in the first task of a Cohort program. Returns the status for main. */
int program_main(int argc, char **argv);

#endif
