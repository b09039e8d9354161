/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_REMOTE_MEMORY_H
#define COHORT_RUNTIME_REMOTE_MEMORY_H

#include "cohort/memory.h"

struct cohort__process;

/* This locality can answer those that ask for its memory. Before messages flow; repeated calls are
 * harmless. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__remote_memory_register(void);

/* The public functions, for a process that is not the current one. PROCESS has remote tasks. */
cohort_future *cohort__memory_get_from(struct cohort__process *process,
                                       const cohort_memory_handle *handle, size_t offset, void *to,
                                       size_t bytes);
cohort_future *cohort__memory_put_from(struct cohort__process *process,
                                       const cohort_memory_handle *handle, size_t offset,
                                       const void *from, size_t bytes);
cohort_future *cohort__memory_add_from(struct cohort__process *process,
                                       const cohort_memory_handle *handle, size_t offset,
                                       uint64_t value, uint64_t *ret_before);

#endif
