/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: runs libfabric's fi_pingpong, with which a row of --peers is compared. */
#ifndef COHORT_TOOLS_BENCH_PINGPONG_H
#define COHORT_TOOLS_BENCH_PINGPONG_H

#include <stdbool.h>
#include <stdint.h>

/* Runs libfabric's own fi_pingpong on loopback, with the provider that COHORT_OFI_PROVIDER names,
 * or net. RET_US is half the round trip of a message of BYTES, in microseconds. There are as many
 * messages as take about SECONDS. False: it could not be run, which has been printed. */
bool pingpong_run(uint64_t bytes, double seconds, double *ret_us);

#endif
