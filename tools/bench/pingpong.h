/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: runs libfabric's fi_pingpong, which a row of --peers is held against. */
#ifndef COHORT_TOOLS_BENCH_PINGPONG_H
#define COHORT_TOOLS_BENCH_PINGPONG_H

#include <stdbool.h>
#include <stdint.h>

/* libfabric's own fi_pingpong on loopback, over tcp;ofi_rxm: half the round trip of a message of
 * BYTES in microseconds, of so many that they take about SECONDS. False: it could not be run, which
 * has been printed. */
bool pingpong_run(uint64_t bytes, double seconds, double *ret_us);

#endif
