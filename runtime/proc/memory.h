/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_MEMORY_H
#define COHORT_RUNTIME_PROC_MEMORY_H

#include "cohort/memory.h"
#include "runtime/proc/blocks.h"
#include "runtime/proc/process.h"

/* As the public functions, in PROCESS. */
cohort_status cohort__memory_alloc_for(struct cohort__process *process, void **ret_memory,
                                       size_t bytes);
void cohort__memory_free_for(struct cohort__process *process, void *memory);
cohort_status cohort__memory_share_for(struct cohort__process *process,
                                       cohort_memory_handle *ret_handle, const void *memory,
                                       size_t bytes);

/* Reads *RET_NAME out of HANDLE. False: it is none of PROCESS's job. */
bool cohort__memory_name(const struct cohort__process *process, const cohort_memory_handle *handle,
                         struct cohort__block_name *ret_name);

#endif
