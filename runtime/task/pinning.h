/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_PINNING_H
#define COHORT_RUNTIME_TASK_PINNING_H

#include "cohort/status.h"

/* The cores that this process may use. */
struct cohort__pinning;

/* COHORT_ERR_SYSTEM: hwloc knows nothing about this machine. */
cohort_status cohort__pinning_create(struct cohort__pinning **ret_pinning);

/* NULL is fine. */
void cohort__pinning_destroy(struct cohort__pinning *pinning);

/* Binds the calling thread to core INDEX modulo the number of cores. Several threads may call it at
 * the same time. */
cohort_status cohort__pinning_apply(struct cohort__pinning *pinning, unsigned index);

unsigned cohort__pinning_num_cores(const struct cohort__pinning *pinning);

#endif
