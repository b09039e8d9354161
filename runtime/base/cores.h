/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_CORES_H
#define COHORT_RUNTIME_BASE_CORES_H

#include <stdbool.h>

/* How many cores each of NUM_PROCESSES that share them has for itself: those that the calling
 * thread's mask has and the quotas of its control groups pay for, at least one, divided, and
 * rounded down. So 0 stands for taking turns on fewer than one each. MAY_BE_BOUND: who started them
 * may have bound each to cores of its own; then a mask that leaves out some of the machine's is
 * taken for this process's alone. Reads files: not for a hot path. Others who use the same cores
 * are not known here; see runtime/task/spin.h. */
unsigned cohort__cores_each(unsigned num_processes, bool may_be_bound);

/* The smallest CPU quota of the control groups (versions 1 and 2) that the process is in, in
 * cores, rounded down, but at least 1; UINT_MAX where there is none. The files are those below ROOT
 * ("", or for a test a folder that plays them): /proc/self/mountinfo, /proc/self/cgroup, and those
 * where these say that the groups are. */
unsigned cohort__cores_quota(const char *root);

#endif
