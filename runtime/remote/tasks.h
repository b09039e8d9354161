/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_REMOTE_TASKS_H
#define COHORT_RUNTIME_REMOTE_TASKS_H

#include "cohort/remote.h"

struct cohort__process;

/* Gives PROCESS remote tasks: its calls, and those that it gets. They end with the process. Before
 * messages flow. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__remote_tasks_create(struct cohort__process *process);

/* The public functions, for a process that is not the current one. PROCESS has remote tasks. */
cohort_future *cohort__async_at_from(struct cohort__process *process, uint32_t locality,
                                     const char *name, const cohort_object *in,
                                     cohort_object *ret_out);
cohort_status cohort__scope_async_at_from(struct cohort__process *process, cohort_scope *scope,
                                          uint32_t locality, const char *name,
                                          const cohort_object *in);
cohort_future *cohort__async_everywhere_from(struct cohort__process *process, const char *name,
                                             const cohort_object *in, cohort_object *ret_out);

#endif
