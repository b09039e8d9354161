/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_MEMORY_H
#define COHORT_MEMORY_H

#include <stddef.h>

#include "cohort/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory that the other localities of this host can read where it is. Collectives take any memory;
 * a large block from here they need not copy into memory that the localities share, but others read
 * it out of this one: one copy instead of two, from some 32 KiB on. The results are the same.
 *
 * What is different: a call whose input is lent like that ends when the others have read it; so a
 * root waits for them, as it does where localities are on several hosts. As in any call, an input
 * belongs to the call until it ends. Each locality that has a core for itself gains, and where
 * localities take turns on one, inputs are copied as before.
 *
 * It is ordinary memory where there is nobody to share it with: in a job of one locality, where
 * COHORT_NET is ofi, and where the size of address space is limited (ulimit -v). The same functions
 * do there. */

/* BYTES bytes of memory, whatever they hold, to read and to write: whole pages, which begin at a
 * multiple of 64, and from 2 MiB on at one of 2 MiB, where the kernel may use huge pages. It takes
 * no memory before it is first written, from the NUMA node of who does. It costs system calls:
 * allocate once what is used often. The caller owns it until it gives it back, which is to be done
 * before the runtime ends: what is left then is gone.
 *
 * Any thread, also outside of tasks. Does not suspend.
 *
 * COHORT_ERR_BAD_PARAMETER: RET_MEMORY is NULL, BYTES is 0. COHORT_ERR_STATE: the runtime is not
 * up, or this is a child that was forked while it was. COHORT_ERR_NO_MEMORY: also if it would be
 * more than COHORT_MEMORY_MIB says in all; by default the localities of a host may have half of its
 * memory together, in equal parts. *RET_MEMORY is untouched on failure. */
COHORT_API cohort_status cohort_memory_alloc(void **ret_memory, size_t bytes) COHORT_MUST_USE;

/* Gives MEMORY back, which cohort_memory_alloc has returned; the system gets its pages. No call may
 * be using it. NULL is fine. An address within the memory of these functions at which none begins,
 * as of what was given back before, ends the program, with a line that says so. A child that was
 * forked shares such memory with its parent, and gives nothing back.
 *
 * Any thread. Does not suspend. */
COHORT_API void cohort_memory_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
