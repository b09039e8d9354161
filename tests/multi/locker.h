/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_MULTI_LOCKER_H
#define COHORT_TESTS_MULTI_LOCKER_H

#include <pthread.h>

/* A library of somebody else's, with a lock of its own. */
__attribute__((visibility("default"))) pthread_mutex_t *locker_lock(void);
__attribute__((visibility("default"))) void locker_unlock(void);

#endif
