/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: one measurement: how many calls fill a round, and the spread of the rounds. */
#ifndef COHORT_TOOLS_BENCH_SERIES_H
#define COHORT_TOOLS_BENCH_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "tools/bench/options.h"

/* The runs of one measurement: some to find how many calls fill a round, one to warm up, then the
 * rounds. The caller asks for the number of calls of the next run, makes them, and adds the time
 * that they took, until there are none left to make. */
struct bench_series {
    uint64_t round_ns; /* what a round should last */
    uint64_t calls;    /* of the next run */
    unsigned rounds;
    unsigned num_long;   /* runs in sequence that lasted long enough */
    unsigned num_rounds; /* measured so far */
    double ns_per_call[BENCH_MAX_ROUNDS];
};

struct bench_spread {
    double median;
    double min;
    double max;
};

uint64_t bench_now(void); /* nanoseconds */

/* Writes to each line of NUM numbers, without changing them: as a program does that computes what
 * it then sends. */
void bench_renew(double *numbers, size_t num);

void bench_series_init(struct bench_series *series, const struct bench_options *options);

/* The calls of the next run; 0 after the last one. */
uint64_t bench_series_next(const struct bench_series *series);

void bench_series_add(struct bench_series *series, uint64_t elapsed_ns);

/* The same for calls of which only a part is measured: PART_NS of ELAPSED_NS. */
void bench_series_add_part(struct bench_series *series, uint64_t elapsed_ns, uint64_t part_ns);

/* The spread of one call, in nanoseconds. */
struct bench_spread bench_series_spread(struct bench_series *series);

/* Divides SPREAD by PARTS, if what was timed happened PARTS times in a call. */
void bench_spread_divide(struct bench_spread *spread, double parts);

#endif
