/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_MEMORY_H
#define COHORT_RUNTIME_PROC_MEMORY_H

#include "cohort/memory.h"
#include "runtime/proc/process.h"

/* As the public functions, in PROCESS. */
cohort_status cohort__memory_alloc_for(struct cohort__process *process, void **ret_memory,
                                       size_t bytes);
void cohort__memory_free_for(struct cohort__process *process, void *memory);

#endif
