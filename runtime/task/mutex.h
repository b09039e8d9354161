/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_MUTEX_H
#define COHORT_RUNTIME_TASK_MUTEX_H

#include "cohort/sync.h"

/* What the condition needs of the mutex. */

/* Whether the caller holds MUTEX; if not, COHORT_ERR_STATE, with FUNCTION in the message. */
cohort_status cohort__mutex_check_held(const cohort_mutex *mutex, const char *function);

/* Locks MUTEX, whatever happens, for a caller that does not hold it. Only where it may wait. */
void cohort__mutex_lock_always(cohort_mutex *mutex, const char *function, const void *caller);

/* Unlocks MUTEX, which the caller holds. */
void cohort__mutex_unlock_held(cohort_mutex *mutex);

#endif
