/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_CROSS_CLOCK_H
#define COHORT_TESTS_CROSS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* A clock for one thread that only goes on when it is looked at, and, faster and faster, while
 * nothing happens. All clocks of the program are this one: Cohort's, and those that libuv asks the
 * C library for. So time is the same in each run of the same program, and waiting takes none. */

/* Nanoseconds since the program's begin. Does not let time go on. */
uint64_t clock_time(void);

/* Whether anything has happened in a turn of all localities (cluster_watch). */
void clock_turned(bool any);

#endif
