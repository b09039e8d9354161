/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_DOMAIN_H
#define COHORT_RUNTIME_LAUNCH_DOMAIN_H

#include <hwloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A domain is a part of a host whose processors share memory that is nearer to them than to others:
 * a last-level cache or a NUMA node, whichever the host has more of. Its number, the same in all
 * processes of the host, is that of its first processor. */

enum { COHORT__NO_DOMAIN = UINT32_MAX };

/* The domain that has more than half of the processors in MASK, of BYTES bytes. COHORT__NO_DOMAIN:
 * none has, or nobody knows. Reads files, for about 5 ms on a small machine. */
uint32_t cohort__domain_of(const cpu_set_t *mask, size_t bytes);

/* What domains are found in, and if HAS_CORES the cores; with nothing else in it, so that it takes
 * little time to load. The processors that this process may not use are in it as well, so that all
 * processes of the host see the same. NULL: nobody knows. */
hwloc_topology_t cohort__domain_load(bool has_cores);

/* The same for PROCESSORS of a TOPOLOGY that was loaded so. */
uint32_t cohort__domain_in(hwloc_topology_t topology, hwloc_const_cpuset_t processors);

/* The domain of the calling thread's affinity mask. A thread that may run on all processors of the
 * machine has none, which is told at once. */
uint32_t cohort__domain_find(void);

#endif
