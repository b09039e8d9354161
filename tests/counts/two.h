/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_COUNTS_TWO_H
#define COHORT_TESTS_COUNTS_TWO_H

#include <stdint.h>

#include "cohort/comm.h"

/* A program whose only argument is a number of calls: runs RUN as the site of each of two
 * localities that share memory. Returns its exit status. */
int two_main(int argc, char **argv, cohort_status (*run)(cohort_comm *comm, void *arg));

/* That number. */
uint64_t two_num_calls(void);

#endif
