/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_CROSS_SIMULATION_H
#define COHORT_TESTS_CROSS_SIMULATION_H

#include "tests/cross/program.h"

/* What decides when things happen: a clock for one thread that
 * only goes on when it is looked at, and, faster and faster, while nothing happens; and the order
 * in which its worker takes what is ready. All clocks of the program are this one: Cohort's, and
 * those that libuv asks the C library for. So time is the same in each run of the same program, and
 * waiting takes none.
 *
 * So it is in simulation.c. Linked with real.c instead, a program runs on real threads in real
 * time: then none of this is drawn. */

extern const struct means simulation_means;

/* Nanoseconds since the program's begin. Does not let time go on. */
uint64_t simulation_time(void);

/* Whether anything has happened in a turn of all localities (cluster_watch). */
void simulation_turned(bool any);

/* From now on the one worker takes what is ready in an order that is drawn from SEED: it holds some
 * back while others run, and turns the event loop between any two of them. 0: as it would. Threads
 * that are started from now on, those of cohort_blocking, are played by this one: each of them runs
 * until it waits for a condition, when it is drawn. */
void simulation_begin(uint64_t seed);

/* From now on the worker takes what is ready as it would. */
void simulation_end(void);

/* A number below LIMIT, of what the order is drawn from; 0 in order. */
uint64_t simulation_draw(uint64_t limit);

#endif
