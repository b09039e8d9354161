/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_MACHINE_H
#define COHORT_TESTS_SUPPORT_MACHINE_H

#include "collectives/plan/machine.h"

/* A machine of 2 hosts x 2 localities x 4 sites, in their order. Ends the test on failure. */
enum { TEST_MACHINE_SITES = 16 };
struct cohort__machine *test_machine_create(void);

#endif
