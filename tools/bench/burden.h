/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: what a process uses of the machine: time of a core, memory. */
#ifndef COHORT_TOOLS_BENCH_BURDEN_H
#define COHORT_TOOLS_BENCH_BURDEN_H

#include <stdint.h>

/* What a process uses of the machine. */

/* Computes until this thread has used so much time of a core. Time in which something else has the
 * core does not count. */
void bench_burden_compute(uint64_t ns);

/* This process's memory in MiB. FIELD is "Rss", all its pages that are in memory, or "Pss", where a
 * shared page counts by its share. 0: the kernel does not say. */
double bench_burden_memory(const char *field);

/* FIELD of /proc/self/status in KiB, "VmRSS" or "VmPTE", which the kernel counts, so that many
 * pages don't take long. 0: the kernel does not say. */
double bench_burden_counted(const char *field);

#endif
