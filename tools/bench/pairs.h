/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: operations of two sites: ping-pong, remote tasks, stream, overlap. */
#ifndef COHORT_TOOLS_BENCH_PAIRS_H
#define COHORT_TOOLS_BENCH_PAIRS_H

/* What two sites do, in the same way with Cohort and with an MPI. */
enum {
    BENCH_STREAM_MESSAGES = 8, /* in flight at once */
    BENCH_RATE_MESSAGES = 64,  /* likewise, of short ones */
    BENCH_ONE_SIDED = 16,      /* operations, one after the other, in the memory of the other one */
    BENCH_OVERLAP_NS = 200 * 1000, /* how long one site is late, and how long the other computes */
    BENCH_IDLE_NS = 200 * 1000 * 1000, /* how long a process is idle before its memory is read */
};

#endif
