/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_CORES_H
#define COHORT_RUNTIME_BASE_CORES_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The processors on which the calling thread may run: its affinity mask, of *RET_BYTES bytes. The
 * caller frees it with CPU_FREE. NULL: it can't be told. */
cpu_set_t *cohort__cores_mask(size_t *ret_bytes);

/* Whether that mask, of COUNT processors, lacks some of the machine's. */
bool cohort__cores_are_bound(unsigned count);

/* A number that stands for the processors on which the calling thread may run, and for the running
 * kernel that they belong to. Threads with the same number share these processors, also if they
 * are in different containers or network namespaces. 0: it can't be told. Reads a file. */
uint64_t cohort__cores_identify(void);

/* How many cores each of NUM_PROCESSES processes has for itself if they share what this process may
 * use. That is the number of cores in the calling thread's affinity mask, or the quota of its
 * control groups if that is smaller, but at least one. It is divided by NUM_PROCESSES and rounded
 * down, so 0 means that processes take turns on a core. MAY_BE_BOUND says that a launcher may have
 * bound each process to cores of its own. Then a mask that lacks some of the machine's cores is
 * taken for a mask of this process alone, and is not divided. Reads files, so don't call it on a
 * hot path. Doesn't know about other programs on the same cores; see runtime/task/spin.h. */
unsigned cohort__cores_each(unsigned num_processes, bool may_be_bound);

/* The smallest CPU quota of the control groups (versions 1 and 2) that the process is in, in cores,
 * rounded down, but at least 1. UINT_MAX if there is none. Reads files below ROOT, see cgroup.h. */
unsigned cohort__cores_quota(const char *root);

/* For who spins: lets the other thread of the calling thread's core run for a moment. */
static inline void cohort__core_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* The size in bytes of the largest cache of this host's first processor, whether that cache is
 * shared or not. If the kernel doesn't tell, a common size. Any thread. */
size_t cohort__cache_bytes(void);

/* A size as the kernel writes it, such as "32768K" or "1M", in bytes. Returns 0 if TEXT has another
 * form. */
size_t cohort__cache_read_size(const char *text);

#endif
