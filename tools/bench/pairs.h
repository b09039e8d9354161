/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: operations of two sites: ping-pong, stream, overlap. */
#ifndef COHORT_TOOLS_BENCH_PAIRS_H
#define COHORT_TOOLS_BENCH_PAIRS_H

/* What two sites do, in the same way with Cohort and with an MPI. */
enum {
    BENCH_STREAM_MESSAGES = 8,         /* under way at once */
    BENCH_OVERLAP_NS = 200 * 1000,     /* that one site is late, and that the other one computes */
    BENCH_IDLE_NS = 200 * 1000 * 1000, /* before a process's memory is read */
};

#endif
